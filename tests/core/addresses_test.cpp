// No member gets an address that is another's, whatever it reports.
#include <gmock/gmock.h>

#include "compute_domain/api/names.h"
#include "compute_domain/core/readiness.h"
#include "core/builders.h"

namespace cdom::core {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the builders
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string& said_by(World& world, const std::string& node) {
  return world.nodes[node].report->status.address;
}
std::string address_given(const World& world, const std::string& node) {
  return find_entry(list_in(world), node)->address;
}
MemberView judged_member(const World& world, std::size_t which) {
  return readiness_of(world, memberships_of(world.view, world.nodes, world.lists))
      .members.at(which);
}

TEST(Addresses, TheOneThatWasGivenFirstStays) {
  World world = settled_world(2);
  said_by(world, "n1") = address_of("n2");
  EXPECT_THAT(reconcile_group(world, group_of(world)).actions, IsEmpty());
  EXPECT_EQ(judged_member(world, 0).state, MemberState("AddressRefused"));
  EXPECT_THAT(judged_member(world, 0).detail, HasSubstr("10.88.1.2, which is that of node n2"));
  EXPECT_EQ(judged_member(world, 1).state, MemberState("Ready"));
}

TEST(Addresses, OfTwoThatComeTogetherOneGetsIt) {
  World world = world_of(domain("train").wants(2).finalized(), 2);
  said_by(world, "n2") = address_of("n1");
  write_list(world);
  EXPECT_EQ(address_given(world, "n1"), address_of("n1"));
  EXPECT_EQ(address_given(world, "n2"), "");
  EXPECT_EQ(judged_member(world, 1).state, MemberState("AddressRefused"));
}

TEST(Addresses, AreTheSameInEachSpelling) {
  World world = world_of(domain("train").wants(2).finalized(), 2);
  said_by(world, "n1") = "fd00::7";
  said_by(world, "n2") = "FD00:0:0::7";
  write_list(world);
  EXPECT_EQ(address_given(world, "n1"), "fd00::7");
  EXPECT_EQ(address_given(world, "n2"), "");
}

TEST(Addresses, OfNodesThatHaveChangedThemAreFree) {
  World world = settled_world(2);
  std::swap(said_by(world, "n1"), said_by(world, "n2"));
  write_list(world);
  EXPECT_EQ(address_given(world, "n1"), address_of("n2"));
  EXPECT_EQ(address_given(world, "n2"), address_of("n1"));
}

TEST(Addresses, OfANodeThatIsGoneAreFree) {
  World world = settled_world(2);
  world.nodes["n2"].node.reset();
  said_by(world, "n1") = address_of("n2");
  write_list(world);
  EXPECT_EQ(address_given(world, "n1"), address_of("n2"));
}

// Its kubelet is silent, and its pods are not ready any more, as the control plane writes then.
void lose(NodeView& node) {
  node.node->ready = api::ConditionStatus::Unknown;
  node.agent = AgentPod{.ready = false, .lasts = {}};
}

// The address of a pod that is gone is given to the next pod.
TEST(Addresses, OfANodeThatIsLostGoToTheNodeThatReportsThem) {
  World world = settled_world(2);
  lose(world.nodes["n1"]);
  said_by(world, "n2") = address_of("n1");
  write_list(world);
  EXPECT_EQ(address_given(world, "n1"), "");
  EXPECT_EQ(address_given(world, "n2"), address_of("n1"));
  EXPECT_EQ(judged_member(world, 0).state, MemberState("NodeUnknown"));
  EXPECT_NE(judged_member(world, 1).state, MemberState("AddressRefused"));
}

TEST(Addresses, OfANodeThatIsOutOfServiceGoToTheNodeThatReportsThem) {
  World world = settled_world(2);
  world.nodes["n1"].node->ready = api::ConditionStatus::False;
  world.nodes["n1"].node->taints = {{api::kOutOfServiceTaint, "nodeshutdown", "NoExecute"}};
  said_by(world, "n2") = address_of("n1");
  write_list(world);
  EXPECT_EQ(address_given(world, "n2"), address_of("n1"));
}

TEST(Addresses, OfALostNodeStayWithItWhileNobodyReportsThem) {
  World world = settled_world(2);
  lose(world.nodes["n1"]);
  EXPECT_THAT(reconcile_group(world, group_of(world)).actions, IsEmpty());
}

TEST(Addresses, ThatWentToAnotherNodeStayThereWhenTheLostOneComesBack) {
  World world = settled_world(2);
  const NodeView before = world.nodes["n1"];
  lose(world.nodes["n1"]);
  said_by(world, "n2") = address_of("n1");
  write_list(world);
  world.nodes["n1"] = before;
  write_list(world);
  EXPECT_EQ(address_given(world, "n2"), address_of("n1"));
  EXPECT_EQ(judged_member(world, 0).state, MemberState("AddressRefused"));
  said_by(world, "n1") = "10.88.1.7";
  write_list(world);
  EXPECT_EQ(address_given(world, "n1"), "10.88.1.7");
}

// Each is one thing less than OfANodeThatIsLost… and OfANodeThatIsOutOfService… ask for.
struct NotLost {
  const char* what;
  void (*change)(NodeView& holder, NodeView& other);

