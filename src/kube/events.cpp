#include "compute_domain/kube/events.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "compute_domain/api/packing.h"
#include "compute_domain/base/log.h"
#include "compute_domain/base/random.h"
#include "compute_domain/base/recent_map.h"
#include "compute_domain/base/shared_bytes.h"
#include "compute_domain/base/text.h"
#include "kube/event_correlator.h"
#include "kube/fair_queue.h"

namespace cdom::kube {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kQueueLimit = 1000;
constexpr std::size_t kMessageLimit = 1024;  // bytes, by Kubernetes' validation of Events
// The same as client-go's recorder: twelve attempts, ten seconds apart.
constexpr int kAttempts = 12;
constexpr base::Duration kRetryAfter = 10s;
constexpr base::Duration kLongestNap = 30s;

// "<object>.<16 hex digits>", still a DNS subdomain when the object's name is as long as one.
std::string event_name(const std::string& object, std::uint64_t ending) {
  std::string prefix = object.substr(0, 253 - 17);
  while (!prefix.empty() && (prefix.back() == '.' || prefix.back() == '-')) prefix.pop_back();
  return base::cat(prefix, ".", base::hex64(ending));
}

}  // namespace

// The recorder behind its header: series of equal events, and which of them have news to send.
class EventRecorder::Queue {
 public:
  Queue(const Client& client, const base::Clock& clock, EventSource source, base::Registry* metrics)
      : client_(client),
        clock_(clock),
        source_(std::move(source)),
        metrics_(metrics),
        random_(source_.seed),
        correlator_(source_.remembered),
        series_(source_.remembered) {}

  bool record(EventKey occurrence);
  bool step();
  [[nodiscard]] std::optional<base::Duration> next_due() const;
  void run(const std::stop_token& token, const std::function<void()>& before_step);

 private:
  // Thousands are remembered.
  struct Series {
    base::SharedBytes packed;
    bool is_created = false;  // on the server
    bool is_queued = false;

    [[nodiscard]] api::Event event() const { return api::unpack<api::Event>(packed.view()); }
  };
  enum class Outcome { Sent, Again, Later, Dropped };

  [[nodiscard]] std::shared_ptr<Series> new_series(const EventKey& key);
  void enqueue(const std::string& ns, const std::shared_ptr<Series>& series);
  [[nodiscard]] Outcome send(Series& series);
  [[nodiscard]] Outcome outcome_of(const base::Error& error, const api::Event& event);
  void settle(Series& series, const Series& sent, Outcome outcome);
  void count(const char* outcome) const;

  const Client& client_;
  const base::Clock& clock_;
  const EventSource source_;
  base::Registry* const metrics_;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  base::Random random_;
  EventCorrelator correlator_;
  base::RecentMap<std::string, std::shared_ptr<Series>> series_;  // by text_of()
  FairQueue<std::shared_ptr<Series>> queue_{kQueueLimit};         // those with news, by namespace
  base::Duration not_before_{};
  std::optional<base::Duration> retry_after_;  // of the attempt that failed last
  int attempts_ = 0;                           // at the one whose turn it is
};

bool EventRecorder::Queue::record(EventKey occurrence) {
  const std::scoped_lock lock(mutex_);
  const base::Duration now = clock_.elapsed();
  const std::string message = occurrence.message;
  const EventKey key = correlator_.combined(std::move(occurrence), now);
  const std::string text = text_of(key);
  const std::shared_ptr<Series>* known = series_.find(text);
  if (known == nullptr || !(*known)->is_queued) {
    if (!queue_.has_place(key.involved.ns) || !correlator_.take_write(key.involved, now)) {
      count("Dropped");
      return false;
    }
    if (known == nullptr) known = &series_.at_or(text, new_series(key));
    enqueue(key.involved.ns, *known);
  }
  api::Event event = (*known)->event();
  ++event.count;
  event.last = clock_.now();
  event.message =
      base::shortened(EventCorrelator::is_combined(key) ? base::cat(key.message, message) : message,
                      kMessageLimit, "...");
  (*known)->packed = api::pack(event);
  return true;
}

void EventRecorder::Queue::enqueue(const std::string& ns, const std::shared_ptr<Series>& series) {
  series->is_queued = true;
  if (const auto lost = queue_.push(ns, series)) {
    (*lost)->is_queued = false;
    count("Dropped");
  }
  changed_.notify_one();
}

