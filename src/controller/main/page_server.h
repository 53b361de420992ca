// Page server: /debug/page of the controller, the page of `kubectl compute-domain topology --html`
// as the cluster is now; /debug/page/NAMESPACE/NAME is that of one ComputeDomain.
//
// A view is read from the API server on request and shown for five seconds, as is the reason why it
// cannot be read: however many people look, the API server is listed once in that time. At most 16
// requests wait. Without authentication a request has to name a loopback host: otherwise a web site
// that a user has open beside `kubectl port-forward` could make its own name one of this machine's,
// and read.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "cli/health/health_flags.h"
#include "cli/health/metrics_readers.h"
#include "cli/health/reader_guard.h"
#include "compute_domain/base/clock.h"
#include "compute_domain/base/result.h"
#include "compute_domain/http/server.h"
#include "compute_domain/plugin/cluster_view.h"

namespace cdom::program {

// Makes pages on a thread of its own. Thread-safe.
class PageMaker {
 public:
  static constexpr std::size_t kMostWaiting = 16;
  static constexpr base::Duration kFresh = std::chrono::seconds(5);

  using Read = std::function<base::Result<plugin::ClusterView>()>;
  using Answer = cli::ReaderGuard::Answer;

  // `read` is called on the thread; `source` is whose view it is, for people.
  PageMaker(Read read, std::string source, const base::Clock& clock);
  ~PageMaker();  // waits for the page that is being made; the others get no answer

  // The page of all, or of `domain`; 502 with the reason when the cluster cannot be read, 503 when
  // too many wait.
  void ask(const std::optional<api::ObjectName>& domain, const Answer& answer);

 private:
  struct Question {
    std::optional<api::ObjectName> domain;
    Answer answer;
  };
  void work(const std::stop_token& stop);
  http::Response response_to(const Question& question);

  const Read read_;
  const std::string source_;
  const base::Clock& clock_;
  // For the thread alone: the last view, or why there is none.
  std::optional<base::Result<plugin::ClusterView>> view_;
  base::Duration read_at_{};

  std::mutex mutex_;
  std::condition_variable_any arrived_;
  std::vector<Question> questions_;
  std::jthread thread_;
};

inline constexpr char kPagePath[] = "/debug/page";

// `pages` must outlive the server; without `readers` everybody at a loopback address may look.
// Invalid: an address or a certificate that cannot be used, with its flag.
base::Result<std::unique_ptr<http::Server>> serve_page(
    const cli::HealthFlags& flags, const std::string& listen, PageMaker& pages,
    std::unique_ptr<cli::MetricsReaders> readers);

}  // namespace cdom::program
