// answer_path(): the paths of an API server that are no resources.
#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/apiserver/discovery/discovery.h"
#include "sandbox/apiserver/discovery/openapi.h"
#include "sandbox/apiserver/serving/routes.h"
#include "sandbox/apiserver/serving/status.h"

namespace cdom::sandbox::server {

namespace {

http::Response text(std::string body) {
  return {.status = 200, .headers = {{"Content-Type", "text/plain"}}, .body = std::move(body)};
}

http::Response version() {
  return {.status = 200,
          .headers = {{"Content-Type", "application/json"}},
          .body = nlohmann::json{{"major", "1"},
                                 {"minor", "36"},
                                 {"gitVersion", "v1.36.0-sandbox"},
                                 {"gitCommit", ""},
                                 {"gitTreeState", "clean"},
                                 {"buildDate", "2026-04-22T00:00:00Z"},
                                 {"goVersion", "none"},
                                 {"compiler", "none"},
                                 {"platform", "linux/amd64"}}
                      .dump()};
}

Status no_metrics() {
  return {
      .code = 501,
      .reason = "NotImplemented",
      .message =
          "the sandbox's API server has no metrics; those of a controller or an agent that runs "
          "by itself are at its --metrics-listen"};
}

}  // namespace

http::Response answer_path(ApiState& state, const http::Request& request, const RequestInfo& info) {
  const std::string& path = info.path;
  if (path == "/healthz" || path == "/readyz" || path == "/livez") return text("ok");
  if (path == "/version" || path == "/version/") return version();
  if (path == "/metrics") throw StatusError(no_metrics());
  if (auto found = discovery(state.kinds, request, path)) return *std::move(found);
  if (auto found = openapi(state.kinds, path)) return *std::move(found);
  throw StatusError(no_such_path());
}

}  // namespace cdom::sandbox::server
