#include "cli/health/health_server.h"

#include <utility>

#include "cli/health/health_certificate.h"
#include "cli/health/process_metrics.h"
#include "cli/health/reader_guard.h"
#include "compute_domain/base/text.h"

namespace cdom::cli {

namespace {

using base::cat;

http::Response metrics_text(std::string metrics) {
  http::Response response = http::plain_text(200, std::move(metrics));
  response.headers["Content-Type"] = "text/plain; version=0.0.4; charset=utf-8";
  return response;
}

class HealthRoute {
 public:
  HealthRoute(const HealthFlags& flags, HealthParts parts)
      : path_(flags.metrics_path),
        parts_(std::move(parts)),
        process_(parts_.clock),
        guard_(std::move(parts_.readers), path_) {}

  http::Reply reply_to(const http::Request& request) {
    const std::string path = request.target.substr(0, request.target.find('?'));
    if (request.method != "GET" && request.method != "HEAD")
      return http::plain_text(405, "only GET\n");
    if (path == "/healthz") return verdict(parts_.pulses.stuck());
    if (path == "/readyz") return verdict(parts_.not_ready());
    if (path_.empty() || path != path_) {
      return http::plain_text(404, cat("try /healthz, /readyz or ", path_, "\n"));
    }
    return guard_.reply(request, [this](const ReaderGuard::Answer& answer) { answer(metrics()); });
  }

 private:
  static http::Response verdict(const std::string& trouble) {
    return trouble.empty() ? http::plain_text(200, "ok\n") : http::plain_text(503, trouble + "\n");
  }

  http::Response metrics() {
    return metrics_text(parts_.metrics.render() + parts_.more_metrics() + process_.render());
  }

  const std::string path_;
  HealthParts parts_;
  ProcessMetrics process_;
  ReaderGuard guard_;  // ends first: it answers with the others
};

}  // namespace

base::Result<std::unique_ptr<http::Server>> serve_health(const HealthFlags& flags,
                                                         HealthParts parts) {
  if (flags.authentication && parts.readers == nullptr) {
    return base::invalid("--metrics-authentication: this program asks no API server");
  }
  const base::Duration between_looks = parts.between_looks;
  return serve_with_certificate(
      flags, "metrics-listen", flags.listen,
      [route = std::make_shared<HealthRoute>(flags, std::move(parts))](
          const http::Request& request, const http::Peer&) { return route->reply_to(request); },
      between_looks);
}

}  // namespace cdom::cli
