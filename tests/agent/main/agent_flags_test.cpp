#include "agent/main/agent_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cdom::program {
namespace {

using testing::StartsWith;

AgentFlags usable() {
  AgentFlags flags;
  flags.node = "gpu1";
  return flags;
}

TEST(AgentFlags, AreThoseOfTheReferenceDriverByDefault) {
  EXPECT_EQ(mistake_in(usable()), "");
  const auto paths = dra::socket_paths(plugin_of(usable()));
  ASSERT_TRUE(paths);
  EXPECT_EQ(paths->dra, "/var/lib/kubelet/plugins/compute-domain.nvidia.com/dra.sock");
  EXPECT_EQ(agent_flag_of_variable("KUBELET_PLUGINS_DIRECTORY_PATH"), "kubelet-plugins-dir");
  EXPECT_EQ(agent_flag_of_variable("HOME"), "");
}

TEST(AgentFlags, NameTheFlagThatIsWrong) {
  const auto mistake_with = [](const auto& change) {
    AgentFlags flags = usable();
    change(flags);
    return mistake_in(flags);
  };
  EXPECT_THAT(mistake_with([](AgentFlags& f) { f.node = ""; }), StartsWith("--node-name: missing"));
  EXPECT_THAT(mistake_with([](AgentFlags& f) { f.node = "A b"; }), StartsWith("--node-name: "));
  EXPECT_THAT(mistake_with([](AgentFlags& f) { f.ns = "a.b"; }), StartsWith("--namespace: "));
  EXPECT_THAT(mistake_with([](AgentFlags& f) { f.pod_uid = "../x"; }), StartsWith("--pod-uid: "));
  EXPECT_THAT(mistake_with([](AgentFlags& f) { f.cdi_root = "cdi"; }), StartsWith("--cdi-root: "));
  EXPECT_THAT(mistake_with([](AgentFlags& f) { f.device_files = "all"; }),
              StartsWith("--device-files: "));
  EXPECT_THAT(mistake_with([](AgentFlags& f) { f.fabric_mode = "lax"; }),
              StartsWith("--fabric-mode: "));
  EXPECT_THAT(mistake_with([](AgentFlags& f) { f.healthcheck_port = 0; }),
              StartsWith("--healthcheck-port: "));
  EXPECT_THAT(mistake_with([](AgentFlags& f) { f.health.metrics_path = "metrics"; }),
              StartsWith("--metrics-path: "));
  EXPECT_THAT(mistake_with([](AgentFlags& f) { f.imex_socket = "."; }),
              StartsWith("--imex-socket: "));
  EXPECT_THAT(mistake_with([](AgentFlags& f) { f.plugins_dir = "/" + std::string(100, 'x'); }),
              StartsWith("--kubelet-plugins-dir and --kubelet-registrar-dir: "));
}

TEST(AgentFlags, AHealthCheckPortServesBothFamilies) {
  AgentFlags flags = usable();
  EXPECT_EQ(plugin_of(flags).health_listen, "");
  flags.healthcheck_port = 51515;
  EXPECT_EQ(plugin_of(flags).health_listen, "[::]:51515");
}

TEST(AgentFlags, SayWhatKeepsDomainsApart) {
  AgentFlags flags = usable();
  EXPECT_EQ(settings_of(flags).isolation, api::Isolation::Domain);
  EXPECT_FALSE(cdi_of(flags).as_zero);
  flags.isolation = "channel";
  flags.seats = 128;
  flags.channel_as_zero = true;
  EXPECT_EQ(mistake_in(flags), "");
  EXPECT_EQ(settings_of(flags), (core::NodeSettings{api::Isolation::Channel, 128}));
  EXPECT_TRUE(cdi_of(flags).as_zero);
  EXPECT_EQ(agent_flag_of_variable("IMEX_CHANNEL_AS_ZERO"), "channel-as-zero");
  flags.seats = 129;
  EXPECT_THAT(mistake_in(flags), StartsWith("--seats: "));
  flags = usable();
  flags.isolation = "pod";
  EXPECT_THAT(mistake_in(flags), StartsWith("--isolation: "));
}

}  // namespace
}  // namespace cdom::program
