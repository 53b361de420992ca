#include "compute_domain/imex/supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <optional>

#include "compute_domain/base/file_lock.h"
#include "compute_domain/base/files.h"
#include "compute_domain/base/life_mark.h"
#include "compute_domain/base/log.h"
#include "compute_domain/base/system_error.h"
#include "compute_domain/base/text.h"
#include "compute_domain/nvidia/fabric_verdict.h"
#include "imex/agent_server.h"
#include "imex/daemon/daemon_keeper.h"
#include "imex/daemon/hosts_file.h"
#include "imex/daemon/relay.h"
#include "imex/daemon/state_file.h"
#include "imex/daemon/workshop.h"
#include "imex/host/fabric_watch.h"
#include "imex/host/node_watch.h"
#include "imex/process/child.h"
#include "imex/process/control_tool.h"
#include "imex/supervisor_metrics.h"

namespace cdom::imex {

using base::cat;
using base::Duration;
using base::Error;
using base::Result;

namespace {

// At files that others may remove or write over.
constexpr Duration kBetweenLooks = std::chrono::seconds(2);

}  // namespace

class Supervisor::Loop {
 public:
  Loop(SupervisorOptions options, const base::Clock& clock, base::Random random,
       base::FileLock lock, base::LifeMark life, AgentServer server)
      : options_(std::move(options)),
        clock_(clock),
        lock_(std::move(lock)),
        life_(std::move(life)),
        wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        server_(std::move(server)),
        keeper_(clock, random, !options_.host_socket.empty()),
        metrics_(options_.metrics, clock),
        tool_(clock),
        fabric_({.command = options_.fabric_command}, clock),
        node_({.command = options_.check_command}, clock),
        workshop_(options_),
        hosts_file_(options_.hosts_path),
        state_file_(cat(options_.directory, "/state"), options_.boot_id) {
    resume();
    metrics_.see(keeper_);
    check_driver();
  }

  void step(Duration patience);
  void run(const std::stop_token& stop, const std::function<Duration()>& beside);
  [[nodiscard]] Result<void> check() { return workshop_.check(); }

 private:
  void resume();
  Result<void> act(const Request& request);
  Result<void> forget_importers(const std::string& group) const;
  void pause_driver(bool is_paused);
  void act_on_keeper();
  [[nodiscard]] bool is_hosts() const { return !options_.host_socket.empty(); }
  void act(const StartChild& action);
  Result<void> put_hosts();
  Result<Child> start_daemon(const Want& want);
  void go_by_host(const StartChild& action);
  void act(const SignalChild& action);
  void act(const AskTool& action);
  Result<void> save();
  [[nodiscard]] DaemonStatus reported_status() const;
  void tell();
  void wait(Duration patience);
  void poll_process(const ControlTool& tool);
  void hear(ToolAnswer answer);
  void serve_daemon();
  void look_around();
  void check_driver();
  void check_credentials();
  void check_socket();
  void check_hosts();
  void reap_orphans() const;
  [[nodiscard]] bool is_withdrawn() const;
  [[nodiscard]] std::string how_it_ended(const Ending& ending) const;
  void clear_away();

