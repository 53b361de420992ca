#include <cstdio>

#include "bin/agent_run.h"
#include "compute_domain/agent/file_fabric.h"

namespace cdom::bin {

int print_fabric(const AgentFlags& flags) {
  const agent::FabricMode mode = fabric_mode_of(flags);
  const agent::FabricFacts facts = flags.fabric_file.empty()
                                       ? agent::read_nvml(nvml_of(flags))
                                       : agent::FileFabric(flags.fabric_file, mode).facts();
  std::fputs(agent::describe_fabric(facts, mode).c_str(), stdout);
  return agent::reading_of(facts, mode).error.empty() ? 0 : 1;
}

}  // namespace cdom::bin