std::shared_ptr<EventRecorder::Queue::Series> EventRecorder::Queue::new_series(
    const EventKey& key) {
  api::Event event;
  event.meta.ns = key.involved.ns.empty() ? "default" : key.involved.ns;
  event.meta.name = event_name(key.involved.name, random_.next());
  event.involved = key.involved;
  event.type = key.type;
  event.reason = key.reason;
  event.component = source_.component;
  event.instance = source_.instance;
  event.host = source_.host;
  event.count = 0;
  event.first = clock_.now();
  return std::make_shared<Series>(Series{api::pack(event)});
}

bool EventRecorder::Queue::step() {
  std::shared_ptr<Series> series;
  Series copy;
  {
    const std::scoped_lock lock(mutex_);
    if (queue_.is_empty() || clock_.elapsed() < not_before_) return false;
    series = queue_.front();
    copy = *series;
  }
  const Outcome outcome = send(copy);
  const std::scoped_lock lock(mutex_);
  settle(*series, copy, outcome);
  return true;
}

EventRecorder::Queue::Outcome EventRecorder::Queue::send(Series& series) {
  const api::Event event = series.event();
  if (!series.is_created) {
    const auto created = client_.create<api::Event>(event);
    // Nobody else makes this name: AlreadyExists is our own create, whose answer was lost.
    series.is_created = created || created.error().kind == base::ErrorKind::AlreadyExists;
    return series.is_created ? Outcome::Sent : outcome_of(created.error(), event);
  }
  const auto patched = client_.patch<api::Event>(
      api::name_of(event.meta), "", api::event_count_patch(event.count, event.last, event.message));
  if (patched) return Outcome::Sent;
  if (patched.error().kind == base::ErrorKind::NotFound) {
    // Events live for an hour on the server.
    series.is_created = false;
    return Outcome::Again;
  }
  return outcome_of(patched.error(), event);
}

EventRecorder::Queue::Outcome EventRecorder::Queue::outcome_of(const base::Error& error,
                                                               const api::Event& event) {
  if (error.kind == base::ErrorKind::Unavailable && attempts_ + 1 < kAttempts) {
    retry_after_ = error.retry_after;
    return Outcome::Later;
  }
  base::log_warning("event not recorded",
                    {{"object", base::cat(event.involved.kind, " ", event.involved.name)},
                     {"reason", event.reason},
                     {"message", event.message},
                     {"error", base::to_string(error)}});
  return Outcome::Dropped;
}

void EventRecorder::Queue::settle(Series& series, const Series& sent, Outcome outcome) {
  if (outcome == Outcome::Later) {
    ++attempts_;
    not_before_ = clock_.elapsed() + std::max(kRetryAfter, retry_after_.value_or(0s));
    return count("Retried");
  }
  series.is_created = sent.is_created;
  if (outcome == Outcome::Again) return;
  attempts_ = 0;
  count(outcome == Outcome::Sent ? "Sent" : "Failed");
  // Occurrences that came while it was sent have not been reported.
  series.is_queued = series.event().count != sent.event().count;
  queue_.pop(series.is_queued);
}

std::optional<base::Duration> EventRecorder::Queue::next_due() const {
  const std::scoped_lock lock(mutex_);
  if (queue_.is_empty()) return std::nullopt;
  return std::max(not_before_, clock_.elapsed());
}

void EventRecorder::Queue::run(const std::stop_token& token,
                               const std::function<void()>& before_step) {
  while (!token.stop_requested()) {
    if (before_step) before_step();
    if (step()) continue;
    std::unique_lock lock(mutex_);
    if (queue_.is_empty()) {
      changed_.wait_for(lock, token, kLongestNap, [this] { return !queue_.is_empty(); });
    } else {
      changed_.wait_for(lock, token, not_before_ - clock_.elapsed(), [] { return false; });
    }
  }
}

void EventRecorder::Queue::count(const char* outcome) const {
  if (metrics_ == nullptr) return;
  metrics_
      ->counter("compute_domain_events_total", "Events by what became of them.",
                {{"outcome", outcome}})
      .add();
}

EventRecorder::EventRecorder(const Client& client, const base::Clock& clock, EventSource source,
                             base::Registry* metrics)
    : queue_(std::make_unique<Queue>(client, clock, std::move(source), metrics)) {}
EventRecorder::~EventRecorder() = default;

bool EventRecorder::record(const api::ObjectReference& involved, std::string_view type,
                           std::string_view reason, std::string_view message) {
  return queue_->record({involved, std::string(type), std::string(reason), std::string(message)});
}
bool EventRecorder::step() { return queue_->step(); }
std::optional<base::Duration> EventRecorder::next_due() const { return queue_->next_due(); }
void EventRecorder::run(const std::stop_token& token, const std::function<void()>& before_step) {
  queue_->run(token, before_step);
}

}  // namespace cdom::kube
