// GET pods/<name>/log: what a container printed, once or followed. Called with the state's mutex
// held; they throw StatusError.
#pragma once

#include <memory>

#include "sandbox/apiserver/serving/call.h"
#include "sandbox/apiserver/serving/live_stream.h"

namespace cdom::sandbox::server {

http::Response read_log(Call& call);
// Ends when the pod has ended or is gone.
std::unique_ptr<LiveStream> follow_log(const std::shared_ptr<ApiState>& state, Call& call);

}  // namespace cdom::sandbox::server
