#include "bin/health_server.h"

#include "compute_domain/base/text.h"

namespace cdom::bin {

namespace {

// Probes and a few scrapers; any pod of the cluster may connect.
constexpr std::size_t kSessions = 64;
constexpr std::chrono::seconds kPatience{10};

http::Response text(int status, std::string body) {
  return {.status = status,
          .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
          .body = std::move(body)};
}

}  // namespace

std::string mistake_in(const HealthFlags& flags) {
  const std::string& path = flags.metrics_path;
  if (path.empty() || (path.starts_with('/') && path != "/healthz" && path != "/readyz")) return "";
  return base::cat("--metrics-path: \"", path, "\" is no path of its own, such as /metrics");
}

base::Result<std::unique_ptr<http::Server>> serve_health(const HealthFlags& flags,
                                                         const base::Registry& metrics,
                                                         const base::Pulses& pulses,
                                                         std::function<std::string()> not_ready) {
  http::ServerConfig config;
  config.listen = flags.listen;
  config.session_limit = kSessions;
  config.body_limit = 0;  // nothing here is sent any
  config.header_timeout = config.idle_timeout = kPatience;
  return http::make_server(
      std::move(config),
      [&metrics, &pulses, metrics_path = flags.metrics_path, not_ready = std::move(not_ready)](
          const http::Request& request, const http::Peer&) -> http::Reply {
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
        if (!metrics_path.empty() && path == metrics_path) {
          http::Response response = text(200, metrics.render());
          response.headers["Content-Type"] = "text/plain; version=0.0.4; charset=utf-8";
          return response;
        }
        return text(404, base::cat("try /healthz, /readyz or ", metrics_path, "\n"));
      });
}

}  // namespace cdom::bin