  const SupervisorOptions options_;
  const base::Clock& clock_;
  const base::FileLock lock_;
  const base::LifeMark life_;
  const base::Descriptor wake_;
  AgentServer server_;
  DaemonKeeper keeper_;
  SupervisorMetrics metrics_;
  ControlTool tool_;
  FabricWatch fabric_;
  NodeWatch node_;
  Workshop workshop_;
  const HostsFile hosts_file_;
  const StateFile state_file_;
  const AgentServer::Calls calls_{[this](const Request& r) { return act(r); },
                                  [this] { return base::read_file(options_.kubelet_state_path); },
                                  [this] { return encode(reported_status(), clock_.elapsed()); },
                                  [this] { return fabric_.facts(); },
                                  [this](const Watch& watch) { node_.look_for(watch.cdi_root); }};
  std::optional<Child> daemon_;
  Relay relay_{STDERR_FILENO};  // of what it prints; base::log writes there too
  std::optional<Hosts> hosts_;
  std::optional<Error> start_error_;  // of the last start
  std::string cannot_start_;          // while no daemon runs
  Duration check_at_{}, check_credentials_at_{}, check_socket_at_{}, check_hosts_at_{};
  bool lacks_hosts_ = false;   // the file, at the last look
  std::string hosts_problem_;  // why it could not be written again
  DaemonStatus reported_;
  bool is_ending_ = false, leaves_wish_ = false, offers_tool_ = false;
  std::vector<pollfd> polled_;
};

// What cannot be written now is tried again before the daemon starts, by put_hosts().
void Supervisor::Loop::resume() {
  auto saved = state_file_.load();
  const bool is_withdrawn = this->is_withdrawn();
  if (saved && is_withdrawn) saved->wanted.reset();
  if (saved) {
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
  // Out of the file before the word about it is.
  if (is_withdrawn && save()) unlink(withdrawal_of(options_.socket_path).c_str());
  keeper_.set_hosts({hosts_ ? hosts_->text : "", hosts_file_.revision()});
}

Result<void> Supervisor::Loop::act(const Request& request) {
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
    keeper_.set_hosts(*hosts);
    return save();
  }
  if (const auto* forget = std::get_if<Forget>(&request)) return forget_importers(forget->group);
  if (const auto* pause = std::get_if<PauseDriver>(&request)) pause_driver(pause->is_paused);
  if (std::holds_alternative<Signal>(request)) keeper_.request_signal();
  if (std::holds_alternative<Stop>(request)) {
    keeper_.stop();
    // A successor must not start what may by then be another node's slot.
    return save();
  }
  return {};
}

void Supervisor::Loop::pause_driver(bool is_paused) {
  if (is_paused == fabric_.is_paused()) return;
  base::log_info(is_paused ? "NVML is not asked: the GPU driver is about to be replaced"
                           : "NVML is asked again");
  fabric_.pause(is_paused);
}

Result<void> Supervisor::Loop::forget_importers(const std::string& group) const {
  if (is_hosts()) return {};
  const DaemonStatus status = keeper_.status();
  if (status.running) {
    return Error{base::ErrorKind::Conflict, cat("nvidia-imex runs for IMEX group ", status.group)};
  }
  // The record is that of the last daemon; one of another table drops it by itself.
  if (!status.group.empty() && status.group != group) return {};
  if (unlink(options_.persist_path.c_str()) != 0 && errno != ENOENT) {
    return base::system_error(cat("cannot remove ", options_.persist_path));
  }
  return {};
}

void Supervisor::Loop::act_on_keeper() {
  while (const auto action = keeper_.next()) {
    std::visit([this](const auto& one) { act(one); }, *action);
  }
}

// A daemon that starts without its peers' addresses would not dial them later either.
Result<void> Supervisor::Loop::put_hosts() {
  if (!hosts_) return {};
  if (auto written = hosts_file_.write(*hosts_); !written) {
    return Error{written.error().kind,
                 cat("nvidia-imex would not find its peers' addresses: ", written.error().message)};
  }
  keeper_.set_hosts(*hosts_);
  return {};
}

Result<Child> Supervisor::Loop::start_daemon(const Want& want) {
  if (auto put = put_hosts(); !put) return put.error();
  auto command = workshop_.prepare(want);
  if (!command) return command.error();
  command->captures_output = true;
  command->kept_descriptor = life_.descriptor();
  return Child::start(*command);
}

void Supervisor::Loop::act(const StartChild& action) {
  // What is left of an earlier question is about another daemon.
  tool_.forget();
  keeper_.answered({});
  if (is_hosts()) return go_by_host(action);
  auto child = start_daemon(action.want);
  if (!child) {
    base::log_error("cannot start nvidia-imex",
                    {{"group", action.want.group}, {"error", child.error().message}});
    start_error_ = child.error();
    metrics_.failed_to_start();
    return keeper_.failed_to_start(child.error());
  }
  daemon_.emplace(std::move(*child));
  relay_.begin();
  keeper_.started();
  metrics_.started();
  const auto saved = save();
  if (!saved) base::log_warning(saved.error().message);
  base::log_info("started nvidia-imex", {{"group", action.want.group},
                                         {"instance", action.instance},
                                         {"pid", std::to_string(daemon_->pid())}});
}

// Nothing is started: what the host runs is asked from now on.
void Supervisor::Loop::go_by_host(const StartChild& action) {
  if (const auto found = workshop_.prepare_host_tool(); !found) {
    start_error_ = found.error();
    return keeper_.failed_to_start(found.error());
  }
  keeper_.started();
  if (const auto saved = save(); !saved) base::log_warning(saved.error().message);
  base::log_info("using the host's nvidia-imex",
                 {{"group", action.want.group}, {"socket", options_.host_socket}});
}

void Supervisor::Loop::act(const SignalChild& action) {
  if (is_hosts()) {
    if (action.number == SIGTERM) keeper_.ended("");
    return;
  }
  base::log_info("signal to nvidia-imex", {{"signal", std::to_string(action.number)}});
  if (daemon_) daemon_->signal(action.number);
}

void Supervisor::Loop::act(const AskTool& action) {
  if (action.question == AskTool::Question::State) {
    tool_.ask(workshop_.control_tool({"-q"}), options_.state_patience);
  } else {
    tool_.ask(workshop_.control_tool({"-N", "-j"}), keeper_.view_time());
  }
}

Result<void> Supervisor::Loop::save() {
  return state_file_.save({keeper_.status(), keeper_.wanted(), hosts_});
}

DaemonStatus Supervisor::Loop::reported_status() const {
  DaemonStatus status = keeper_.status();
  status.address = options_.address;
  if (!status.running) status.cannot_start = cannot_start_;
  status.driver_paused = fabric_.is_paused();
  status.lacks = node_.lacks();
  status.looks = !options_.check_command.empty();
  // By its successor.
  if (leaves_wish_ && !status.running) status.starts_again = true;
  return status;
}

void Supervisor::Loop::tell() {
  DaemonStatus status = reported_status();
  if (status == reported_) return;
  if (status.phase != reported_.phase || status.message != reported_.message) {
    base::log_info("nvidia-imex",
                   {{"state", std::string(name_of(status.phase))}, {"message", status.message}});
  }
  reported_ = std::move(status);
  metrics_.see(keeper_);
  server_.publish(calls_);
}

void Supervisor::Loop::wait(Duration patience) {
  const Duration now = clock_.elapsed();
  const auto check_due = daemon_ ? std::nullopt : std::optional(check_at_);
  const bool has_credentials = daemon_ && !options_.tls_directory.empty();
  const auto credentials_due =
      has_credentials ? std::optional(check_credentials_at_) : std::nullopt;
  const auto hosts_due = lacks_hosts_ ? std::optional(check_hosts_at_) : std::nullopt;
  for (const auto& due :
       {keeper_.next_due(), tool_.next_due(), fabric_.next_due(), node_.next_due(),
        server_.next_due(), check_due, credentials_due, hosts_due}) {
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
  poll_process(tool_);
  poll_process(fabric_.process());
  poll_process(node_.process());
  server_.add_to(polled_);
  const timespec most{.tv_sec = patience / std::chrono::seconds(1),
                      .tv_nsec = (patience % std::chrono::seconds(1)).count()};
  if (options_.pulse != nullptr) options_.pulse->rest();
  if (ppoll(polled_.data(), polled_.size(), &most, nullptr) <= 0) {
    for (pollfd& one : polled_) one.revents = 0;
  }
  if (options_.pulse != nullptr) options_.pulse->beat();
}

void Supervisor::Loop::poll_process(const ControlTool& tool) {
  const Child* process = tool.child();
  if (process == nullptr) return;
  polled_.push_back({.fd = process->exit_descriptor(), .events = POLLIN, .revents = 0});
  if (!tool.has_output()) return;
  polled_.push_back({.fd = process->output_descriptor(), .events = POLLIN, .revents = 0});
}

void Supervisor::Loop::look_around() {
  node_.see_agents(server_.agents());
  node_.step();
  if (!fabric_.step()) return;
  const std::string& error = fabric_.facts()->error;
  // Of a driver that does not answer what it has said before stands.
  if (const auto is_on = nvidia::is_persistent(*fabric_.facts())) node_.see_persistence(*is_on);
  if (!error.empty()) base::log_warning("cannot read the NVLink fabric", {{"error", error}});
  metrics_.see(nvidia::verdict_of(*fabric_.facts(), options_.fabric_mode));
  server_.publish_fabric(calls_);
}

void Supervisor::Loop::step(Duration patience) {
  act_on_keeper();
  look_around();
  tell();
  wait(patience);
  if (daemon_) serve_daemon();
  relay_.give();
  if (auto answer = tool_.poll()) hear(*std::move(answer));
  look_around();
  server_.serve(polled_, calls_);
  check_driver();
  check_credentials();
  check_socket();
  check_hosts();
  if (options_.reaps_orphans) reap_orphans();
  act_on_keeper();
  tell();
}

// Our own daemon is known to live by its process: a tool that cannot be run or loaded, as while the
// driver's packages are exchanged, says nothing of it. The host's may have gone along with its
// tool.
void Supervisor::Loop::hear(ToolAnswer answer) {
  if (auto complaint = loader_complaint(answer); complaint && !is_hosts()) {
    answer = {ToolAnswer::Outcome::Unasked, *std::move(complaint), /*has_run=*/false};
  }
  if (!answer.has_run && !is_hosts()) answer.outcome = ToolAnswer::Outcome::Unasked;
  if (answer.outcome == ToolAnswer::Outcome::Answer) workshop_.host_tool_answered();
  if (answer.outcome == ToolAnswer::Outcome::Refusal) workshop_.host_tool_refused();
  const auto question = keeper_.asking();
  keeper_.answered(answer);
  if (question) metrics_.answered(*question, answer.outcome, keeper_);
}

// Looked at again now and then while no daemon runs: a driver may be installed at any time.
void Supervisor::Loop::check_driver() {
  constexpr Duration kWhileUsable = std::chrono::seconds(10), kElse = std::chrono::seconds(2);
  if (daemon_ || clock_.elapsed() < check_at_) return;
  const auto usable = check();
  cannot_start_ = usable ? "" : usable.error().message;
  if (usable && !offers_tool_) {
    const auto offered = workshop_.offer_tool();
    if (!offered) base::log_warning(offered.error().message);
  }
  offers_tool_ = usable.has_value();
  check_at_ = clock_.elapsed() + (usable ? kWhileUsable : kElse);
}

// Nothing waits for that: the loop comes by every ten seconds at least.
void Supervisor::Loop::check_socket() {
  if (clock_.elapsed() < check_socket_at_) return;
  check_socket_at_ = clock_.elapsed() + kBetweenLooks;
  server_.look_after_file();
}

// With each container of a pod that starts, also an ephemeral one, kubelet writes over the hosts
// file of all of them (kubelet_pods.go, ensureHostsFile). It cuts the file first, and would write
// over a part of what came in that moment, so a second look decides.
void Supervisor::Loop::check_hosts() {
  constexpr Duration kSecondLook = std::chrono::milliseconds(200);
  if (!daemon_ || !hosts_) {
    lacks_hosts_ = false;  // it is written before the next start
    return;
  }
  if (clock_.elapsed() < check_hosts_at_) return;
  const bool has_lacked = std::exchange(lacks_hosts_, !hosts_file_.has(*hosts_));
  check_hosts_at_ = clock_.elapsed() + (lacks_hosts_ && !has_lacked ? kSecondLook : kBetweenLooks);
  if (!lacks_hosts_) hosts_problem_.clear();
  if (!lacks_hosts_ || !has_lacked) return;
  if (const auto written = hosts_file_.write(*hosts_); !written) {
    const std::string& problem = written.error().message;
    if (problem != hosts_problem_) {
      base::log_warning(
          "the peers' addresses are gone from the hosts file and cannot be written "
          "again: nvidia-imex does not find peers that it dials",
          {{"error", problem}});
    }
    hosts_problem_ = problem;
    return;
  }
  lacks_hosts_ = false;
  hosts_problem_.clear();
  base::log_warning(
      "the peers' addresses were gone from the hosts file, and were written again: "
      "kubelet, for one, writes over it when a container of this pod starts",
      {{"path", hosts_file_.path()}});
  // What it has dialled meanwhile it would dial again only after a while.
  if (keeper_.missing() > 0) keeper_.request_signal();
}

// They are renewed by whatever mounts them; the daemon reads them at the start and at SIGUSR1.
void Supervisor::Loop::check_credentials() {
  if (!daemon_ || options_.tls_directory.empty() || clock_.elapsed() < check_credentials_at_)
    return;
  check_credentials_at_ = clock_.elapsed() + options_.tls_interval;
  if (!workshop_.has_new_credentials()) return;
  base::log_info("new TLS files for nvidia-imex", {{"directory", options_.tls_directory}});
  keeper_.request_signal();
}

// The first process of a container inherits those whose parents have ended. Its own children are
// left to those who wait for them.
void Supervisor::Loop::reap_orphans() const {
  for (;;) {
    siginfo_t ended{};
    if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == 0) return;
    if ((daemon_ && daemon_->pid() == ended.si_pid) || tool_.has(ended.si_pid) ||
        fabric_.process().has(ended.si_pid) || node_.process().has(ended.si_pid) ||
        workshop_.has(ended.si_pid)) {
      return;
    }
    waitpid(ended.si_pid, nullptr, WNOHANG);
  }
}

bool Supervisor::Loop::is_withdrawn() const {
  return access(withdrawal_of(options_.socket_path).c_str(), F_OK) == 0;
}

void Supervisor::Loop::serve_daemon() {
  const auto ending = daemon_->reap();
  // What it has printed to its end is there now, whoever else still holds the pipe.
  keeper_.printed(relay_.take(daemon_->output_descriptor(), clock_.elapsed()));
  if (!ending) return;
  daemon_.reset();
  keeper_.ended(how_it_ended(*ending));
  tell();
  act_on_keeper();  // before anything else: a workload waits for it
}

std::string Supervisor::Loop::how_it_ended(const Ending& ending) const {
  std::string how = to_string(ending);
  const std::string words = relay_.last_words(clock_.elapsed());
  if (!words.empty()) how += cat("; its last words: ", words);
  const auto file = options_.imex_options.find("LOG_FILE_NAME");
  if (file != options_.imex_options.end() && !file->second.empty()) {
    how += cat("; its log is ", file->second);
  }
  return how;
}

void Supervisor::Loop::run(const std::stop_token& stop, const std::function<Duration()>& beside) {
  const std::stop_callback on_stop(stop, [this] {
    const std::uint64_t one = 1;
    (void)!write(wake_.get(), &one, sizeof one);
  });
  while (!stop.stop_requested()) step(beside());
  // The wish stays saved: a successor of this boot goes on with it.
  std::uint64_t count = 0;
  (void)!read(wake_.get(), &count, sizeof count);
  is_ending_ = true;
  fabric_.end();
  node_.end();
  const bool is_wanted = keeper_.wanted().has_value();
  leaves_wish_ = is_wanted && !is_hosts();
  keeper_.stop();
  while (daemon_) step(std::chrono::hours(1));
  // Nobody else can have it: the lock is ours.
  unlink(options_.socket_path.c_str());
  if (!is_wanted) clear_away();
}

// Nothing of it is of use to a successor. The lock goes last, and with it what is ours to remove.
void Supervisor::Loop::clear_away() {
  workshop_.clear_away();
  state_file_.remove();
  unlink(life_mark_of(options_.socket_path).c_str());
  unlink(cat(options_.directory, "/lock").c_str());
  rmdir(options_.directory.c_str());
}

Result<std::unique_ptr<Supervisor>> Supervisor::open(SupervisorOptions options,
                                                     const base::Clock& clock,
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
  auto server =
      AgentServer::listen(options.socket_path, std::move(allowed), options.program, clock);
  if (!server) return server.error();
  // Before anything that an agent may have withdrawn is read: it looks whether this is held last.
  auto life = base::LifeMark::hold(life_mark_of(options.socket_path));
  if (!life) return life.error();
  return std::unique_ptr<Supervisor>(new Supervisor(std::make_unique<Loop>(
      std::move(options), clock, random, *std::move(lock), *std::move(life), *std::move(server))));
}

Supervisor::Supervisor(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
Supervisor::~Supervisor() = default;
void Supervisor::step(Duration patience) { loop_->step(patience); }
void Supervisor::run(const std::stop_token& stop, const std::function<Duration()>& beside) {
  loop_->run(stop, beside);
}
Result<void> Supervisor::check() const { return loop_->check(); }

}  // namespace cdom::imex
