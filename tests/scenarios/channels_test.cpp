// Isolation by channel: domains on the same nodes, each with an IMEX channel of its own. In a
// cluster whose agents are told so.
#include <set>

#include "compute_domain/base/text.h"
#include "scenarios/scenario.h"
#include "source_tree/source_tree.h"

namespace cdom::scenarios {
namespace {

using testing::SizeIs;

class Channels : public Scenario {
 protected:
  Channels() : Scenario({.by_channel = true}) {}
  std::set<std::int64_t> channels_of(const std::string& name) {
    std::set<std::int64_t> channels;
    const api::ComputeDomain object = domain(name);
    if (!object.status) return channels;
    for (const auto& node : object.status->nodes) channels.insert(node.channel);
    return channels;
  }
};

TEST_F(Channels, DomainsOnTheSameNodesAreKeptApartByChannel) {
  const auto on = nodes(2);
  std::set<std::int64_t> seen;
  for (const char* name : {"blue", "green", "red"}) {
    settle(name, on);
    const auto channels = channels_of(name);
    ASSERT_THAT(channels, SizeIs(1)) << name;
    EXPECT_GT(*channels.begin(), 0);
    EXPECT_TRUE(seen.insert(*channels.begin()).second) << name;
  }
  // Each goes by itself.
  for (const char* pod : {"green-0", "green-1"}) kubectl().remove("Pod", pod);
  kubectl().remove("ComputeDomain", "green");
  EXPECT_TRUE(goes("green"));
  for (const char* name : {"blue", "red"}) {
    EXPECT_TRUE(becomes(name, "Ready", "2/2", "AllNodesReady"));
  }
}

TEST_F(Channels, TheExampleHasTwoDomainsOnTheSameNodes) {
  std::string yaml = source_text("manifests/examples/by-channel.yaml");
  const auto on = nodes(2);
  for (std::size_t i = 0; i < on.size(); ++i) {
    const std::string its = base::cat("hostname: n0", i + 1, "\n");
    for (auto at = yaml.find(its); at != std::string::npos; at = yaml.find(its, at + 1)) {
      yaml.replace(at, its.size(), base::cat("hostname: ", on[i], "\n"));
    }
  }
  kubectl().apply(yaml);
  EXPECT_TRUE(becomes("blue", "Ready", "2/2", "AllNodesReady"));
  EXPECT_TRUE(becomes("green", "Ready", "2/2", "AllNodesReady"));
  EXPECT_NE(channels_of("blue"), channels_of("green"));
}

TEST_F(Channels, AControllerThatStartsAnewKeepsTheNumbers) {
  settle("blue", nodes(2));
  settle("green", nodes(2));
  const auto blue = channels_of("blue"), green = channels_of("green");
  home().restart_controller();
  settle("red", nodes(2));
  EXPECT_EQ(channels_of("blue"), blue);
  EXPECT_EQ(channels_of("green"), green);
  EXPECT_NE(channels_of("red"), blue);
  EXPECT_NE(channels_of("red"), green);
}

TEST_F(Channels, APodThatComesAgainFindsItsDomainsChannel) {
  settle("blue", nodes(2));
  const auto channels = channels_of("blue");
  kubectl().remove("Pod", "blue-0");
  EXPECT_TRUE(becomes("blue", "NotReady", "1/2", "WaitingForNodes"));
  ASSERT_TRUE(eventually("the pod is gone", [&] { return !exists_pod("blue-0"); }));
  kubectl().apply(pod_yaml("blue-0", "blue-channel", nodes(2).front()));
  EXPECT_TRUE(becomes("blue", "Ready", "2/2", "AllNodesReady"));
  EXPECT_EQ(channels_of("blue"), channels);
}

}  // namespace
}  // namespace cdom::scenarios
