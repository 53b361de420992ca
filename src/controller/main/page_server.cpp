#include "controller/main/page_server.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "cli/health/health_certificate.h"
#include "compute_domain/base/text.h"
#include "compute_domain/plugin/page.h"

namespace cdom::program {

namespace {

using base::cat;
using base::Result;

// Looks at the Host field without its port.
bool names_loopback(const http::Headers& headers) {
  const auto field = headers.find("Host");
  if (field == headers.end()) return false;
  std::string_view host = base::trim(field->second);
  // "[::1]:8090"; a port has no bracket.
  if (const auto colon = host.rfind(':');
      colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos) {
    host = host.substr(0, colon);
  }
  return host == "localhost" || host == "[::1]" ||
         (host.starts_with("127.") && base::is_ip_address(host));
}

http::Response page_response(std::string page) {
  return {.status = 200,
          .headers = {{"Content-Type", "text/html; charset=utf-8"},
                      {"Cache-Control", "no-store"},
                      {"X-Content-Type-Options", "nosniff"},
                      {"X-Frame-Options", "DENY"}},
          .body = std::move(page)};
}

// Which page a path asks for.
struct Wanted {
  bool is_page = false;
  std::optional<api::ObjectName> domain;
};
Wanted wanted_by(std::string_view path) {
  if (!path.starts_with(kPagePath)) return {};
  path.remove_prefix(std::string_view(kPagePath).size());
  if (path.empty() || path == "/") return {true, std::nullopt};
  const std::vector<std::string> parts = base::split(path.substr(1), '/');
  if (path.front() != '/' || parts.size() != 2) return {};
  return {true, api::ObjectName{http::percent_decoded(parts[0], false),
                                http::percent_decoded(parts[1], false)}};
}

}  // namespace

PageMaker::PageMaker(Read read, std::string source, const base::Clock& clock)
    : read_(std::move(read)),
      source_(std::move(source)),
      clock_(clock),
      thread_([this](const std::stop_token& stop) { work(stop); }) {}

PageMaker::~PageMaker() {
  thread_.request_stop();
  thread_.join();
}

void PageMaker::ask(const std::optional<api::ObjectName>& domain, const Answer& answer) {
  {
    const std::lock_guard lock(mutex_);
    if (questions_.size() < kMostWaiting) {
      questions_.push_back({domain, answer});
      arrived_.notify_one();
      return;
    }
  }
  answer(http::plain_text(503, "too many wait for a page\n"));
}

void PageMaker::work(const std::stop_token& stop) {
  while (true) {
    Question next;
    {
      std::unique_lock lock(mutex_);
      const auto has_one = [this] { return !questions_.empty(); };
      // Nobody may come for hours, and the view of a large cluster is large.
      if (view_ && !arrived_.wait_for(lock, stop, kFresh, has_one)) view_.reset();
      if (!arrived_.wait(lock, stop, has_one)) return;
      next = std::move(questions_.front());
      questions_.erase(questions_.begin());
    }
    if (stop.stop_requested()) return;
    next.answer(response_to(next));
  }
}

http::Response PageMaker::response_to(const Question& question) {
  if (!view_ || clock_.elapsed() - read_at_ >= kFresh) {
    view_.reset();
    view_ = read_();
    read_at_ = clock_.elapsed();
  }
  if (!*view_) {
    return http::plain_text(502, cat("the cluster cannot be read: ", view_->error().message, "\n"));
  }
  const plugin::ClusterView& view = **view_;
  if (!question.domain) return page_response(plugin::html_of(view, source_));
  auto page = plugin::html_of(view, *question.domain, source_);
  return page ? page_response(*std::move(page))
              : http::plain_text(404, page.error().message + "\n");
}

Result<std::unique_ptr<http::Server>> serve_page(const cli::HealthFlags& flags,
                                                 const std::string& listen, PageMaker& pages,
                                                 std::unique_ptr<cli::MetricsReaders> readers) {
  const bool asks = readers != nullptr;
  const auto guard = std::make_shared<cli::ReaderGuard>(std::move(readers), kPagePath);
  return cli::serve_with_certificate(
      flags, "debug-listen", listen,
      [guard, asks, &pages](const http::Request& request, const http::Peer&) -> http::Reply {
        if (request.method != "GET" && request.method != "HEAD") {
          return http::plain_text(405, "only GET\n");
        }
        if (!asks && !names_loopback(request.headers)) {
          return http::plain_text(403, "ask by a loopback address, as http://127.0.0.1:8090\n");
        }
        const Wanted wanted = wanted_by(request.target.substr(0, request.target.find('?')));
        if (!wanted.is_page) {
          return http::plain_text(404,
                                  cat("try ", kPagePath, " or ", kPagePath, "/NAMESPACE/NAME\n"));
        }
        return guard->reply(request, [&pages, wanted](const PageMaker::Answer& answer) {
          pages.ask(wanted.domain, answer);
        });
      });
}

}  // namespace cdom::program
