#include "agent/agent_metrics.h"

namespace cdom::agent {

namespace {

const char* name_of(AgentMetrics::Outcome outcome) {
  switch (outcome) {
    case AgentMetrics::Outcome::Prepared:
      return "Prepared";
    case AgentMetrics::Outcome::Failed:
      return "Failed";
    case AgentMetrics::Outcome::Refused:
      return "Refused";
  }
  return "Failed";
}

std::string state_of(const std::optional<core::SeenDaemon>& daemon) {
  return daemon ? std::string(api::to_string(core::state_of(daemon->phase))) : "SupervisorSilent";
}

}  // namespace

void AgentMetrics::answered_prepare(Outcome outcome, base::Duration took) const {
  if (registry_ == nullptr) return;
  const base::Registry::Labels labels = {{"outcome", name_of(outcome)}};
  registry_
      ->counter("compute_domain_agent_prepares_total",
                "Answers to NodePrepareResources, one per claim, by outcome.", labels)
      .add();
  registry_
      ->histogram("compute_domain_agent_prepare_seconds",
                  "From kubelet's question to the answer, for one claim.",
                  {0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 45}, labels)
      .observe(std::chrono::duration<double>(took).count());
}

void AgentMetrics::answered_unprepare() const {
  if (registry_ == nullptr) return;
  registry_
      ->counter("compute_domain_agent_unprepares_total",
                "Answers to NodeUnprepareResources, one per claim.")
      .add();
}

void AgentMetrics::see(const std::optional<core::SeenDaemon>& daemon) {
  if (registry_ == nullptr) return;
  const std::string now = state_of(daemon);
  if (state_ != now) {
    const auto gauge = [&](const std::string& state) -> base::Number& {
      return registry_->gauge("compute_domain_agent_imex_state",
                              "1 for the state that the IMEX daemon is in.", {{"state", state}});
    };
    if (state_) gauge(*state_).set(0);
    gauge(now).set(1);
    state_ = now;
  }
  if (daemon && daemon->running && daemon->instance != instance_) count_start(*daemon);
}

void AgentMetrics::count_start(const core::SeenDaemon& daemon) {
  // Of the daemon that an agent finds at its own start it does not know how it came to be.
  const bool is_restart = !instance_.empty() && daemon.group == group_;
  if (is_restart) {
    registry_
        ->counter("compute_domain_agent_imex_restarts_total",
                  "Starts of the IMEX daemon for a group that it had served before.")
        .add();
  }
  group_ = daemon.group;
  instance_ = daemon.instance;
}

}  // namespace cdom::agent
