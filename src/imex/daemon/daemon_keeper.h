// DaemonKeeper: everything that the IMEX supervisor decides about its daemon, without doing it.
//
// How it goes: wishes and events come in, next() gives the actions that are due now, one by one,
// and status() is what to report. The control tool is asked when something may have changed, and
// else from time to time (KeeperTimes). A daemon that ends by itself is started again;
// base::DaemonPolicy says how soon, and how often it gets SIGUSR1. Steppable; one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/daemon_policy.h"
#include "compute_domain/base/random.h"
#include "compute_domain/base/result.h"
#include "compute_domain/imex/protocol.h"
#include "imex/process/tool_answer.h"

namespace cdom::imex {

// When the control tool is asked: after the daemon was started, has printed lines, or got a signal
// or other hosts; and in growing steps otherwise, as a daemon may print nothing: up to READY
// ("-q"), and then ("-N") until it is connected to all that it should be; in greater steps where it
// prints, and has not yet printed a line for each peer. A daemon at rest is asked every
// rest_interval, each node at moments of its own: a question is a process, and "-N" asks the
// daemons of all nodes. Lines that come again and again without any change count ever less.
struct KeeperTimes {
  base::Duration stop_patience = std::chrono::seconds(5);   // from SIGTERM to SIGKILL
  base::Duration kill_patience = std::chrono::seconds(10);  // from that to the word that it hangs
  base::Duration first_question = std::chrono::milliseconds(5);
  base::Duration longest_step = std::chrono::milliseconds(250);  // of a start of usual length
  base::Duration usual_start = std::chrono::seconds(10);
  base::Duration first_view = std::chrono::milliseconds(10);  // then four times that, and so on
  base::Duration first_unprinted_view = std::chrono::milliseconds(200);
  base::Duration question_interval = std::chrono::seconds(1);   // while something is awaited,
  base::Duration settling = std::chrono::seconds(30);           // for so long after the last change
  base::Duration doubt = std::chrono::seconds(5);               // and after hosts or a signal
  base::Duration rest_interval = std::chrono::seconds(5);       // else: that, by a tenth more
  base::Duration rest_spread = std::chrono::milliseconds(500);  // or less
  base::Duration line_pause = std::chrono::milliseconds(5);     // from a line to the question
  base::Duration line_interval = std::chrono::milliseconds(50);    // doubles with each question
  base::Duration line_silence = std::chrono::seconds(10);          // after which it is that again
  base::Duration second_look = std::chrono::milliseconds(150);     // when the first saw no change
  base::Duration retry_question = std::chrono::milliseconds(100);  // of one that was refused
  base::Duration view_patience = std::chrono::seconds(10);  // connections without news are none
  // A view that gives no answer in time gets more the next time, so that one that takes five
  // seconds comes before connections without news are none: it asks the daemons of all nodes, and
  // nothing public says how long it waits for one that is off.
  base::Duration view_time = std::chrono::seconds(2);
  base::Duration longest_view_time = std::chrono::seconds(10);
};

// The supervisor answers it with started() or failed_to_start().
struct StartChild {
  Want want;
  std::string instance;
  friend bool operator==(const StartChild&, const StartChild&) = default;
};
struct SignalChild {
  int number = 0;
  friend bool operator==(const SignalChild&, const SignalChild&) = default;
};
// The supervisor answers it with answered().
struct AskTool {
  enum class Question { State, View } question = Question::State;  // -q, -N
  friend bool operator==(const AskTool&, const AskTool&) = default;
};
using Action = std::variant<StartChild, SignalChild, AskTool>;

class DaemonKeeper {
 public:
  // `is_hosts`: the daemon is the host's own. It is asked whether it is READY, and runs in any
  // case.
  DaemonKeeper(const base::Clock& clock, base::Random random, bool is_hosts = false,
               KeeperTimes times = {});

  // What an earlier supervisor of this boot knew: the daemon is started again when one is wanted.
  void resume(const DaemonStatus& last, std::optional<Want> wanted);
  // No daemon until the next want(); the status says why.
  void forget_wanted(const std::string& why);

  // Conflict: a daemon runs that was started otherwise.
  base::Result<void> want(const Want& want);
  void stop();
  // The signal goes out after the daemon has answered a question: before that it would end it.
  void request_signal();
  void set_hosts(const Hosts& hosts);

