// ReaderGuard: lets only those read who may, where readers are asked who they are.
//
// 401 without a valid token, 403 for a user who may not `get` the path, 500 while the API server
// does not answer, 503 when too many wait. Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cli/health/metrics_readers.h"
#include "compute_domain/http/message.h"
#include "compute_domain/http/server.h"

namespace cdom::cli {

class ReaderGuard {
 public:
  using Answer = std::function<void(http::Response)>;
  using Produce = std::function<void(const Answer&)>;

  // Without `readers` everybody may read. `path` is for people.
  ReaderGuard(std::unique_ptr<MetricsReaders> readers, std::string path);

  // `produce` is called once for a reader who may, on this thread or on another one, with where
  // the response goes.
  http::Reply reply(const http::Request& request, Produce produce);

 private:
  [[nodiscard]] http::Response refusal(MetricsReaders::Answer answer) const;

  const std::string path_;
  std::unique_ptr<MetricsReaders> readers_;
};

}  // namespace cdom::cli
