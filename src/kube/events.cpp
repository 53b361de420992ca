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
  // Of a namespace, to send its oldest one.
  struct Turn {
    std::string ns;
    std::shared_ptr<Series> series;
    Series sent;                       // as it was when the turn came
    int failures = 0;                  // of the attempts before this one
    std::optional<base::Error> error;  // of this one, when there is to be another
  };

  [[nodiscard]] std::shared_ptr<Series> new_series(const EventKey& key);
  void enqueue(const std::string& ns, const std::shared_ptr<Series>& series);
  [[nodiscard]] std::optional<Turn> next_turn() const;
  [[nodiscard]] Outcome send(Turn& turn) const;
  static Outcome outcome_of(const base::Error& error, const api::Event& event, Turn& turn);
  void settle(const Turn& turn, Outcome outcome);
  [[nodiscard]] std::optional<base::Duration> next_due_locked() const;
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
  base::Duration not_before_{};  // of all, while the server cannot be reached
  std::string unanswered_;       // the namespace of the last attempt, when nothing answered it
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
  std::optional<Turn> turn = next_turn();
  if (!turn) return false;
  const Outcome outcome = send(*turn);
  const std::scoped_lock lock(mutex_);
  settle(*turn, outcome);
  return true;
}

std::optional<EventRecorder::Queue::Turn> EventRecorder::Queue::next_turn() const {
  const std::scoped_lock lock(mutex_);
  const base::Duration now = clock_.elapsed();
  if (now < not_before_) return std::nullopt;
  const std::optional<std::string> ns = queue_.due(now);
  if (!ns) return std::nullopt;
  const std::shared_ptr<Series>& series = queue_.front(*ns);
  return Turn{.ns = *ns,
              .series = series,
              .sent = *series,
              .failures = queue_.times_put_off(*ns),
              .error = {}};
}

EventRecorder::Queue::Outcome EventRecorder::Queue::send(Turn& turn) const {
  Series& series = turn.sent;
  const api::Event event = series.event();
  if (!series.is_created) {
    const auto created = client_.create<api::Event>(event);
    // Nobody else makes this name: AlreadyExists is our own create, whose answer was lost.
    series.is_created = created || created.error().kind == base::ErrorKind::AlreadyExists;
    return series.is_created ? Outcome::Sent : outcome_of(created.error(), event, turn);
  }
  const auto patched = client_.patch<api::Event>(
      api::name_of(event.meta), "", api::event_count_patch(event.count, event.last, event.message));
  if (patched) return Outcome::Sent;
  if (patched.error().kind == base::ErrorKind::NotFound) {
    // Events live for an hour on the server.
    series.is_created = false;
    return Outcome::Again;
  }
  return outcome_of(patched.error(), event, turn);
}

EventRecorder::Queue::Outcome EventRecorder::Queue::outcome_of(const base::Error& error,
                                                               const api::Event& event,
                                                               Turn& turn) {
  if (error.kind == base::ErrorKind::Unavailable && turn.failures + 1 < kAttempts) {
    turn.error = error;
    return Outcome::Later;
  }
  base::log_warning("event not recorded",
                    {{"object", base::cat(event.involved.kind, " ", event.involved.name)},
                     {"reason", event.reason},
                     {"message", event.message},
                     {"error", base::to_string(error)}});
  return Outcome::Dropped;
}

void EventRecorder::Queue::settle(const Turn& turn, Outcome outcome) {
  if (outcome == Outcome::Later) {
    const base::Duration again =
        clock_.elapsed() + std::max(kRetryAfter, turn.error->retry_after.value_or(0s));
    queue_.put_off(turn.ns, again);
    // What the server answers is about this namespace: a limit of its Events, or a webhook. That
    // nothing answers may be a webhook too; of two namespaces in a row it is about all.
    if (!turn.error->is_answer && !unanswered_.empty() && unanswered_ != turn.ns) {
      not_before_ = again;
    }
    unanswered_ = turn.error->is_answer ? "" : turn.ns;
    return count("Retried");
  }
  unanswered_.clear();
  Series& series = *turn.series;
  series.is_created = turn.sent.is_created;
  if (outcome == Outcome::Again) return;
  count(outcome == Outcome::Sent ? "Sent" : "Failed");
  // Occurrences that came while it was sent have not been reported.
  series.is_queued = series.event().count != turn.sent.event().count;
  queue_.pop(turn.ns, series.is_queued);
}

std::optional<base::Duration> EventRecorder::Queue::next_due() const {
  const std::scoped_lock lock(mutex_);
  return next_due_locked();
}

std::optional<base::Duration> EventRecorder::Queue::next_due_locked() const {
  const std::optional<base::Duration> first = queue_.next_due();
  if (!first) return std::nullopt;
  return std::max({*first, not_before_, clock_.elapsed()});
}

void EventRecorder::Queue::run(const std::stop_token& token,
                               const std::function<void()>& before_step) {
  while (!token.stop_requested()) {
    if (before_step) before_step();
    if (step()) continue;
    std::unique_lock lock(mutex_);
    // One of another namespace may come while those of one wait.
    const auto is_due = [this] {
      const std::optional<base::Duration> due = next_due_locked();
      return due && *due <= clock_.elapsed();
    };
    const base::Duration now = clock_.elapsed();
    const base::Duration nap = next_due_locked().value_or(now + kLongestNap) - now;
    changed_.wait_for(lock, token, std::min(nap, kLongestNap), is_due);
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
