#include "compute_domain/imex/owner.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <optional>

#include "compute_domain/base/file_lock.h"
#include "compute_domain/base/files.h"
#include "compute_domain/base/log.h"
#include "compute_domain/base/system_error.h"
#include "compute_domain/base/text.h"
#include "imex/agent_server.h"
#include "imex/child.h"
#include "imex/control_tool.h"
#include "imex/daemon_keeper.h"
#include "imex/hosts_file.h"
#include "imex/relay.h"
#include "imex/state_file.h"
#include "imex/workshop.h"

namespace cdom::imex {

using base::cat;
using base::Duration;
using base::Error;
using base::Result;

class Owner::Loop {
 public:
  Loop(OwnerOptions options, const base::Clock& clock, base::Random random, base::FileLock lock,
       AgentServer server)
      : options_(std::move(options)),
        clock_(clock),
        lock_(std::move(lock)),
        wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        server_(std::move(server)),
        keeper_(clock, random, !options_.host_socket.empty()),
        tool_(clock),
        workshop_(options_),
        hosts_file_(options_.hosts_path),
        state_file_(cat(options_.directory, "/state"), options_.boot_id) {
    resume();
  }

  void step(Duration patience);
  void run(const std::stop_token& stop);
  [[nodiscard]] Result<void> check() const { return workshop_.check(); }

 private:
  void resume();
  Result<void> act(const Request& request);
  Result<void> forget_importers(const std::string& group) const;
  void act_on_keeper();
  [[nodiscard]] bool is_hosts() const { return !options_.host_socket.empty(); }
  void act(const StartChild& action);
  void go_by_host(const StartChild& action);
  void act(const SignalChild& action);
  void act(const AskTool& action);
  Result<void> save();
  [[nodiscard]] State told_state() const;
  void tell();
  void wait(Duration patience);
  void serve_daemon();
  [[nodiscard]] std::string how_it_ended(const Ending& ending) const;
  void clear_away();

