#include <cstdio>
#include <cstdlib>

#include "bin/agent_run.h"
#include "compute_domain/agent/file_fabric.h"

namespace cdom::bin {

int print_fabric(const AgentFlags& flags, const Signals& signals) {
  const agent::FabricMode mode = fabric_mode_of(flags);
  agent::NvmlAnswer answer;
  if (flags.fabric_file.empty()) {
    answer = agent::read_nvml_within_patience(nvml_of(flags), signals.token());
  } else {
    answer.facts = agent::FileFabric(flags.fabric_file, mode).facts();
  }
  std::fputs(agent::describe_fabric(answer.facts, mode).c_str(), stdout);
  const int code = agent::reading_of(answer.facts, mode).error.empty() ? 0 : 1;
  if (answer.is_left_behind) {
    std::fflush(stdout);
    std::quick_exit(code);
  }
  return code;
}

}  // namespace cdom::bin
