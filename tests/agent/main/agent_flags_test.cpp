#include "agent/main/agent_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/refusal.h"
#include "compute_domain/base/text.h"

namespace cdom::program {
namespace {

using testing::StartsWith;

AgentFlags usable() {
  AgentFlags flags;
  flags.node.name = "gpu1";
  return flags;
}

std::string refusal_of(const std::vector<std::string>& arguments) {
  AgentFlags flags = usable();
  return cli::refusal(arguments, command_line_of(flags));
}

TEST(AgentFlags, AreThoseOfTheReferenceDriverByDefault) {
  EXPECT_EQ(refusal_of({}), "");
  const auto paths = dra::socket_paths(plugin_of(usable()));
  ASSERT_TRUE(paths);
  EXPECT_EQ(paths->dra, "/var/lib/kubelet/plugins/compute-domain.nvidia.com/dra.sock");
}

TEST(AgentFlags, NameTheFlagThatIsWrong) {
  for (const char* wrong :
       {"--node-name=A b", "--namespace=a.b", "--pod-uid=../x", "--cdi-root=cdi",
        "--device-files=all", "--fabric-mode=lax", "--healthcheck-port=0", "--healthcheck-port=-2",
        "--metrics-path=metrics", "--metrics-tls-cert=/crt", "--imex-socket=.", "--seats=129",
        "--isolation=pod", "--stay=long"}) {
    const std::string flag = base::split(wrong, '=').front();
    EXPECT_THAT(refusal_of({wrong}), StartsWith(base::cat("compute-domain-agent: ", flag)))
        << wrong;
  }
  EXPECT_THAT(refusal_of({base::cat("--kubelet-plugins-dir=/", std::string(100, 'x'))}),
              StartsWith("compute-domain-agent: --kubelet-plugins-dir and "
                         "--kubelet-registrar-dir: "));
  AgentFlags flags;
  EXPECT_THAT(cli::refusal({}, command_line_of(flags)),
              StartsWith("compute-domain-agent: --node-name: missing"));
  EXPECT_EQ(cli::refusal({"check"}, command_line_of(flags)), "");
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
  EXPECT_EQ(cli::refusal({"--isolation=channel", "--seats=128", "--channel-as-zero"},
                         command_line_of(flags)),
            "");
  EXPECT_EQ(settings_of(flags), (core::NodeSettings{api::Isolation::Channel, 128}));
  EXPECT_TRUE(cdi_of(flags).as_zero);
}

}  // namespace
}  // namespace cdom::program
