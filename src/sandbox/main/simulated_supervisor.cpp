#include "sandbox/main/simulated_supervisor.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "compute_domain/base/text.h"

namespace cdom::program {
namespace {

// Between two looks at links, of which each is one of all peers: what the daemon prints within it
// costs a real supervisor one question (imex::KeeperTimes, line_pause).
constexpr base::Duration kLinePause = std::chrono::milliseconds(5);

base::DaemonPhase phase_of(sandbox::ImexState state) {
  switch (state) {
    case sandbox::ImexState::Ready:
      return base::DaemonPhase::Ready;
    case sandbox::ImexState::WaitingForRecovery:
      return base::DaemonPhase::Recovering;
    default:
      return base::DaemonPhase::Starting;
  }
}

}  // namespace

base::Result<base::DaemonStatus> SimulatedSupervisor::status() {
  // The end was told before: who asks sees each of them.
  if (start_at_ && *start_at_ <= clock_.elapsed() && !start(wanted_)) {
    start_at_ = clock_.elapsed() + policy_.next_pause(std::nullopt);
  }
  last_.running = imex_.is_running();
  last_.stopping = last_.running && is_told_to_stop_;
  if (!last_.running) {
    note_look();
    see_ended();
  } else if (has_news()) {
    note_look();
    see_running();
  }
  last_.starts_again = start_at_.has_value();
  // As a real supervisor, which looks while no daemon of its own runs.
  last_.cannot_start = last_.running ? "" : cannot_start_();
  return last_;
}

bool SimulatedSupervisor::has_news() const {
  if (imex_.revision() == seen_) return false;
  const bool is_of_links = imex_.revision() - seen_ == imex_.link_changes() - seen_links_;
  return !is_of_links || clock_.elapsed() >= looked_at_ + kLinePause;
}

std::optional<base::Duration> SimulatedSupervisor::next_due() const {
  if (imex_.revision() == seen_) return start_at_;
  const base::Duration look = looked_at_ + kLinePause;
  return std::min(start_at_.value_or(look), look);
}

void SimulatedSupervisor::note_look() {
  seen_ = imex_.revision();
  seen_links_ = imex_.link_changes();
  looked_at_ = clock_.elapsed();
}

void SimulatedSupervisor::see_running() {
  last_.peers.clear();
  last_.message.clear();
  if (const auto view = imex_.query()) {
    last_.answers = true;
    last_.phase = phase_of(view->state);
    connect_slots(view->peers);
  } else if (last_.answers) {
    last_.phase = base::DaemonPhase::Failed;
    last_.message = "nvidia-imex does not answer";
  } else {
    last_.phase = base::DaemonPhase::Starting;
  }
  if (last_.phase == base::DaemonPhase::Ready && !ready_at_) ready_at_ = clock_.elapsed();
}

void SimulatedSupervisor::see_ended() {
  const bool ended_by_itself = !last_.instance.empty() && !is_told_to_stop_;
  last_.peers.clear();
  last_.message.clear();
  last_.answers = false;
  last_.phase = ended_by_itself ? base::DaemonPhase::Failed : base::DaemonPhase::Stopped;
  if (!ended_by_itself) return;
  last_.message = "nvidia-imex has ended";
  if (start_at_) return;
  const base::Duration now = clock_.elapsed();
  const auto ready_for = ready_at_ ? std::optional(now - *ready_at_) : std::nullopt;
  start_at_ = now + policy_.next_pause(ready_for);
}

void SimulatedSupervisor::connect_slots(const std::vector<sandbox::ImexPeer>& peers) {
  for (const sandbox::ImexPeer& peer : peers) {
    if (peer.link != sandbox::ImexLink::Connected) continue;
    last_.peers[static_cast<std::int64_t>(peer.index)] = base::kConnected;
  }
}

base::Result<void> SimulatedSupervisor::write_hosts(const core::WriteHosts& hosts) {
  std::map<std::string, std::string> address_by_name;
  std::istringstream lines(hosts.text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string address, name;
    words >> address;
    while (words >> name) address_by_name.emplace(name, address);
  }
  imex_.set_hosts(std::move(address_by_name));
  last_.hosts_revision = hosts.revision;
  return {};
}

base::Result<void> SimulatedSupervisor::forget_importers(const std::string& group) {
  if (imex_.is_running()) return base::Error{base::ErrorKind::Conflict, "an IMEX daemon runs"};
  imex_.remove_record(group);
  return {};
}

base::Result<void> SimulatedSupervisor::start(const core::StartDaemon& config) {
  if (std::string why = cannot_start_(); !why.empty()) {
    return base::Error{base::ErrorKind::Conflict, std::move(why)};
  }
  std::vector<std::string> table;
  std::istringstream lines(config.table_text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) table.push_back(line);
  }
  auto instance = imex_.start({config.group, std::move(table), config.address});
  if (!instance) return instance.error();
  is_told_to_stop_ = false;
  wanted_ = config;
  ready_at_.reset();
  start_at_.reset();
  base::DaemonStatus started;
  started.running = true;
  started.group = config.group;
  started.table_hash = config.table_hash;
  started.slot = config.slot;
  started.instance = *std::move(instance);
  started.phase = base::DaemonPhase::Starting;
  started.hosts_revision = last_.hosts_revision;
  started.driver_paused = last_.driver_paused;
  last_ = std::move(started);
  return {};
}

base::Result<void> SimulatedSupervisor::signal() {
  imex_.signal_usr1();
  last_.signalled = clock_.elapsed();
  return {};
}

base::Result<void> SimulatedSupervisor::stop() {
  is_told_to_stop_ = true;
  start_at_.reset();
  policy_ = {};
  imex_.stop();
  return {};
}

// It does not end before its node.
base::Result<void> SimulatedSupervisor::withdraw() {
  return base::Error{base::ErrorKind::Conflict, "the simulated compute-domain-imex is there"};
}

// There is no driver, but the word.
base::Result<void> SimulatedSupervisor::pause_driver(bool is_paused) {
  last_.driver_paused = is_paused;
  return {};
}

}  // namespace cdom::program
