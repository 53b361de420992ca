#include "imex/daemon/daemon_keeper.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "compute_domain/base/text.h"
#include "imex/daemon/awaited_peers.h"

namespace cdom::imex {

using base::cat;
using base::Duration;
using base::Error;
using base::ErrorKind;

namespace {

// Between two questions, as a multiple of what the last answer took.
constexpr int kRest = 4;
constexpr int kGrowth = 4;  // of the steps between views

}  // namespace

DaemonKeeper::DaemonKeeper(const base::Clock& clock, base::Random random, bool is_hosts,
                           KeeperTimes times)
    : clock_(clock), random_(random), is_hosts_(is_hosts), times_(times) {
  status_.host_managed = is_hosts;
}

void DaemonKeeper::resume(const DaemonStatus& last, std::optional<Want> wanted) {
  status_.group = last.group;
  status_.table_hash = last.table_hash;
  status_.slot = last.slot;
  status_.instance = last.instance;
  wanted_ = std::move(wanted);
  if (!wanted_) return;
  start_at_ = clock_.elapsed();
  if (is_hosts_) return;
  status_.phase = DaemonPhase::Failed;
  status_.message = "nvidia-imex has ended with its supervisor";
}

void DaemonKeeper::forget_wanted(const std::string& why) {
  if (!wanted_) return;
  wanted_.reset();
  start_at_.reset();
  status_.message += "; " + why;
}

base::Result<void> DaemonKeeper::want(const Want& want) {
  if (status_.running) {
    if (!status_.stopping && wanted_ == want) return {};
    return Error{ErrorKind::Conflict,
                 cat("nvidia-imex ", status_.stopping ? "is still stopping" : "runs",
                     " for IMEX group ", status_.group, "; one per operating system")};
  }
  wanted_ = want;
  start_at_ = clock_.elapsed();
  is_first_try_ = true;
  return {};
}

void DaemonKeeper::stop() {
  wanted_.reset();
  start_at_.reset();
  wants_signal_ = false;
  if (status_.running) {
    status_.stopping = true;
  } else {
    status_.phase = DaemonPhase::Stopped;
    status_.message.clear();
    // What comes next begins a row of its own.
    policy_ = {};
  }
}

// Peers that are somewhere else now are dialled and dial in.
void DaemonKeeper::set_hosts(const Hosts& hosts) {
  hosts_text_ = hosts.text;
  if (wanted_) awaited_ = awaited_peers(wanted_->table_text, hosts_text_, wanted_->slot);
  if (hosts.revision == status_.hosts_revision) return;
  status_.hosts_revision = hosts.revision;
  note_change();
  view_step_ = times_.question_interval;
  doubt_until_ = changed_at_ + times_.doubt;
  was_whole_ = false;
  if (ask_at_) ask_at_ = std::min(*ask_at_, changed_at_ + times_.question_interval);
}

void DaemonKeeper::request_signal() {
  if (status_.running && !status_.stopping) wants_signal_ = true;
}

std::optional<Duration> DaemonKeeper::signal_due() const {
  if (!wants_signal_ || !status_.running || !status_.answers) return std::nullopt;
  return base::DaemonPolicy::next_signal(status_.signalled);
}

std::optional<Action> DaemonKeeper::next() {
  const Duration now = clock_.elapsed();
  if (!status_.running) {
    if (!start_at_ || *start_at_ > now) return std::nullopt;
    start_at_.reset();
    starting_ = base::hex64(random_.next());
    return StartChild{*wanted_, starting_};
  }
  if (status_.stopping) {
    if (!sent_term_) {
      sent_term_ = true;
      kill_at_ = now + times_.stop_patience;
      return SignalChild{SIGTERM};
    }
    if (hangs_at_ && *hangs_at_ <= now) see_no_end();
    if (!kill_at_ || *kill_at_ > now) return std::nullopt;
    hangs_at_ = now + times_.kill_patience;
    kill_at_.reset();
    return SignalChild{SIGKILL};
  }
  if (const auto due = signal_due(); due && *due <= now) {
    wants_signal_ = false;
    status_.signalled = now;
    look_sooner();
    return SignalChild{SIGUSR1};
  }
  if (!asking_ && ask_at_ && *ask_at_ <= now) {
    ask_at_.reset();
    asked_instance_ = status_.instance;
    asking_ = view_is_next_ ? AskTool::Question::View : AskTool::Question::State;
    if (view_is_next_) unviewed_ = 0;
    asked_at_ = now;
    is_about_lines_ = std::exchange(news_, 0) > 0;
    return AskTool{*asking_};
  }
  return std::nullopt;
}

std::optional<Duration> DaemonKeeper::next_due() const {
  if (!status_.running) return start_at_;
  if (status_.stopping) return sent_term_ ? base::earlier(kill_at_, hangs_at_) : clock_.elapsed();
  return asking_ ? signal_due() : base::earlier(signal_due(), ask_at_);
}

void DaemonKeeper::started() {
  DaemonStatus begun;
  begun.phase = DaemonPhase::Starting;
  begun.running = true;
  begun.host_managed = is_hosts_;
  begun.group = wanted_->group;
  begun.table_hash = wanted_->table_hash;
  begun.slot = wanted_->slot;
  begun.instance = std::exchange(starting_, {});
  begun.hosts_revision = status_.hosts_revision;
  status_ = std::move(begun);
  is_first_try_ = view_is_next_ = lacks_view_ = wants_signal_ = sent_term_ = false;
  row_was_ready_ = was_whole_ = has_printed_ = false;
  refusals_ = 0;
  news_ = unviewed_ = 0;
  line_interval_ = times_.line_interval;
  doubt_until_ = {};
  awaited_ = awaited_peers(wanted_->table_text, hosts_text_, wanted_->slot);
  ready_at_.reset();
  kill_at_.reset();
  hangs_at_.reset();
  view_time_ = times_.view_time;
  started_at_ = changed_at_ = clock_.elapsed();
  ask_at_ = started_at_ + times_.first_question;
}

void DaemonKeeper::failed_to_start(const Error& error) {
  if (std::exchange(is_first_try_, false)) {
    wanted_.reset();
    return;
  }
  status_.phase = DaemonPhase::Failed;
  status_.message = error.message;
  start_at_ = clock_.elapsed() + policy_.next_pause(std::nullopt);
}

void DaemonKeeper::ended(const std::string& how) {
  const bool was_asked = status_.stopping;
  status_.running = status_.stopping = status_.answers = false;
  status_.peers.clear();
  ask_at_.reset();
  wants_signal_ = false;
  if (was_asked || !wanted_) {
    status_.phase = DaemonPhase::Stopped;
    status_.message.clear();
    policy_ = {};
    return;
  }
  status_.phase = DaemonPhase::Failed;
  ++deaths_;
  const std::string count =
      deaths_ > 1 ? cat(" (", deaths_, " times since compute-domain-imex started)") : "";
  status_.message = cat("nvidia-imex ", how, count);
  const Duration now = clock_.elapsed();
  const auto ready_for = ready_at_ ? std::optional(now - *ready_at_) : std::nullopt;
  start_at_ = now + policy_.next_pause(ready_for);
}

Duration DaemonKeeper::step() const {
  const Duration age = clock_.elapsed() - started_at_;
  if (age >= times_.usual_start) return times_.question_interval;
  return std::clamp(age, times_.first_question, times_.longest_step);
}

Duration DaemonKeeper::first_view() const {
  const bool is_part = has_printed_ && unviewed_ < missing();
  return is_part ? times_.first_unprinted_view : times_.first_view;
}

std::size_t DaemonKeeper::missing() const {
  return static_cast<std::size_t>(std::ranges::count_if(awaited_, [&](std::int64_t peer) {
    const auto letter = status_.peers.find(peer);
    return letter == status_.peers.end() || letter->second != base::kConnected;
  }));
}

Duration DaemonKeeper::rest() {
  const bool is_young = clock_.elapsed() - changed_at_ < times_.settling;
  // Only a question shows that the host's daemon has ended, and it asks only this node's daemon.
  if (is_hosts_ || (is_young && missing() > 0)) return times_.question_interval;
  // A peer that has moved may still be shown as connected.
  if (clock_.elapsed() < doubt_until_) return times_.question_interval;
  const auto spread = static_cast<std::uint64_t>(2 * times_.rest_spread.count());
  return times_.rest_interval - times_.rest_spread +
         Duration(static_cast<Duration::rep>(random_.below(spread)));
}

void DaemonKeeper::ask_again_after(Duration delay) { ask_at_ = clock_.elapsed() + delay; }

// On a busy node each question takes longer, and asking in a hurry would be what keeps it busy.
void DaemonKeeper::ask_again_soon(Duration delay) {
  const Duration rest = std::min(kRest * answer_took_, times_.question_interval);
  ask_again_after(std::max(delay, rest));
}

void DaemonKeeper::note_change() { changed_at_ = clock_.elapsed(); }

// The answer to a question under way may be about the moment before.
void DaemonKeeper::look_sooner() {
  note_change();
  view_step_ = first_view();
  line_interval_ = times_.line_interval;
  doubt_until_ = changed_at_ + times_.doubt;
  // Between two refusals that would make a fault the daemon has its time.
  if (ready_at_ && !asking_ && refusals_ == 0) ask_again_after(view_step_);
  if (asking_) ++news_;
}

void DaemonKeeper::printed(std::size_t lines) {
  if (lines == 0 || !status_.running || status_.stopping) return;
  const Duration now = clock_.elapsed();
  if (now - printed_at_ >= times_.line_silence) line_interval_ = times_.line_interval;
  printed_at_ = now;
  news_ += lines;
  unviewed_ += lines;
  has_printed_ = true;
  ask_about_lines();
}

// Each connection is a line at least: until the daemon has been connected to all, fewer lines than
// peers that are missing mean that more are about to come.
void DaemonKeeper::ask_about_lines() {
  const bool may_be_a_fault = status_.answers && refusals_ > 0;
  if (news_ == 0 || asking_ || !ask_at_ || may_be_a_fault) return;
  const bool is_part = ready_at_ && !was_whole_ && unviewed_ < missing();
  const Duration interval =
      is_part ? std::max(times_.question_interval, line_interval_) : line_interval_;
  const Duration rest = std::min(kRest * answer_took_, times_.question_interval);
  const Duration due = std::max({clock_.elapsed() + times_.line_pause, asked_at_ + interval,
                                 asked_at_ + answer_took_ + rest});
  ask_at_ = std::min(*ask_at_, due);
}

// A row of lines is asked about ever less often: once a second while it changes something, and as a
// daemon at rest else. What a line tells may be seen only a moment later, so the first that seems
// to change nothing is asked about twice.
void DaemonKeeper::count_lines(bool has_changed) {
  if (!std::exchange(is_about_lines_, false)) return;
  if (!has_changed && ready_at_ && refusals_ == 0 && line_interval_ == times_.line_interval) {
    ask_at_ = std::min(*ask_at_, clock_.elapsed() + times_.second_look);
  }
  const Duration most = has_changed ? times_.question_interval : times_.rest_interval;
  line_interval_ = std::min(2 * line_interval_, most);
}

void DaemonKeeper::answered(const ToolAnswer& answer) {
  if (!asking_) return;
  const AskTool::Question question = *std::exchange(asking_, std::nullopt);
  answer_took_ = clock_.elapsed() - asked_at_;
  if (asked_instance_ != status_.instance || !status_.running || status_.stopping) return;
  const DaemonPhase phase = status_.phase;
  const auto peers = status_.peers;
  if (answer.outcome != ToolAnswer::Outcome::Unasked) unasked_since_.reset();
  if (answer.outcome == ToolAnswer::Outcome::Unasked) {
    see_unasked(answer.text);
  } else if (question == AskTool::Question::View) {
    see_view(answer);
  } else {
    see_state(answer);
  }
  count_lines(status_.phase != phase || status_.peers != peers);
  ask_about_lines();
}

void DaemonKeeper::see_state(const ToolAnswer& answer) {
  if (answer.outcome == ToolAnswer::Outcome::Silence) {
    return see_fault("nvidia-imex-ctl -q gives no answer; nvidia-imex may hang", true);
  }
  const auto state = reported_state(answer.text);
  if (answer.outcome == ToolAnswer::Outcome::Refusal || !state) {
    return see_fault(cat("nvidia-imex does not answer: ",
                         state ? "nvidia-imex-ctl -q fails" : state.error().message),
                     false);
  }
  refusals_ = 0;
  status_.answers = true;
  // What a view lacks only a view takes back.
  if (!lacks_view_ || *state != ReportedState::Ready) status_.message.clear();
  if (*state != ReportedState::Ready) {
    const DaemonPhase phase = *state == ReportedState::WaitingForRecovery ? DaemonPhase::Recovering
                                                                          : DaemonPhase::Starting;
    if (status_.phase != phase) note_change();
    status_.phase = phase;
    return ask_again_soon(step());
  }
  // What had been READY and was gone is another daemon.
  if (is_hosts_ && ready_at_ && status_.phase == DaemonPhase::Failed) {
    status_.instance = base::hex64(random_.next());
  }
  if (status_.phase != DaemonPhase::Ready) note_change();
  status_.phase = DaemonPhase::Ready;
  const bool is_first = !ready_at_;
  if (is_first) {
    ready_at_ = viewed_at_ = clock_.elapsed();
    view_step_ = first_view();
  }
  // The host's daemon names its peers by the host's own names.
  if (is_hosts_) return ask_again_after(rest());
  view_is_next_ = true;
  // It has just begun to dial.
  if (is_first) return ask_again_after(view_step_);
  const bool is_late = clock_.elapsed() - viewed_at_ >= times_.view_patience;
  ask_again_after(!lacks_view_ ? Duration::zero() : is_late ? rest() : times_.question_interval);
}

// One of them may be a moment's: two in a row are a fault.
void DaemonKeeper::see_fault(const std::string& what, bool has_listened) {
  ++refusals_;
  view_is_next_ = false;
  // It does not listen yet; the host's may never.
  if (!status_.answers && !has_listened && !is_hosts_) {
    const bool is_late = clock_.elapsed() - started_at_ >= times_.usual_start;
    if (is_late && status_.message.empty()) status_.message = what;
    return ask_again_soon(step());
  }
  if (refusals_ > 1) {
    if (status_.phase != DaemonPhase::Failed) note_change();
    lacks_view_ = false;
    status_.phase = DaemonPhase::Failed;
    status_.message = is_hosts_ ? cat(what, "; it is the host's own, which has to start it") : what;
    status_.peers.clear();
  }
  const bool is_old = clock_.elapsed() - changed_at_ >= times_.settling;
  ask_again_after(refusals_ <= 1 ? times_.retry_question
                  : is_old       ? rest()
                                 : times_.question_interval);
}

void DaemonKeeper::see_view(const ToolAnswer& answer) {
  auto view = node_view(answer.text, status_.slot);
  if (answer.outcome == ToolAnswer::Outcome::Silence) {
    return see_no_view("nvidia-imex-ctl -N gives no answer", true);
  }
  if (answer.outcome == ToolAnswer::Outcome::Refusal || !view) {
    return see_no_view(cat("nvidia-imex-ctl -N fails: ", view ? "" : view.error().message), false);
  }
  // Its own row is no more than a hint: what the daemon is, "-q" says.
  view_is_next_ = view->is_ready;
  if (std::exchange(row_was_ready_, view->is_ready) && !view->is_ready) {
    return ask_again_after(Duration::zero());
  }
  const std::size_t missed = missing();
  if (status_.peers != view->letters) note_change();
  status_.peers = std::move(view->letters);
  if (answer_took_ < view_time_ / 4) view_time_ = std::max(view_time_ * 2 / 5, times_.view_time);
  status_.message.clear();
  lacks_view_ = false;
  refusals_ = 0;
  viewed_at_ = clock_.elapsed();
  const bool has_lost = was_whole_ && missing() > missed;
  was_whole_ = was_whole_ || missing() == 0;
  // Who is lost may be back in a moment.
  view_step_ =
      has_lost ? times_.first_view : std::min(kGrowth * view_step_, times_.question_interval);
  const bool is_soon = missing() > 0 && view_step_ < times_.question_interval;
  ask_again_soon(is_soon ? view_step_ : rest());
}

// Does the daemon hang, or only what it asks of others?
void DaemonKeeper::see_no_view(const std::string& what, bool is_silent) {
  view_is_next_ = false;
  if (is_silent) ++refusals_;
  lacks_view_ = true;
  status_.message = what;
  ask_again_after(Duration::zero());
  if (is_silent) view_time_ = std::min(view_time_ * 5 / 2, times_.longest_view_time);
  if (clock_.elapsed() - viewed_at_ >= times_.view_patience) status_.peers.clear();
}

// Nothing is known of the daemon that was not known before; only its connections grow old. Whatever
// is asked next takes the message back. Of the host's daemon only answers show that it lives.
void DaemonKeeper::see_unasked(const std::string& why) {
  if (!unasked_since_) unasked_since_ = clock_.elapsed();
  const bool is_long = clock_.elapsed() - *unasked_since_ >= times_.view_patience;
  if (is_hosts_ && is_long) return see_fault(cat("nvidia-imex cannot be asked: ", why), true);
  const bool is_lasting = clock_.elapsed() - *unasked_since_ >= times_.settling;
  const base::Duration pause = is_lasting ? rest() : step();
  if (status_.phase == DaemonPhase::Failed) return ask_again_soon(pause);
  lacks_view_ = false;
  status_.message =
      cat("compute-domain-imex cannot ask nvidia-imex, and takes it to be as it was: ", why);
  if (clock_.elapsed() - viewed_at_ >= times_.view_patience) status_.peers.clear();
  ask_again_soon(pause);
}

// Only the kernel keeps a process that was killed. Nothing else is due for it.
void DaemonKeeper::see_no_end() {
  hangs_at_.reset();
  status_.phase = DaemonPhase::Failed;
  status_.message =
      "nvidia-imex does not end after SIGKILL: a GPU or its driver hangs; reboot the node";
  status_.peers.clear();
}

DaemonStatus DaemonKeeper::status() const {
  DaemonStatus status = status_;
  status.starts_again = !status.running && start_at_.has_value();
  return status;
}

}  // namespace cdom::imex
