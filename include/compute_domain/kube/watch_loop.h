// WatchLoop: list, then watch, for ever: the state machine below every informer.
//
// How it goes: 1. List all pages; the last one makes the list the content. 2. Watch from the list's
// version, and take the events. 3. When the watch ends or breaks, watch from the last version seen.
// 4. List again when the server does not have that version. What fails is tried again after a
// backoff. What it guarantees: no change between two versions is skipped, and none is applied
// twice. One thread steps it; stop(), has_stopped(), last_error() and trouble() are for any.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "compute_domain/api/codec.h"
#include "compute_domain/base/clock.h"
#include "compute_domain/base/metrics.h"
#include "compute_domain/base/random.h"
#include "compute_domain/base/result.h"
#include "compute_domain/http/client.h"

namespace cdom::kube {

// What the loop needs to know of a kind and its store.
class WatchSource {
 public:
  virtual ~WatchSource() = default;

  struct PageEnd {
    std::string resource_version;
    std::string continue_token;  // "" after the last page
  };
  enum class Paging { On, Off };
  // Fetches one page, or all there is, and keeps it until finish_list(); a page without token
  // starts over. Invalid when all there is is too much.
  virtual base::Result<PageEnd> list_page(const std::string& continue_token, Paging paging) = 0;
  // Makes what was listed the content of the store.
  virtual void finish_list(const std::string& resource_version) = 0;

  // The version that the collection has now; no less than any that was given before, unless the
  // server's history was set back.
  virtual base::Result<std::string> collection_version() = 0;

  virtual base::Result<std::unique_ptr<http::Stream>> open_watch(
      const std::string& resource_version, base::Duration timeout) = 0;

  struct Event {
    api::WatchType type = api::WatchType::Unknown;
    std::string resource_version;
    api::Status status;  // of an Error
  };
  // Reads a line and keeps its event until apply(). Invalid when it cannot be read.
  virtual base::Result<Event> read(std::string_view line) = 0;
  virtual void apply() = 0;
};

// Why a store does not follow the API server at present.
struct WatchTrouble {
  base::Error error;          // of the last attempt
  base::Duration since;       // on Clock::elapsed(): no attempt has succeeded from then on
  base::Duration same_since;  // and each has failed with the kind of this error

  friend bool operator==(const WatchTrouble&, const WatchTrouble&) = default;
};

class WatchLoop {
 public:
  enum class Step {
    Listed,   // one page; has_listed() tells whether it was the last
    Opened,   // a watch
    Took,     // one event or bookmark
    Ended,    // the server closed the watch as it should
    Failed,   // backs off, see last_error() and next_due()
    Idle,     // nothing to do within the wait
    Stopped,  // stop() was called; there will be no more
  };

  // `name` is the plural of the kind, for logs and metrics; `metrics` may be null.
  WatchLoop(WatchSource& source, const base::Clock& clock, std::uint64_t seed, std::string name,
            base::Registry* metrics);

  // One unit of work; waits for it at most `wait`, not at all when that is zero (what it asks of
  // the server takes as long as it takes).
  //
  // It lists again after 410 (the server no longer has the version), 404 (it no longer serves the
  // collection as it was) and "Too large resource version" (its history was set back), when the
  // same line cannot be read twice, when a server that was away or silent has a lower version than
  // the last one, and after several watches in a row that were silent. A list whose next page the
  // server no longer has is read in one piece, as client-go does it. A watch that breaks after it
  // has brought something new is opened again at once; any other failure has a backoff with jitter.
  Step step(base::Duration wait);
  // When a step can do something by itself, on Clock::elapsed(): the end of a backoff, or now. In
  // an open watch that is for the server to say, and this gives nullopt.
  [[nodiscard]] std::optional<base::Duration> next_due() const;
  // Ends a step that waits and makes all later ones give Stopped.
  // A list in flight ends when its http::Client shuts down.
  void stop();
  [[nodiscard]] bool has_stopped() const;
  // Steps until `token` asks to stop; calls `before_step` at least once a minute while nothing is
  // stuck.
  void run(const std::stop_token& token, const std::function<void()>& before_step = {});
  // Why the last attempt failed; nullopt once an attempt succeeded.
  [[nodiscard]] std::optional<base::Error> last_error() const;
  // nullopt once a watch has brought something new or has been open for a while: one that the
  // server accepts and always breaks is in trouble too.
  [[nodiscard]] std::optional<WatchTrouble> trouble() const;

 private:
  enum class Phase { List, Open, Read };

  Step list();
  Step open();
  Step read(base::Duration wait);
  Step take(std::string_view line);
  Step watch_ended();
  enum class How { Refused, Broken };  // by the server, or by what lies between
  Step watch_failed(const base::Error& error, How how = How::Refused);
  enum class Again { Later, AtOnce };
  Step fail(const base::Error& error, Again again = Again::Later);
  // Of a watch that ends now: whether it and those before it were so silent that the server does
  // not seem to know their version. Of a silent one it is in doubt from now on.
  bool is_version_lost();
  void close_stream();
  void succeeded();
  [[nodiscard]] bool is_steady_locked() const;
  bool wait_for_due(base::Duration wait);
  [[nodiscard]] base::Duration backoff();
  [[nodiscard]] base::Number* counter_of(const char* what) const;  // null without metrics
  void count(const char* what) const;

  WatchSource& source_;
  const base::Clock& clock_;
  base::Random random_;
  const std::string name_;
  base::Registry* const metrics_;
  base::Number* events_ = nullptr;  // from the first event on

  Phase phase_ = Phase::List;
  std::string continue_token_;
  WatchSource::Paging paging_ = WatchSource::Paging::On;
  std::string version_;          // of the last event, bookmark or list that was taken
  bool has_progressed_ = false;  // since the watch was opened
  bool has_heard_ = false;       // a line, since then
  base::Duration heard_at_{};    // the last line, or the watch's begin
  // The server was away or silent since it gave version_, and may be one that never had it.
  bool is_in_doubt_ = false;
  int silent_ = 0;          // watches in a row that were open for long and brought no line
  int silent_before_list_;  // so many of them mean that the version is lost
  int failures_ = 0;        // since the last progress
  int unreadable_ = 0;      // lines in a row

  mutable std::mutex mutex_;  // for what follows
  std::condition_variable changed_;
  std::unique_ptr<http::Stream> stream_;  // replaced by the stepping thread only
  std::optional<base::Duration> due_;     // the end of the backoff
  base::Duration opened_at_{};            // written by the stepping thread only
  std::optional<base::Error> last_error_;
  std::optional<WatchTrouble> trouble_;
  bool stopped_ = false;
};

}  // namespace cdom::kube
