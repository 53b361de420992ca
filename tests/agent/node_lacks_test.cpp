#include "agent/node_lacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cdom::agent {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

core::NodeFault fault_by(const std::string& reason) {
  const auto faults = faults_by({{reason, "what to do"}});
  return faults.empty() ? core::NodeFault{} : faults.front();
}

// All that compute-domain-imex tells (tests/node_check/rules_test.cpp).
TEST(NodeLacks, KeepANodeFromServingWhereItsPodsWouldFail) {
  for (const auto& [reason, type] :
       {std::pair("OtherPlugin", "KubeletPlugin"), std::pair("PortTaken", "Ports")}) {
    EXPECT_EQ(fault_by(reason).type, type);
    EXPECT_EQ(fault_by(reason).reason.name(), reason);
    EXPECT_EQ(fault_by(reason).message, "what to do");
    EXPECT_TRUE(fault_by(reason).is_blocking) << reason;
  }
  for (const auto& [reason, type] :
       {std::pair("CdiNotRead", "ContainerRuntime"), std::pair("HostImexEnabled", "HostImex"),
        std::pair("SmallPages", "PageSize"), std::pair("NoPersistence", "Persistence")}) {
    EXPECT_EQ(fault_by(reason).type, type);
    EXPECT_FALSE(fault_by(reason).is_blocking) << reason;
  }
}

TEST(NodeLacks, OfALaterVersionAreLeftOut) {
  EXPECT_THAT(faults_by({{"NoCoffee", "?"}, {"GroupFull", "of a member"}, {"", ""}}), IsEmpty());
  EXPECT_THAT(faults_by({{"NoCoffee", "?"}, {"OtherPlugin", ""}}), SizeIs(1));
}

}  // namespace
}  // namespace cdom::agent
