// Routes: from what a request asks to the function that answers it. Called with the state's mutex
// held; they throw StatusError.
#pragma once

#include <memory>

#include "sandbox/apiserver/serving/call.h"
#include "sandbox/apiserver/serving/live_stream.h"

namespace cdom::sandbox::server {

http::Response answer_resource(Call& call);
// GET with watch=true, and a log with follow=true.
bool is_stream_request(const RequestInfo& info);
std::unique_ptr<LiveStream> open_stream(const std::shared_ptr<ApiState>& state, Call& call);

// Discovery, /version, /openapi, health: everything that is no resource.
http::Response answer_path(ApiState& state, const http::Request& request, const RequestInfo& info);

// The call that `info` describes. Throws StatusError for a path that no resource has and for
// options that do not parse.
Call call_of(ApiState& state, const http::Request& request, const RequestInfo& info,
             const User& user);

}  // namespace cdom::sandbox::server
