#include "imex/supervisor_metrics.h"

#include <array>
#include <chrono>
#include <string>

namespace cdom::imex {

namespace {

using Outcome = ToolAnswer::Outcome;
using Question = AskTool::Question;

// The words of an agent's metric of the same state, which are those of a report.
constexpr std::array<std::pair<base::DaemonPhase, const char*>, 5> kStates{
    {{base::DaemonPhase::Stopped, "Stopped"},
     {base::DaemonPhase::Starting, "Starting"},
     {base::DaemonPhase::Recovering, "Recovering"},
     {base::DaemonPhase::Ready, "Ready"},
     {base::DaemonPhase::Failed, "Failed"}}};
// No view has shown the peer yet, or only with a letter that is not known.
constexpr char kNotKnown = '?';
// The IMEX guide's names of the connection letters.
constexpr std::array<std::pair<char, const char*>, 9> kPeers{{{base::kConnected, "Connected"},
                                                              {'A', "Authenticating"},
                                                              {'N', "NeverConnected"},
                                                              {'R', "Recovering"},
                                                              {'D', "Disconnected"},
                                                              {'I', "Invalid"},
                                                              {'V', "VersionMismatch"},
                                                              {'M', "NodeMapMismatch"},
                                                              {kNotKnown, "NotKnown"}}};
constexpr std::array<std::pair<Question, const char*>, 2> kQuestions{
    {{Question::State, "State"}, {Question::View, "View"}}};
constexpr std::array<std::pair<Outcome, const char*>, 4> kOutcomes{{{Outcome::Answer, "Answer"},
                                                                    {Outcome::Refusal, "Refusal"},
                                                                    {Outcome::Silence, "Silence"},
                                                                    {Outcome::Unasked, "Unasked"}}};

base::Number& state(base::Registry& registry, const std::string& name) {
  return registry.gauge("compute_domain_imex_state",
                        "1 for the state of the IMEX daemon, as its supervisor knows it.",
                        {{"state", name}});
}

base::Number& peers(base::Registry& registry, const std::string& name) {
  return registry.gauge("compute_domain_imex_peers",
                        "Peers that the running IMEX daemon should be connected to, by the state "
                        "of the connection.",
                        {{"state", name}});
}

base::Number& questions(base::Registry& registry, const std::string& question,
                        const std::string& outcome) {
  return registry.counter("compute_domain_imex_questions_total",
                          "Questions to nvidia-imex-ctl, by what was asked (the daemon's State, or "
                          "its View of all nodes) and what came of them.",
                          {{"question", question}, {"outcome", outcome}});
}

base::Number& starts(base::Registry& registry, const std::string& outcome) {
  return registry.counter("compute_domain_imex_starts_total",
                          "Starts of nvidia-imex by this supervisor, by outcome.",
                          {{"outcome", outcome}});
}

base::Number& deaths(base::Registry& registry) {
  return registry.counter("compute_domain_imex_deaths_total",
                          "Ends of nvidia-imex that nobody asked for, under this supervisor.");
}

base::Number& start_time(base::Registry& registry) {
  return registry.gauge("compute_domain_imex_last_start_timestamp_seconds",
                        "When this supervisor last started nvidia-imex, since the Unix epoch.");
}

base::Number& ready_time(base::Registry& registry) {
  return registry.gauge("compute_domain_imex_last_ready_timestamp_seconds",
                        "When nvidia-imex-ctl last answered for an IMEX daemon that is READY, "
                        "since the Unix epoch.");
}

// The reasons are those of a report.
base::Number& fabric_error(base::Registry& registry, const std::string& reason) {
  return registry.gauge("compute_domain_imex_fabric_error",
                        "1 for what is wrong with the node's NVLink fabric by NVML's last answer "
                        "to this supervisor: FabricUnreadable (the clique is not known), "
                        "FabricUnhealthy (a GPU of the clique cannot share memory over it; stays "
                        "while the fabric is unreadable).",
                        {{"reason", reason}});
}

double seconds_of(const base::Clock& clock) {
  return std::chrono::duration<double>(clock.now().time_since_epoch()).count();
}

}  // namespace

SupervisorMetrics::SupervisorMetrics(base::Registry* registry, const base::Clock& clock)
    : registry_(registry), clock_(clock) {
  if (registry_ == nullptr) return;
  for (const auto& [phase, name] : kStates) states_[phase] = &state(*registry_, name);
  for (const auto& [letter, name] : kPeers) peers_[letter] = &peers(*registry_, name);
  for (const auto& [question, asked] : kQuestions) {
    for (const auto& [outcome, name] : kOutcomes) {
      questions_[{question, outcome}] = &questions(*registry_, asked, name);
    }
  }
  starts_ = &starts(*registry_, "Started");
  failed_starts_ = &starts(*registry_, "Failed");
  deaths_ = &deaths(*registry_);
}

void SupervisorMetrics::see(const DaemonKeeper& keeper) {
  if (registry_ == nullptr) return;
  const DaemonStatus status = keeper.status();
  for (const auto& [phase, number] : states_) number->set(phase == status.phase ? 1 : 0);
  deaths_->set(keeper.deaths());
  std::map<char, int> count;
  // The peers of the host's own daemon are not known.
  if (status.running && !status.host_managed) {
    for (const std::int64_t slot : keeper.awaited()) {
      const auto peer = status.peers.find(slot);
      const bool is_known = peer != status.peers.end() && peers_.contains(peer->second);
      ++count[is_known ? peer->second : kNotKnown];
    }
  }
  for (const auto& [letter, number] : peers_) number->set(count[letter]);
}

void SupervisorMetrics::see(const nvidia::FabricVerdict& fabric) {
  if (registry_ == nullptr) return;
  if (unreadable_ == nullptr) {
    unreadable_ = &fabric_error(*registry_, "FabricUnreadable");
    unhealthy_ = &fabric_error(*registry_, "FabricUnhealthy");
  }
  unreadable_->set(fabric.clique ? 0 : 1);
  // Of a driver that does not answer what it has said before stands, as with the agent.
  if (fabric.clique) unhealthy_->set(fabric.unhealthy.empty() ? 0 : 1);
}

void SupervisorMetrics::started() {
  if (registry_ == nullptr) return;
  starts_->add();
  if (start_time_ == nullptr) start_time_ = &start_time(*registry_);
  start_time_->set(seconds_of(clock_));
}

void SupervisorMetrics::failed_to_start() {
  if (registry_ != nullptr) failed_starts_->add();
}

void SupervisorMetrics::answered(Question question, Outcome outcome, const DaemonKeeper& keeper) {
  if (registry_ == nullptr) return;
  questions_.at({question, outcome})->add();
  if (outcome == Outcome::Answer && keeper.status().phase == base::DaemonPhase::Ready) {
    if (ready_time_ == nullptr) ready_time_ = &ready_time(*registry_);
    ready_time_->set(seconds_of(clock_));
  }
}

}  // namespace cdom::imex
