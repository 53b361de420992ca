#include "agent/agent_metrics.h"

#include "compute_domain/api/names.h"

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

base::Number& prepares(base::Registry& registry, AgentMetrics::Outcome outcome) {
  return registry.counter("compute_domain_agent_prepares_total",
                          "Answers to NodePrepareResources, one per claim, by outcome.",
                          {{"outcome", name_of(outcome)}});
}

base::Histogram& prepare_seconds(base::Registry& registry, AgentMetrics::Outcome outcome) {
  return registry.histogram("compute_domain_agent_prepare_seconds",
                            "From kubelet's question to the answer, for one claim.",
                            {0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 45},
                            {{"outcome", name_of(outcome)}});
}

base::Number& unprepares(base::Registry& registry) {
  return registry.counter("compute_domain_agent_unprepares_total",
                          "Answers to NodeUnprepareResources, one per claim.");
}

base::Number& restarts(base::Registry& registry) {
  return registry.counter(
      "compute_domain_agent_imex_restarts_total",
      "Starts of the IMEX daemon in the place of one that had ended by itself, or with its "
      "supervisor.");
}

// The names and buckets of NVIDIA's DRA driver, so that its dashboards go on.
base::Number& requests(base::Registry& registry, const std::string& operation) {
  return registry.counter(
      "nvidia_dra_requests_total",
      "Claims that kubelet had prepared or unprepared, by NVIDIA's DRA driver's name.",
      {{"driver", api::kDriver}, {"operation", operation}});
}

base::Histogram& request_seconds(base::Registry& registry, const std::string& operation) {
  return registry.histogram("nvidia_dra_request_duration_seconds",
                            "From kubelet's question to the answer, by NVIDIA's DRA driver's name.",
                            {0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8},
                            {{"driver", api::kDriver}, {"operation", operation}});
}

}  // namespace

// What has not happened yet counts 0, so that a rate finds it. Each outcome other than Prepared has
// times only once it has come, as on most nodes it never does.
AgentMetrics::AgentMetrics(base::Registry* registry) : registry_(registry) {
  if (registry_ == nullptr) return;
  for (const Outcome outcome : {Outcome::Prepared, Outcome::Failed, Outcome::Refused}) {
    prepares(*registry_, outcome);
  }
  prepare_seconds(*registry_, Outcome::Prepared);
  unprepares(*registry_);
  restarts(*registry_);
  for (const char* operation : {"prepare", "unprepare"}) {
    requests(*registry_, operation);
    request_seconds(*registry_, operation);
  }
  refused_prepares();
  failed_unprepares();
}

void AgentMetrics::answered(Operation operation, const CallAnswer& answer) const {
  if (registry_ == nullptr) return;
  const bool prepares = operation == Operation::Prepare;
  if (prepares) {
    answered_prepare(answer);
  } else {
    unprepares(*registry_).add();
    if (!answer.error.empty()) failed_unprepares().add();
  }
  const std::string name = prepares ? "prepare" : "unprepare";
  requests(*registry_, name).add();
  if (answer.took) {
    request_seconds(*registry_, name).observe(std::chrono::duration<double>(*answer.took).count());
  }
}

void AgentMetrics::answered_prepare(const CallAnswer& answer) const {
  const Outcome outcome = answer.error.empty() ? Outcome::Prepared
                          : answer.permanent   ? Outcome::Refused
                                               : Outcome::Failed;
  prepares(*registry_, outcome).add();
  if (outcome != Outcome::Prepared) refused_prepares().add();
  if (!answer.took) return;
  prepare_seconds(*registry_, outcome).observe(std::chrono::duration<double>(*answer.took).count());
}

base::Number& AgentMetrics::refused_prepares() const {
  return registry_->counter("nvidia_dra_node_prepare_errors_total",
                            "Claims that kubelet was refused, by NVIDIA's DRA driver's name.",
                            {{"driver", api::kDriver}, {"error_type", "prepare_devices"}});
}

base::Number& AgentMetrics::failed_unprepares() const {
  return registry_->counter(
      "nvidia_dra_node_unprepare_errors_total",
      "Claims that could not be unprepared in time, for which kubelet asks again; by NVIDIA's DRA "
      "driver's name.",
      {{"driver", api::kDriver}, {"error_type", "unprepare_devices"}});
}

void AgentMetrics::see(const core::NodeWorld& world) {
  if (registry_ == nullptr) return;
  see_daemon(world.daemon);
  const auto in_flight = [&](const std::string& operation, std::size_t calls) {
    registry_
        ->gauge("nvidia_dra_requests_inflight",
                "Claims that kubelet waits for now, by NVIDIA's DRA driver's name.",
                {{"driver", api::kDriver}, {"operation", operation}})
        .set(static_cast<double>(calls));
  };
  in_flight("prepare", world.prepares.size());
  in_flight("unprepare", world.unprepares.size());
  std::size_t devices = 0;
  for (const auto& [uid, claim] : world.checkpoint.claims) {
    if (claim.phase == core::ClaimPhase::Completed) devices += claim.devices.size();
  }
  registry_
      ->gauge("nvidia_dra_prepared_devices",
              "Devices of claims that are prepared, by NVIDIA's DRA driver's name.",
              {{"node", world.self.name}, {"driver", api::kDriver}, {"device_type", "channel"}})
      .set(static_cast<double>(devices));
}

void AgentMetrics::see_daemon(const std::optional<core::SeenDaemon>& daemon) {
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
  if (!daemon) return;
  // It was stopped on purpose, so the next one does not take the place of one that has ended.
  if (daemon->phase == base::DaemonPhase::Stopped) instance_.clear();
  if (daemon->running && daemon->instance != instance_) count_start(*daemon);
}

void AgentMetrics::count_start(const core::SeenDaemon& daemon) {
  // The agent does not know how a daemon that it finds at its own start came to be.
  const bool is_restart = !instance_.empty() && daemon.group == group_;
  if (is_restart) restarts(*registry_).add();
  group_ = daemon.group;
  instance_ = daemon.instance;
}

}  // namespace cdom::agent
