// What a node reports of its own faults, as a user sees it.
#include <gmock/gmock.h>

#include "system/rig.h"

namespace cdom::system_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using namespace std::chrono_literals;

constexpr char kNode[] = "n01";

// "CanServe=RequirementsMet"; of a node without a report nothing.
std::vector<std::string> conditions(const Rig& rig) {
  std::vector<std::string> all;
  const auto report = rig.kubectl().get<api::ComputeDomainNode>({"", kNode});
  if (!report) return all;
  for (const api::Condition& condition : report->status.conditions) {
    all.push_back(condition.type + "=" + condition.reason);
  }
  return all;
}

std::string message_of(const Rig& rig, const std::string& type) {
  const auto report = rig.kubectl().get<api::ComputeDomainNode>({"", kNode});
  const auto* found = report ? api::find_condition(report->status.conditions, type) : nullptr;
  return found == nullptr ? "" : found->message;
}

TEST(NodeFaults, AFabricThatIsNotHealthyIsReportedUntilItIs) {
  Rig rig({.seed = 23, .nodes_per_rack = 2});
  const auto are = [&](const auto& matcher) {
    return rig.run_until([&] { return testing::Matches(matcher)(conditions(rig)); }, 30s);
  };
  const auto well = ElementsAre("CanServe=RequirementsMet");
  ASSERT_TRUE(are(well));
  rig.cluster().inject(kNode, sandbox::Fault::FabricUnhealthy);
  EXPECT_TRUE(are(ElementsAre("CanServe=FabricUnhealthy", "FabricHealth=FabricUnhealthy")));
  EXPECT_EQ(message_of(rig, "FabricHealth"),
            "GPU 0 is unhealthy in its NVLink fabric (route unhealthy): see the rack's NVLink "
            "manager and the kernel log");
  // Of a driver that does not answer what it has said before stands.
  rig.cluster().inject(kNode, sandbox::Fault::FabricError);
  EXPECT_TRUE(are(ElementsAre("CanServe=FabricUnhealthy", "Fabric=FabricUnreadable",
                              "FabricHealth=FabricUnhealthy")));
  rig.cluster().heal(kNode, sandbox::Fault::FabricError);
  rig.cluster().heal(kNode, sandbox::Fault::FabricUnhealthy);
  EXPECT_TRUE(are(well));
}

// Two pods need both nodes, and one of these offers nothing meanwhile.
TEST(NodeFaults, ANodeOfAnUnhealthyFabricTakesNoPods) {
  Rig rig({.seed = 24, .nodes_per_rack = 2});
  rig.cluster().inject(kNode, sandbox::Fault::FabricUnhealthy);
  ASSERT_TRUE(rig.run_until(
      [&] { return testing::Matches(Contains("CanServe=FabricUnhealthy"))(conditions(rig)); },
      30s));
  rig.apply(domain_yaml("train", 2));
  for (const char* pod : {"train-0", "train-1"}) rig.apply(pod_yaml(pod, "train"));
  EXPECT_FALSE(rig.run_until([&] { return rig.is_ready("train"); }, 60s));
  rig.cluster().heal(kNode, sandbox::Fault::FabricUnhealthy);
  EXPECT_TRUE(rig.run_until([&] { return rig.is_ready("train"); }, 60s));
}

}  // namespace
}  // namespace cdom::system_test
