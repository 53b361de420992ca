#include "compute_domain/kube/leader_only.h"

#include <utility>

namespace cdom::kube {

LeaderOnly::LeaderOnly(http::Client& inner, std::function<bool()> is_leading)
    : inner_(inner), is_leading_(std::move(is_leading)) {}

base::Result<http::Response> LeaderOnly::send(const http::Request& request) {
  const bool writes = request.method != "GET" && request.method != "HEAD";
  if (writes && !is_leading_()) {
    return base::Error{base::ErrorKind::Cancelled,
                       "this process does not lead: nothing is written"};
  }
  return inner_.send(request);
}

base::Result<http::Opened> LeaderOnly::open(const http::Request& request) {
  return inner_.open(request);
}

}  // namespace cdom::kube
