#include "bin/health_server.h"

#include "compute_domain/base/text.h"

namespace cdom::bin {

namespace {

http::Response text(int status, std::string body) {
  return {.status = status,
          .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
          .body = std::move(body)};
}

}  // namespace

base::Result<std::unique_ptr<http::Server>> serve_health(const std::string& listen,
                                                         const base::Registry& metrics,
                                                         const base::Pulses& pulses,
                                                         std::function<std::string()> not_ready) {
  http::ServerConfig config;
  config.listen = listen.starts_with(':') ? base::cat("0.0.0.0", listen) : listen;
  return http::make_server(
      std::move(config),
      [&metrics, &pulses, not_ready = std::move(not_ready)](const http::Request& request,
                                                            const http::Peer&) -> http::Reply {
        const std::string path = request.target.substr(0, request.target.find('?'));
        if (request.method != "GET" && request.method != "HEAD") {
          return text(405, "only GET\n");
        }
        if (path == "/healthz") {
          const std::string stuck = pulses.stuck();
          return stuck.empty() ? text(200, "ok\n") : text(503, stuck + "\n");
        }
        if (path == "/readyz") {
          const std::string reason = not_ready();
          return reason.empty() ? text(200, "ok\n") : text(503, reason + "\n");
        }
        if (path == "/metrics") {
          http::Response response = text(200, metrics.render());
          response.headers["Content-Type"] = "text/plain; version=0.0.4; charset=utf-8";
          return response;
        }
        return text(404, "try /healthz, /readyz or /metrics\n");
      });
}

}  // namespace cdom::bin