  const OwnerOptions options_;
  const base::Clock& clock_;
  const base::FileLock lock_;
  const base::Descriptor wake_;
  AgentServer server_;
  DaemonKeeper keeper_;
  ControlTool tool_;
  Workshop workshop_;
  const HostsFile hosts_file_;
  const StateFile state_file_;
  const AgentServer::Calls calls_{[this](const Request& r) { return act(r); },
                                  [this] { return told_state(); }};
  std::optional<Child> daemon_;
  Relay relay_{STDERR_FILENO};  // of what it prints; base::log writes there too
  std::optional<Hosts> hosts_;
  std::optional<Error> start_error_;  // of the last start
  State told_;
  std::uint64_t told_signals_ = 0;
  bool is_ending_ = false;
  std::vector<pollfd> polled_;
};

// A daemon must find its peers when it starts, so the hosts come first.
void Owner::Loop::resume() {
  if (auto saved = state_file_.load()) {
    hosts_ = std::move(saved->hosts);
    if (hosts_) {
      const auto written = hosts_file_.write(*hosts_);
      if (!written) base::log_warning(written.error().message);
    }
    const bool has_moved =
        saved->wanted && !options_.address.empty() && saved->wanted->address != options_.address;
    keeper_.resume(saved->last, std::move(saved->wanted));
    if (has_moved) keeper_.forget_wanted("its pod has another address now");
  }
  keeper_.set_hosts_revision(hosts_file_.revision());
}

Result<void> Owner::Loop::act(const Request& request) {
  if (is_ending_) return Error{base::ErrorKind::Unavailable, "compute-domain-imex is ending"};
  if (const auto* want = std::get_if<Want>(&request)) {
    if (auto wanted = keeper_.want(*want); !wanted) return wanted;
    start_error_.reset();
    act_on_keeper();
    return start_error_ ? Result<void>(*start_error_) : Result<void>();
  }
  if (const auto* hosts = std::get_if<Hosts>(&request)) {
    if (auto written = hosts_file_.write(*hosts); !written) return written;
    hosts_ = *hosts;
    keeper_.set_hosts_revision(hosts->revision);
    return save();
  }
  if (const auto* forget = std::get_if<Forget>(&request)) return forget_importers(forget->group);
  if (std::holds_alternative<Signal>(request)) keeper_.request_signal();
  if (std::holds_alternative<Stop>(request)) {
    keeper_.stop();
    // A successor must not start what may by then be another node's slot.
    return save();
  }
  return {};
}

Result<void> Owner::Loop::forget_importers(const std::string& group) const {
  if (is_hosts()) return {};
  const State state = keeper_.state();
  if (state.running) {
    return Error{base::ErrorKind::Conflict, cat("nvidia-imex runs for group ", state.group)};
  }
  // The record is that of the last daemon; one of another table drops it by itself.
  if (!state.group.empty() && state.group != group) return {};
  if (unlink(options_.persist_path.c_str()) != 0 && errno != ENOENT) {
    return base::system_error(cat("cannot remove ", options_.persist_path));
  }
  return {};
}

void Owner::Loop::act_on_keeper() {
  while (const auto action = keeper_.next()) {
    std::visit([this](const auto& one) { act(one); }, *action);
  }
}

void Owner::Loop::act(const StartChild& action) {
  // What is left of an earlier question is about another daemon.
  tool_.forget();
  keeper_.answered({});
  if (is_hosts()) return go_by_host(action);
  auto command = workshop_.prepare(action.want);
  if (command) command->captures_output = true;
  auto child = command ? Child::start(*command) : Result<Child>(command.error());
  if (!child) {
    base::log_error("cannot start nvidia-imex",
                    {{"group", action.want.group}, {"error", child.error().message}});
    start_error_ = child.error();
    return keeper_.failed_to_start(child.error());
  }
  daemon_.emplace(std::move(*child));
  relay_.begin();
  keeper_.started();
  const auto saved = save();
  if (!saved) base::log_warning(saved.error().message);
  base::log_info("started nvidia-imex", {{"group", action.want.group},
                                         {"instance", action.instance},
                                         {"pid", std::to_string(daemon_->pid())}});
}

// Nothing is started: what the host runs is asked from now on.
void Owner::Loop::go_by_host(const StartChild& action) {
  if (const auto found = workshop_.prepare_host_tool(); !found) {
    start_error_ = found.error();
    return keeper_.failed_to_start(found.error());
  }
  keeper_.started();
  if (const auto saved = save(); !saved) base::log_warning(saved.error().message);
  base::log_info("going by the host's nvidia-imex",
                 {{"group", action.want.group}, {"socket", options_.host_socket}});
}

void Owner::Loop::act(const SignalChild& action) {
  if (is_hosts()) {
    if (action.number == SIGTERM) keeper_.ended("");
    return;
  }
  base::log_info("signal to nvidia-imex", {{"signal", std::to_string(action.number)}});
  if (daemon_) daemon_->signal(action.number);
}

void Owner::Loop::act(const AskTool& action) {
  if (action.question == AskTool::Question::State) {
    tool_.ask(workshop_.control_tool({"-q"}), options_.state_patience);
  } else {
    tool_.ask(workshop_.control_tool({"-N", "-j"}), options_.view_patience);
  }
}

Result<void> Owner::Loop::save() {
  return state_file_.save({keeper_.state(), keeper_.wanted(), hosts_});
}

State Owner::Loop::told_state() const {
  State state = keeper_.state();
  state.address = options_.address;
  return state;
}

void Owner::Loop::tell() {
  State state = keeper_.state();
  state.signal_age.reset();
  if (state == told_ && told_signals_ == keeper_.signals()) return;
  if (state.phase != told_.phase || state.message != told_.message) {
    base::log_info("nvidia-imex",
                   {{"state", std::string(name_of(state.phase))}, {"message", state.message}});
  }
  told_ = std::move(state);
  told_signals_ = keeper_.signals();
  server_.publish(calls_);
}

void Owner::Loop::wait(Duration patience) {
  const Duration now = clock_.elapsed();
  for (const auto& due : {keeper_.next_due(), tool_.next_due()}) {
    if (due) patience = std::clamp(*due - now, Duration::zero(), patience);
  }
  polled_.clear();
  polled_.push_back({.fd = wake_.get(), .events = POLLIN, .revents = 0});
  if (daemon_) {
    polled_.push_back({.fd = daemon_->exit_descriptor(), .events = POLLIN, .revents = 0});
    if (relay_.has_output()) {
      polled_.push_back({.fd = daemon_->output_descriptor(), .events = POLLIN, .revents = 0});
    }
  }
  if (relay_.has_backlog()) {
    polled_.push_back({.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0});
  }
  if (const Child* tool = tool_.child()) {
    polled_.push_back({.fd = tool->exit_descriptor(), .events = POLLIN, .revents = 0});
    if (tool_.has_output()) {
      polled_.push_back({.fd = tool->output_descriptor(), .events = POLLIN, .revents = 0});
    }
  }
  server_.add_to(polled_);
  const timespec most{.tv_sec = patience / std::chrono::seconds(1),
                      .tv_nsec = (patience % std::chrono::seconds(1)).count()};
  if (ppoll(polled_.data(), polled_.size(), &most, nullptr) <= 0) {
    for (pollfd& one : polled_) one.revents = 0;
  }
}

void Owner::Loop::step(Duration patience) {
  act_on_keeper();
  tell();
  wait(patience);
  if (daemon_) serve_daemon();
  relay_.give();
  if (const auto answer = tool_.poll()) {
    if (answer->outcome == ToolAnswer::Outcome::Answer) workshop_.host_tool_answered();
    if (answer->outcome == ToolAnswer::Outcome::Refusal) workshop_.host_tool_refused();
    keeper_.answered(*answer);
  }
  server_.serve(polled_, calls_);
  act_on_keeper();
  tell();
}

void Owner::Loop::serve_daemon() {
  const auto ending = daemon_->reap();
  // What it has printed to its end is there now, whoever else still holds the pipe.
  if (relay_.take(daemon_->output_descriptor())) keeper_.printed();
  if (!ending) return;
  daemon_.reset();
  keeper_.ended(how_it_ended(*ending));
  tell();
  act_on_keeper();  // before anything else: a workload waits for it
}

std::string Owner::Loop::how_it_ended(const Ending& ending) const {
  std::string how = to_string(ending);
  const std::string words = relay_.last_words();
  if (!words.empty()) how += cat("; its last words: ", words);
  const auto file = options_.imex_options.find("LOG_FILE_NAME");
  if (file != options_.imex_options.end() && !file->second.empty()) {
    how += cat("; its log is ", file->second);
  }
  return how;
}

void Owner::Loop::run(const std::stop_token& stop) {
  const std::stop_callback on_stop(stop, [this] {
    const std::uint64_t one = 1;
    (void)!write(wake_.get(), &one, sizeof one);
  });
  while (!stop.stop_requested()) step(std::chrono::hours(1));
  // The wish stays saved: a successor of this boot goes on with it.
  std::uint64_t count = 0;
  (void)!read(wake_.get(), &count, sizeof count);
  is_ending_ = true;
  const bool is_wanted = keeper_.wanted().has_value();
  keeper_.stop();
  while (daemon_) step(std::chrono::hours(1));
  // Nobody else can have it: the lock is ours.
  unlink(options_.socket_path.c_str());
  if (!is_wanted) clear_away();
}

// Nothing of it is of use to a successor. The lock goes last, and with it what is ours to remove.
void Owner::Loop::clear_away() {
  workshop_.clear_away();
  state_file_.remove();
  unlink(cat(options_.directory, "/lock").c_str());
  rmdir(options_.directory.c_str());
}

Result<std::unique_ptr<Owner>> Owner::open(OwnerOptions options, const base::Clock& clock,
                                           base::Random random) {
  if (auto made = base::make_directories(options.directory); !made) return made.error();
  const std::string lock_path = cat(options.directory, "/lock");
  auto lock = base::FileLock::try_acquire(lock_path);
  if (!lock) {
    if (lock.error().kind != base::ErrorKind::Conflict) return lock.error();
    return Error{base::ErrorKind::Conflict,
                 cat("another compute-domain-imex has ", options.directory)};
  }
  std::set<uid_t> allowed(options.allowed_users.begin(), options.allowed_users.end());
  auto server = AgentServer::listen(options.socket_path, std::move(allowed), options.program);
  if (!server) return server.error();
  return std::unique_ptr<Owner>(new Owner(std::make_unique<Loop>(
      std::move(options), clock, random, *std::move(lock), *std::move(server))));
}

Owner::Owner(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
Owner::~Owner() = default;
void Owner::step(Duration patience) { loop_->step(patience); }
void Owner::run(const std::stop_token& stop) { loop_->run(stop); }
Result<void> Owner::check() const { return loop_->check(); }

}  // namespace cdom::imex