  friend void PrintTo(const NotLost& not_lost, std::ostream* out) { *out << not_lost.what; }
};
class AddressesThatStay : public ::testing::TestWithParam<NotLost> {};
INSTANTIATE_TEST_SUITE_P(
    , AddressesThatStay,
    ::testing::Values(NotLost{"TheHolderIsReady", [](NodeView&, NodeView&) {}},
                      NotLost{"ItsAgentIsReady",
                              [](NodeView& holder, NodeView&) {
                                lose(holder);
                                holder.agent->ready = true;
                              }},
                      NotLost{"OfItsAgentNothingIsKnown",
                              [](NodeView& holder, NodeView&) {
                                lose(holder);
                                holder.agent.reset();
                              }},
                      NotLost{"OnlyItsAgentIsAway",
                              [](NodeView& holder, NodeView&) {
                                holder.agent = AgentPod{.ready = false, .lasts = kElapsed};
                              }},
                      NotLost{"ItsKubeletSaysNotReady",
                              [](NodeView& holder, NodeView&) {
                                lose(holder);
                                holder.node->ready = api::ConditionStatus::False;
                              }},
                      NotLost{"ItIsBackAndStillTainted",
                              [](NodeView& holder, NodeView&) {
                                holder.node->taints = {{api::kOutOfServiceTaint, "", "NoExecute"}};
                              }},
                      NotLost{"TheOtherIsLostToo",
                              [](NodeView& holder, NodeView& other) {
                                lose(holder);
                                lose(other);
                              }},
                      NotLost{"TheOtherIsNotReady",
                              [](NodeView& holder, NodeView& other) {
                                lose(holder);
                                other.node->ready = api::ConditionStatus::False;
                              }},
                      NotLost{"TheOtherHasNoAgentNow",
                              [](NodeView& holder, NodeView& other) {
                                lose(holder);
                                other.agent->ready = false;
                              }},
                      NotLost{"TheOtherHasRebootedSince", [](NodeView& holder, NodeView& other) {
                                lose(holder);
                                other.node->boot_id = "boot-2";
                              }}));

// Whichever of them comes first in the list.
TEST_P(AddressesThatStay, WithTheirNode) {
  for (const auto& [holder, other] : {std::pair("n1", "n2"), std::pair("n2", "n1")}) {
    World world = settled_world(2);
    GetParam().change(world.nodes[holder], world.nodes[other]);
    said_by(world, other) = address_of(holder);
    write_list(world);
    EXPECT_EQ(address_given(world, holder), address_of(holder)) << holder;
  }
}

TEST(Addresses, AtWhichNoPeerAnswersAreRefused) {
  for (const char* address : {"0.0.0.0", "127.0.0.1", "127.0.1.2", "224.0.0.1", "::", "fe80::1"}) {
    World world = settled_world(2);
    said_by(world, "n1") = address;
    EXPECT_THAT(reconcile_group(world, group_of(world)).actions, IsEmpty()) << address;
    EXPECT_EQ(judged_member(world, 0).state, MemberState("AddressRefused"));
    EXPECT_THAT(judged_member(world, 0).detail, HasSubstr(address));
  }
}

}  // namespace
}  // namespace cdom::core
