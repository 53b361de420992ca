// No member gets an address that is another's, whatever it reports.
#include <gmock/gmock.h>

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
