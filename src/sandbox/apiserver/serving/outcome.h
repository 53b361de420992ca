// Outcome: what serving a request came to, before a client or a socket gives it its final form.
#pragma once

#include <memory>

#include "compute_domain/http/message.h"
#include "sandbox/apiserver/serving/live_stream.h"

namespace cdom::sandbox::server {

struct Outcome {
  http::Response response;  // its body counts only when there is no stream
  std::unique_ptr<LiveStream> stream = nullptr;
  // What a fault does to the answer on its way.
  bool is_broken = false;  // the connection breaks instead
  base::Duration delay{};
};

}  // namespace cdom::sandbox::server
