// LeaderOnly: an http::Client that lets writes through only while this process leads.
//
// Reads always pass, so that a process that waits for its turn has warm caches. A write that comes
// after leadership has ended gets Cancelled and never leaves the process. One that had left before
// may still arrive later: that is harmless as long as every write has a precondition. Thread-safe.
#pragma once

#include <functional>

#include "compute_domain/http/client.h"

namespace cdom::kube {

class LeaderOnly : public http::Client {
 public:
  // Both must outlive this.
  LeaderOnly(http::Client& inner, std::function<bool()> is_leading);

  base::Result<http::Response> send(const http::Request& request) override;
  base::Result<http::Opened> open(const http::Request& request) override;
  void shut_down() override { inner_.shut_down(); }

 private:
  http::Client& inner_;
  const std::function<bool()> is_leading_;
};

}  // namespace cdom::kube