  void started();
  void failed_to_start(const base::Error& error);
  void ended(const std::string& how);  // "exited with code 1"
  void answered(const ToolAnswer& answer);
  // The daemon has printed so many lines. It prints its start, each connection ("Connection
  // established to node 0 …", NVIDIA GPU Operator, documentation of DRA for ComputeDomains) and
  // each loss ("Node disconnect", dra-driver-nvidia-gpu's dashboard); which it was, the tool says.
  void printed(std::size_t lines);

  std::optional<Action> next();
  // When next() has something without other news.
  [[nodiscard]] std::optional<base::Duration> next_due() const;

  [[nodiscard]] DaemonStatus status() const;
  [[nodiscard]] const std::optional<Want>& wanted() const { return wanted_; }
  // Peers that the daemon should be connected to, by slot.
  [[nodiscard]] const std::set<std::int64_t>& awaited() const { return awaited_; }
  // How many of them it is not connected to.
  [[nodiscard]] std::size_t missing() const;
  // Daemons that have ended by themselves.
  [[nodiscard]] int deaths() const { return deaths_; }
  // What the control tool has not answered yet.
  [[nodiscard]] const std::optional<AskTool::Question>& asking() const { return asking_; }
  // How long the next view may take.
  [[nodiscard]] base::Duration view_time() const { return view_time_; }

 private:
  [[nodiscard]] std::optional<base::Duration> signal_due() const;
  void see_state(const ToolAnswer& answer);
  void see_view(const ToolAnswer& answer);
  void see_fault(const std::string& what, bool has_listened);
  void see_no_view(const std::string& what, bool is_silent);
  void see_unasked(const std::string& why);
  void see_no_end();
  void ask_again_after(base::Duration delay);
  void ask_again_soon(base::Duration delay);
  void ask_about_lines();
  void look_sooner();
  void note_change();
  void count_lines(bool has_changed);
  [[nodiscard]] base::Duration step() const;
  // From READY, or a signal, to the next view.
  [[nodiscard]] base::Duration first_view() const;
  // Until the next question when there is no reason for one.
  base::Duration rest();

  const base::Clock& clock_;
  base::Random random_;
  const bool is_hosts_;
  const KeeperTimes times_;

  DaemonStatus status_;
  std::optional<Want> wanted_;
  std::optional<base::Duration> start_at_;
  bool is_first_try_ = false;  // of a wish: its failure is the answer
  std::string starting_;       // the instance of a StartChild that has no answer yet

  base::Duration started_at_{};
  std::optional<base::Duration> ready_at_;  // this instance
  base::DaemonPolicy policy_;
  int deaths_ = 0;  // of all instances, that were not asked for

  std::optional<base::Duration> ask_at_;
  std::optional<AskTool::Question> asking_;  // of asked_instance_
  std::string asked_instance_;
  base::Duration asked_at_{}, answer_took_{};
  bool view_is_next_ = false;
  bool lacks_view_ = false;                      // the message tells why the last view failed
  std::optional<base::Duration> unasked_since_;  // no question could be started
  bool row_was_ready_ = false;                   // in the last view
  bool was_whole_ = false;                       // connected to all that are awaited
  base::Duration viewed_at_{};
  base::Duration view_step_{};   // from one -N to the next
  int refusals_ = 0;             // in a row, or silences
  base::Duration changed_at_{};  // of anything that is reported of this instance
  base::Duration doubt_until_{};
  std::string hosts_text_;
  std::set<std::int64_t> awaited_;  // peers

  std::size_t news_ = 0;            // lines, and a signal, since the last question
  std::size_t unviewed_ = 0;        // lines since the last view
  bool has_printed_ = false;        // this instance
  bool is_about_lines_ = false;     // the question under way
  base::Duration line_interval_{};  // between questions about lines
  base::Duration printed_at_{};

  bool wants_signal_ = false;
  bool sent_term_ = false;
  std::optional<base::Duration> kill_at_;
  std::optional<base::Duration> hangs_at_;  // unless it has ended by then
  base::Duration view_time_ = times_.view_time;
};

}  // namespace cdom::imex
