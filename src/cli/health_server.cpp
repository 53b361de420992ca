#include "cli/health_server.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/health_certificate.h"
#include "cli/metrics_access.h"
#include "cli/process_metrics.h"
#include "compute_domain/base/text.h"

namespace cdom::cli {

namespace {

using base::cat;

// Probes and a few scrapers; any pod of the cluster may connect.
constexpr std::size_t kSessions = 64;
constexpr std::chrono::seconds kPatience{10};
// Of a bearer token (RFC 6750) beside letters and digits.
constexpr std::string_view kTokenPunctuation = "-._~+/=";

http::Response text(int status, std::string body) {
  return {.status = status,
          .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
          .body = std::move(body)};
}

http::Response metrics_text(std::string metrics) {
  http::Response response = text(200, std::move(metrics));
  response.headers["Content-Type"] = "text/plain; version=0.0.4; charset=utf-8";
  return response;
}

http::Response unauthorized() {
  http::Response response = text(401, "give a valid bearer token\n");
  response.headers["WWW-Authenticate"] = "Bearer";
  return response;
}

bool is_token_character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         kTokenPunctuation.find(c) != std::string_view::npos;
}

// "" when there is none, or what cannot be one.
std::string bearer_token(const http::Headers& headers) {
  constexpr std::string_view kScheme = "bearer ";
  const auto field = headers.find("Authorization");
  if (field == headers.end()) return "";
  const std::string_view value = field->second;
  if (base::to_lower(value.substr(0, kScheme.size())) != kScheme) return "";
  const std::string_view token = base::trim(value.substr(kScheme.size()));
  return std::ranges::all_of(token, is_token_character) ? std::string(token) : "";
}

class HealthRoute {
 public:
  HealthRoute(const HealthFlags& flags, HealthParts parts)
      : path_(flags.metrics_path), parts_(std::move(parts)), process_(parts_.clock) {
    if (flags.authentication) access_.emplace(parts_.api_server, parts_.clock, path_);
  }

  http::Reply reply_to(const http::Request& request) {
    const std::string path = request.target.substr(0, request.target.find('?'));
    if (request.method != "GET" && request.method != "HEAD") return text(405, "only GET\n");
    if (path == "/healthz") return verdict(parts_.pulses.stuck());
    if (path == "/readyz") return verdict(parts_.not_ready());
    if (path_.empty() || path != path_) {
      return text(404, cat("try /healthz, /readyz or ", path_, "\n"));
    }
    if (!access_) return metrics();
    const std::string token = bearer_token(request.headers);
    if (token.empty()) return unauthorized();
    return http::LateReply{[this, token](const std::function<void(http::Response)>& answer) {
      access_->ask(token, [this, answer](MetricsAccess::Answer is) { answer(response_for(is)); });
    }};
  }

 private:
  static http::Response verdict(const std::string& trouble) {
    return trouble.empty() ? text(200, "ok\n") : text(503, trouble + "\n");
  }

  http::Response metrics() {
    return metrics_text(parts_.metrics.render() + parts_.more_metrics() + process_.render());
  }

  http::Response response_for(MetricsAccess::Answer answer) {
    switch (answer) {
      case MetricsAccess::Answer::Allowed:
        return metrics();
      case MetricsAccess::Answer::UnknownToken:
        return unauthorized();
      case MetricsAccess::Answer::NotAllowed:
        return text(403, cat("the token's user may not get ", path_, "\n"));
      case MetricsAccess::Answer::Busy:
        return text(503, "too many requests wait for the API server\n");
      case MetricsAccess::Answer::NotKnown:
        break;
    }
    return text(500, "the API server could not be asked; the log says why\n");
  }

  const std::string path_;
  const HealthParts parts_;
  ProcessMetrics process_;
  std::optional<MetricsAccess> access_;
};

// On the server's own thread, until it ends.
void look_again(http::Server& server, const std::shared_ptr<HealthCertificate>& certificate,
                base::Duration pause) {
  server.run_after(pause, [&server, certificate, pause] {
    certificate->look(server);
    look_again(server, certificate, pause);
  });
}

}  // namespace

base::Result<std::unique_ptr<http::Server>> serve_health(const HealthFlags& flags,
                                                         HealthParts parts) {
  http::ServerConfig config;
  config.listen = flags.listen;
  config.session_limit = kSessions;
  config.body_limit = 0;  // nothing here is sent any
  config.header_timeout = config.idle_timeout = kPatience;
  std::shared_ptr<HealthCertificate> certificate;
  if (!flags.tls_cert.empty()) {
    auto read = HealthCertificate::read(flags);
    if (!read) return read.error();
    certificate = std::make_shared<HealthCertificate>(*std::move(read));
    config.certificate_pem = certificate->pair().certificate_pem;
    config.key_pem = certificate->pair().key_pem;
  }
  const base::Duration between_looks = parts.between_looks;
  auto server = http::make_server(
      std::move(config),
      [route = std::make_shared<HealthRoute>(flags, std::move(parts))](
          const http::Request& request, const http::Peer&) { return route->reply_to(request); });
  if (!server) return base::invalid(cat("--metrics-listen: ", server.error().message));
  if (certificate) look_again(**server, certificate, between_looks);
  return server;
}

}  // namespace cdom::cli
