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

// A supervisor stays as it is when the agents go back a version.
TEST(NodeLacks, OfALaterVersionKeepANodeFromServingWhereItsSupervisorSaysSo) {
  const auto faults = faults_by({{"NoCoffee", "make some", "Coffee", true},
                                 {"GroupFull", "of a member", "Ready", true},
                                 {"", "without a reason", "", true}});
  ASSERT_THAT(faults, SizeIs(3));
  for (const core::NodeFault& fault : faults) {
    EXPECT_EQ(fault.type, core::kFaultImex);
    EXPECT_EQ(fault.reason.name(), "ImexCannotStart");
    EXPECT_TRUE(fault.is_blocking);
  }
  EXPECT_EQ(faults.front().message, "make some");
  const auto known = faults_by({{"NoPersistence", "what to do", "Persistence", true}});
  ASSERT_THAT(known, SizeIs(1));
  EXPECT_EQ(known.front().type, "Persistence");
  EXPECT_TRUE(known.front().is_blocking);
}

TEST(NodeLacks, OfALaterVersionAreElseLeftOut) {
  EXPECT_THAT(faults_by({{"NoCoffee", "?", "Coffee"}, {"GroupFull", "of a member"}, {"", ""}}),
              IsEmpty());
  EXPECT_THAT(faults_by({{"NoCoffee", "?"}, {"OtherPlugin", ""}}), SizeIs(1));
}

}  // namespace
}  // namespace cdom::agent
