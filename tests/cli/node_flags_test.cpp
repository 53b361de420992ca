// The flags that both programs of a node have: what one of them refuses, so does the other.
#include "node_check/main/node_flags.h"

#include <gmock/gmock.h>

#include "agent/main/agent_flags.h"
#include "cli/refusal.h"
#include "cli/variable.h"
#include "compute_domain/base/text.h"
#include "imex/main/imex_flags.h"

namespace cdom::cli {
namespace {

using base::cat;

struct Refusals {
  std::string agent, imex;
};
Refusals refusals_of(const std::vector<std::string>& arguments) {
  program::AgentFlags agent;
  agent.node.name = "gpu1";
  program::ImexFlags imex;
  return {refusal(arguments, command_line_of(agent)), refusal(arguments, command_line_of(imex))};
}

TEST(NodeFlags, TakeAPathOfAnotherListOfDevices) {
  const auto [agent, imex] = refusals_of({"--alt-proc-devices=/etc/devices"});
  EXPECT_EQ(agent, "");
  EXPECT_EQ(imex, "");
  const Variable variable("ALT_PROC_DEVICES_PATH", "/etc/devices");
  program::ImexFlags flags;
  EXPECT_EQ(refusal({}, command_line_of(flags)), "");
  EXPECT_EQ(supervisor_of(flags).devices_path, "/etc/devices");
}

TEST(NodeFlags, TellTheSupervisorHowItsMetricsJudgeTheFabric) {
  program::ImexFlags flags;
  EXPECT_EQ(supervisor_of(flags).fabric_mode, nvidia::FabricMode::Strict);
  EXPECT_EQ(refusal({"--fabric-mode=legacy"}, command_line_of(flags)), "");
  EXPECT_EQ(supervisor_of(flags).fabric_mode, nvidia::FabricMode::Legacy);
}

TEST(NodeFlags, RefuseAListOfDevicesWithoutAnAbsolutePath) {
  for (const char* path : {"", "devices", "./devices", "~/devices"}) {
    const std::string mistake =
        cat(": \"", path, "\" is not an absolute path (see compute-domain-");
    const Refusals flag = refusals_of({cat("--alt-proc-devices=", path)});
    EXPECT_EQ(flag.agent,
              cat("compute-domain-agent: --alt-proc-devices", mistake, "agent --help)\n"));
    EXPECT_EQ(flag.imex, cat("compute-domain-imex: --alt-proc-devices", mistake, "imex --help)\n"));
    const Variable variable("ALT_PROC_DEVICES_PATH", path);
    const Refusals unset = refusals_of({});
    EXPECT_EQ(unset.agent,
              cat("compute-domain-agent: ALT_PROC_DEVICES_PATH", mistake, "agent --help)\n"));
    EXPECT_EQ(unset.imex,
              cat("compute-domain-imex: ALT_PROC_DEVICES_PATH", mistake, "imex --help)\n"));
  }
}

}  // namespace
}  // namespace cdom::cli
