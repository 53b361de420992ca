// Get, list and watch. Called with the state's mutex held; they throw StatusError.
#pragma once

#include <memory>

#include "sandbox/apiserver/serving/call.h"
#include "sandbox/apiserver/serving/live_stream.h"

namespace cdom::sandbox::server {

http::Response get_object(Call& call);
http::Response list_objects(Call& call);
std::unique_ptr<LiveStream> watch_objects(const std::shared_ptr<ApiState>& state, Call& call);

}  // namespace cdom::sandbox::server
