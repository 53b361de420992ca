#include <thread>

#include "agent/main/agent_run.h"
#include "cli/command_line.h"
#include "compute_domain/agent/file_fabric.h"
#include "compute_domain/agent/imex_client.h"
#include "compute_domain/base/text.h"

namespace cdom::program {

namespace {

// The supervisor's patience with NVML, and some.
constexpr base::Duration kPatience = std::chrono::seconds(12),
                         kPoll = std::chrono::milliseconds(50);

agent::FabricFacts ask_supervisor(const AgentFlags& flags, const cli::Signals& signals) {
  const base::SystemClock clock;
  agent::ImexClient supervisor(flags.imex_socket, base::cat(kAgentProgram, "/", CDOM_VERSION),
                               clock, {.is_agent = false});
  const base::Duration end = clock.elapsed() + kPatience;
  agent::FabricFacts none;
  none.source = flags.imex_socket;
  for (;;) {
    const auto status = supervisor.status();
    if (supervisor.fabric()) return *supervisor.fabric();
    none.error = status ? "compute-domain-imex reports no NVLink fabric" : status.error().message;
    if (!status || clock.elapsed() >= end || signals.token().stop_requested()) return none;
    std::this_thread::sleep_for(kPoll);
  }
}

}  // namespace

agent::FabricFacts ask_fabric(const AgentFlags& flags, const cli::Signals& signals) {
  if (flags.fabric_file.empty()) return ask_supervisor(flags, signals);
  return agent::FileFabric(flags.fabric_file, flags.node.mode_of_fabric()).facts();
}

int print_fabric(const AgentFlags& flags, const cli::Signals& signals) {
  const agent::FabricMode mode = flags.node.mode_of_fabric();
  const agent::FabricFacts facts = ask_fabric(flags, signals);
  return cli::print(kAgentProgram, nvidia::describe_fabric(facts, mode),
                    nvidia::verdict_of(facts, mode).error.empty() ? 0 : 1);
}

}  // namespace cdom::program
