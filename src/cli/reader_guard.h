// ReaderGuard: lets only those read who may, where readers are asked who they are.
//
// 401 without a valid token, 403 for a user who may not `get` the path, 500 while the API server
// does not answer, 503 when too many wait. Thread-safe.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cli/metrics_access.h"
#include "compute_domain/base/clock.h"
#include "compute_domain/http/message.h"
#include "compute_domain/http/server.h"
#include "compute_domain/kube/client.h"

namespace cdom::cli {

class ReaderGuard {
 public:
  using Answer = std::function<void(http::Response)>;
  using Produce = std::function<void(const Answer&)>;

  // Both must outlive this. `asks`: without it everybody may read.
  ReaderGuard(const kube::Client& api_server, const base::Clock& clock, std::string path,
              bool asks);

  // `produce` is called once for a reader who may, on this thread or on another one, with where
  // the response goes.
  http::Reply reply(const http::Request& request, Produce produce);

 private:
  [[nodiscard]] http::Response refusal(MetricsAccess::Answer answer) const;

  const std::string path_;
  std::optional<MetricsAccess> access_;
};

}  // namespace cdom::cli
