#include "compute_domain/kube/watch_loop.h"

#include <algorithm>
#include <utility>

#include "compute_domain/base/log.h"
#include "compute_domain/base/text.h"
#include "compute_domain/kube/store.h"

namespace cdom::kube {

namespace {

using namespace std::chrono_literals;

// client-go's reflector.
constexpr base::Duration kFirstBackoff = 800ms;
constexpr base::Duration kLastBackoff = 30s;
constexpr base::Duration kVeryShortWatch = 1s;
constexpr base::Duration kShortestTimeout = 5min;
// A watch that has been open for so long works.
constexpr base::Duration kSteady = 5s;

// An API server says something in every watch at least once a minute or so, if only a bookmark
// (KEP-956). One whose history was set back takes a watch from a version of its lost future, and is
// silent until it has got there again. What is written before that would be missed for ever. So a
// server that was away, or silent for longer than it should be, is asked for its version before the
// next watch.
constexpr base::Duration kLongSilence = 100s;
constexpr int kSilentWatches = 2;
// Something between that lets no bookmark through is no reason to list all the time.
constexpr int kMostSilentWatches = 64;

// A server answers so that looks whether it has got to that version.
bool is_from_the_future(const base::Error& error) {
  return error.message.find("Too large resource version") != std::string::npos;
}

// To ask again cannot help.
bool is_for_good(const base::Error& error) {
  return error.kind == base::ErrorKind::Forbidden || error.kind == base::ErrorKind::Invalid;
}

// What is not a number is not compared.
bool is_lower(const std::string& version, const std::string& than) {
  const std::uint64_t number = version_number(version);
  return number > 0 && number < version_number(than);
}

}  // namespace

WatchLoop::WatchLoop(WatchSource& source, const base::Clock& clock, std::uint64_t seed,
                     std::string name, base::Registry* metrics)
    : source_(source),
      clock_(clock),
      random_(seed),
      name_(std::move(name)),
      metrics_(metrics),
      silent_before_list_(kSilentWatches) {}

WatchLoop::Step WatchLoop::step(base::Duration wait) {
  if (!wait_for_due(wait)) return has_stopped() ? Step::Stopped : Step::Idle;
  switch (phase_) {
    case Phase::List:
      return list();
    case Phase::Open:
      return open();
    case Phase::Read:
      return read(wait);
  }
  return Step::Idle;
}

std::optional<base::Duration> WatchLoop::next_due() const {
  const std::scoped_lock lock(mutex_);
  if (stopped_ || stream_) return std::nullopt;
  return due_.value_or(clock_.elapsed());
}

void WatchLoop::stop() {
  const std::scoped_lock lock(mutex_);
  stopped_ = true;
  if (stream_) stream_->cancel();
  changed_.notify_all();
}

bool WatchLoop::has_stopped() const {
  const std::scoped_lock lock(mutex_);
  return stopped_;
}

void WatchLoop::run(const std::stop_token& token, const std::function<void()>& before_step) {
  const std::stop_callback on_stop(token, [this] { stop(); });
  do {
    if (before_step) before_step();
  } while (step(1min) != Step::Stopped);
}

std::optional<base::Error> WatchLoop::last_error() const {
  const std::scoped_lock lock(mutex_);
  return last_error_;
}

std::optional<WatchTrouble> WatchLoop::trouble() const {
  const std::scoped_lock lock(mutex_);
  return is_steady_locked() ? std::nullopt : trouble_;
}

bool WatchLoop::is_steady_locked() const {
  return stream_ && clock_.elapsed() - opened_at_ >= kSteady;
}

WatchLoop::Step WatchLoop::list() {
  const auto page = source_.list_page(continue_token_, paging_);
  if (!page) {
    const bool is_slow = page.error().kind == base::ErrorKind::Expired && !continue_token_.empty();
    if (is_slow) paging_ = WatchSource::Paging::Off;
    // In one piece it is too long: in pages again, which may be fast enough this time.
    if (page.error().kind == base::ErrorKind::Invalid) paging_ = WatchSource::Paging::On;
    // An answer other than "later" means that this token leads nowhere: from the first page then.
    if (page.error().kind != base::ErrorKind::Unavailable) continue_token_.clear();
    return fail(page.error());
  }
  continue_token_ = page->continue_token;
  if (continue_token_.empty()) {
    count("list");
    paging_ = WatchSource::Paging::On;
    version_ = page->resource_version;
    is_in_doubt_ = false;
    source_.finish_list(version_);
    phase_ = Phase::Open;
  }
  succeeded();
  return Step::Listed;
}

WatchLoop::Step WatchLoop::open() {
  if (is_in_doubt_) {
    const auto now = source_.collection_version();
    if (!now && !is_for_good(now.error())) return watch_failed(now.error());
    is_in_doubt_ = false;
    if (now && is_lower(*now, version_)) {
      base::log_warning("the server's history was set back: listing again",
                        {{"resource", name_}, {"version", version_}, {"now", *now}});
      phase_ = Phase::List;
      return list();
    }
  }
  // Not all watches of all clients end at the same time.
  const base::Duration timeout = kShortestTimeout + std::chrono::seconds(random_.below(300));
  auto opened = source_.open_watch(version_, timeout);
  if (!opened) return watch_failed(opened.error());
  count("watch");
  phase_ = Phase::Read;
  has_progressed_ = has_heard_ = false;
  succeeded();
  const std::scoped_lock lock(mutex_);
  opened_at_ = heard_at_ = clock_.elapsed();
  stream_ = std::move(*opened);
  if (stopped_) stream_->cancel();
  return Step::Opened;
}

WatchLoop::Step WatchLoop::read(base::Duration wait) {
  const auto got = stream_->next(wait);
  if (has_stopped()) return Step::Stopped;
  if (!got) return watch_failed(got.error(), How::Broken);
  switch (got->what) {
    case http::StreamRead::What::Nothing:
      return Step::Idle;
    case http::StreamRead::What::End:
      return watch_ended();
    case http::StreamRead::What::Line:
      return take(got->line);
  }
  return Step::Idle;
}

WatchLoop::Step WatchLoop::take(std::string_view line) {
  has_heard_ = true;
  heard_at_ = clock_.elapsed();
  silent_ = 0;
  silent_before_list_ = kSilentWatches;
  auto event = source_.read(line);
  if (!event) {
    // Most likely the end of a broken connection: the same event comes again from version_.
    ++unreadable_;
    return watch_failed(event.error(), How::Broken);
  }
  unreadable_ = 0;
  if (event->type == api::WatchType::Error) return watch_failed(api::error_of(event->status));
  if (event->type == api::WatchType::Unknown) {
    base::log_warning("watch event of unknown type ignored", {{"resource", name_}});
    return Step::Took;
  }
  // What a server repeats is older than what we have, and must not bring back the deleted.
  if (version_number(event->resource_version) < version_number(version_)) return Step::Took;
  if (event->resource_version != version_) {
    has_progressed_ = true;
    failures_ = 0;
    const std::scoped_lock lock(mutex_);
    trouble_.reset();
  }
  version_ = std::move(event->resource_version);
  if (events_ == nullptr) events_ = counter_of("event");
  if (events_ != nullptr) events_->add();
  source_.apply();
  return Step::Took;
}

WatchLoop::Step WatchLoop::watch_ended() {
  // A server that ends every watch at once would otherwise be asked without pause.
  if (!has_progressed_ && clock_.elapsed() - opened_at_ < kVeryShortWatch) {
    return watch_failed({base::ErrorKind::Unavailable, "the watch ended at once without an event"});
  }
  const bool is_lost = is_version_lost();
  close_stream();
  phase_ = is_lost ? Phase::List : Phase::Open;
  return Step::Ended;
}

bool WatchLoop::is_version_lost() {
  if (clock_.elapsed() - heard_at_ >= kLongSilence) is_in_doubt_ = true;
  if (!has_heard_ && clock_.elapsed() - opened_at_ >= kLongSilence) ++silent_;
  if (silent_ < silent_before_list_) return false;
  base::log_warning("watches bring nothing, not even a bookmark: listing again",
                    {{"resource", name_}, {"version", version_}});
  silent_ = 0;
  silent_before_list_ = std::min(2 * silent_before_list_, kMostSilentWatches);
  return true;
}

WatchLoop::Step WatchLoop::watch_failed(const base::Error& error, How how) {
  const bool was_open = phase_ == Phase::Read;
  if (was_open && clock_.elapsed() - opened_at_ >= kLastBackoff) failures_ = 0;
  const bool is_lost = was_open && is_version_lost();
  if (!was_open) is_in_doubt_ = true;
  close_stream();
  phase_ = Phase::Open;
  // Reading the same events once more cannot help when they could not be read twice.
  const bool is_unreadable = unreadable_ > 1;
  // NotFound: in another version, which all that is stored has to be in as well.
  if (error.kind == base::ErrorKind::Expired || error.kind == base::ErrorKind::NotFound ||
      is_from_the_future(error) || is_lost || is_unreadable) {
    phase_ = Phase::List;
  }
  // What broke a watch that had brought something need not be in the way of the next one, and a
  // server that lets each of them bring something is not asked more often than it has news.
  const bool is_at_once = how == How::Broken && has_progressed_ && phase_ == Phase::Open;
  return fail(error, is_at_once ? Again::AtOnce : Again::Later);
}

WatchLoop::Step WatchLoop::fail(const base::Error& error, Again again) {
  const base::Duration delay =
      again == Again::AtOnce ? 0s : std::max(backoff(), error.retry_after.value_or(0s));
  if (metrics_ != nullptr) {
    metrics_
        ->counter("compute_domain_watch_errors_total", "Failed lists and watches of informers.",
                  {{"resource", name_}, {"error", std::string(base::name_of(error.kind))}})
        .add();
  }
  // Cancelled: this process ends.
  const bool is_end = error.kind == base::ErrorKind::Cancelled;
  base::log(is_end ? base::LogLevel::Debug : base::LogLevel::Warning, "list or watch failed",
            {{"resource", name_},
             {"error", base::to_string(error)},
             {"retry_in", base::short_duration(delay)}});
  const std::scoped_lock lock(mutex_);
  const base::Duration now = clock_.elapsed();
  due_ = now + delay;
  last_error_ = error;
  const base::Duration since = trouble_ ? trouble_->since : now;
  const bool is_same = trouble_ && trouble_->error.kind == error.kind;
  trouble_ = {error, since, is_same ? trouble_->same_since : now};
  return Step::Failed;
}

base::Duration WatchLoop::backoff() {
  const int doublings = std::min(failures_++, 10);
  const base::Duration whole = std::min(kFirstBackoff * (1 << doublings), kLastBackoff);
  // Between half and all of it, so that clients which lost one server do not come back as one.
  return whole / 2 + base::Duration(random_.below(static_cast<std::uint64_t>((whole / 2).count())));
}

void WatchLoop::close_stream() {
  const std::scoped_lock lock(mutex_);
  if (is_steady_locked()) trouble_.reset();
  stream_.reset();
}

void WatchLoop::succeeded() {
  const std::scoped_lock lock(mutex_);
  last_error_.reset();
}

bool WatchLoop::wait_for_due(base::Duration wait) {
  std::unique_lock lock(mutex_);
  if (!stopped_ && due_ && wait > base::Duration::zero()) {
    const base::Duration left = *due_ - clock_.elapsed();
    changed_.wait_for(lock, std::min(wait, left), [this] { return stopped_; });
  }
  if (stopped_ || (due_ && clock_.elapsed() < *due_)) return false;
  due_.reset();
  return true;
}

base::Number* WatchLoop::counter_of(const char* what) const {
  if (metrics_ == nullptr) return nullptr;
  return &metrics_->counter("compute_domain_watch_steps_total",
                            "Lists, watches and events that informers took.",
                            {{"resource", name_}, {"what", what}});
}

void WatchLoop::count(const char* what) const {
  if (base::Number* counter = counter_of(what)) counter->add();
}

}  // namespace cdom::kube
