// Which domain has which channel of a clique, and who is let into it.
#include "compute_domain/core/channels.h"

#include <gmock/gmock.h>

#include "compute_domain/core/readiness.h"
#include "compute_domain/core/slots.h"
#include "compute_domain/core/status.h"
#include "core/builders.h"

namespace cdom::core {
namespace {

using namespace testing;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// Nodes n1 to n3 of one clique that isolate by channel, and the domains that were named.
class Clique : public ::testing::Test {
 protected:
  Clique() {
    world.now = kNow;
    world.clique = kClique;
    for (const char* node : {"n1", "n2", "n3"}) {
      world.nodes[node] = idle_node(node);
      world.nodes[node].report->status.isolation = api::Isolation::Channel;
    }
  }
  DomainView& domain_with(const std::string& name, const std::vector<std::string>& nodes) {
    DomainView view{.uid = uid_of(name), .domain = domain(name).finalized(), .claims = {}};
    for (const std::string& node : nodes) {
      view.claims.push_back(claim(base::cat(name, "-", node)).of(name).on(node));
    }
    world.domains.push_back(std::move(view));
    return world.domains.back();
  }
  // Writes what the key of the clique wants, as the API server would.
  Plan write() {
    Plan plan = reconcile_clique(world);
    for (const Action& action : plan.actions) {
      const auto* list = std::get_if<WriteNodeList>(&action);
      if (list == nullptr) continue;
      api::ConfigMap map = list->desired;
      map.meta.uid = "uid-list";
      map.meta.resource_version = "2";
      world.list = stored_list(map);
    }
    return plan;
  }
  const api::NodeList& list() { return *world.list->list; }
  std::optional<std::int64_t> channel(const std::string& name) {
    return channel_of(list(), uid_of(name));
  }
  // What the node says: READY, with these claims and channels.
  void report(const std::string& node, const std::vector<std::string>& claims,
              const std::string& channels) {
    api::ImexGroupReport said;
    said.group = list().group;
    said.slot = find_entry(list(), node)->slot;
    said.term = find_entry(list(), node)->term;
    said.state = api::DaemonState::Ready;
    said.table_hash = api::table_hash(list());
    said.instance = "i-" + node;
    said.connected = "0-17";
    for (const std::string& name : claims) said.claims.push_back(uid_of(name));
    said.channels = channels;
    said.releases = list().releases;
    world.nodes[node].report->status.groups = {said};
  }
  // The only channel was that of blue, of which n1 said this; blue is gone, and green wants it.
  void let_green_follow_blue(const std::vector<std::string>& claims, const std::string& channels) {
    world.settings.channels = 2;
    DomainView& blue = domain_with("blue", {"n1"});
    write();
    report("n1", claims, channels);
    blue.claims.clear();
    blue.domain.reset();
    write();
    world.domains.clear();
    domain_with("green", {"n2"});
    write();
  }
  // The world, for the key of a domain.
  World world_of_domain(const DomainView& view) {
    World of;
    of.now = kNow;
    of.settings = world.settings;
    of.view = view;
    if (world.list) of.lists = {*world.list};
    of.nodes = world.nodes;
    return of;
  }

  CliqueWorld world;
};

TEST_F(Clique, AllItsNodesAreMembersBeforeThereIsADomain) {
  write();
  ASSERT_THAT(list().entries, SizeIs(3));
  for (const api::NodeListEntry& entry : list().entries) EXPECT_TRUE(entry.member);
  EXPECT_EQ(list().slots, 18);
  EXPECT_EQ(write().actions.size(), 0U);
}

TEST_F(Clique, AMemberThatIsLostYieldsItsAddressToTheOneThatReportsIt) {
  write();
  world.nodes["n2"].report->status.address = address_of("n1");
  EXPECT_EQ(write().actions.size(), 0U) << "it works";
  world.nodes["n1"].node->ready = api::ConditionStatus::Unknown;
  world.nodes["n1"].agent->ready = false;
  write();
  EXPECT_EQ(find_entry(list(), "n1")->address, "");
  EXPECT_EQ(find_entry(list(), "n2")->address, address_of("n1"));
}

TEST_F(Clique, EachDomainHasAChannelOfItsOwnAndNobodyHasChannelZero) {
  domain_with("blue", {"n1", "n2"});
  domain_with("green", {"n1", "n2"});
  write();
  EXPECT_EQ(channel("blue"), 1);
  EXPECT_EQ(channel("green"), 2);
  EXPECT_THAT(find_entry(list(), "n1")->admits, Contains(api::Admission{uid_of("blue-n1"), 1}));
  EXPECT_THAT(find_entry(list(), "n1")->admits, Contains(api::Admission{uid_of("green-n1"), 2}));
}

TEST_F(Clique, ADomainKeepsItsChannelWithoutPods) {
  DomainView& blue = domain_with("blue", {"n1"});
  write();
  blue.claims.clear();
  write();
  EXPECT_EQ(channel("blue"), 1);
  EXPECT_THAT(find_entry(list(), "n1")->admits, SizeIs(0));
}

TEST_F(Clique, AChannelIsTakenBackOnlyWhenTheDomainIsProvenToBeGone) {
  DomainView& blue = domain_with("blue", {"n1"});
  write();
  blue.claims.clear();
  blue.domain.reset();
  const Plan plan = write();
  ASSERT_THAT(plan.actions, SizeIs(2));
  EXPECT_EQ(std::get<EnsureDomainGone>(plan.actions[0]).uid, uid_of("blue"));
  EXPECT_EQ(channel("blue"), std::nullopt);
  EXPECT_EQ(list().releases, 1);
}

TEST_F(Clique, AChannelWhoseDomainsEndIsNotProvedStaysAndHoldsBackNothingElse) {
  for (const char* name : {"blue", "red"}) domain_with(name, {"n1"});
  write();
  for (DomainView& view : world.domains) {
    view.claims.clear();
    view.domain.reset();
  }
  domain_with("green", {"n1"});
  world.unproven[uid_of("blue")] = std::chrono::seconds(5);
  const Plan plan = write();
  ASSERT_THAT(plan.actions, SizeIs(2));
  EXPECT_EQ(std::get<EnsureDomainGone>(plan.actions[0]).uid, uid_of("red"));
  EXPECT_EQ(plan.look_again, std::chrono::seconds(5));
  EXPECT_EQ(channel("blue"), 1);
  EXPECT_EQ(channel("red"), std::nullopt);
  EXPECT_EQ(channel("green"), 3);
  const Plan next = reconcile_clique(world);
  EXPECT_THAT(next.actions, SizeIs(0));
  EXPECT_EQ(next.look_again, std::chrono::seconds(5));
}

TEST_F(Clique, AChannelThatWasTakenBackIsGivenAgainWhenItsNodesHaveSaidThatTheyKnow) {
  let_green_follow_blue({"blue-n1"}, "1");
  EXPECT_EQ(channel("green"), std::nullopt);
  EXPECT_TRUE(list().scarce);
  report("n1", {"blue-n1"}, "1");  // knows of it, and its containers still have it
  write();
  EXPECT_EQ(channel("green"), std::nullopt);
  report("n1", {}, "");
  write();
  EXPECT_EQ(channel("green"), 1);
  EXPECT_FALSE(list().scarce);
}

// It may be about to prepare the claim that it has read as admitted.
TEST_F(Clique, AChannelThatNoContainerHasWaitsForNodesThatDoNotKnowOfItsRelease) {
  let_green_follow_blue({}, "");
  EXPECT_EQ(channel("green"), std::nullopt);
  report("n1", {}, "");  // after it has read of the release
  write();
  EXPECT_EQ(channel("green"), 1);
}

TEST_F(Clique, NumbersAreGivenInTurn) {
  DomainView& blue = domain_with("blue", {"n1"});
  write();
  report("n1", {}, "");
  blue.claims.clear();
  blue.domain.reset();
  write();
  report("n1", {}, "");
  world.domains.clear();
  domain_with("green", {"n1"});
  write();
  EXPECT_EQ(channel("green"), 2);
}

TEST_F(Clique, AListThatIsLostIsWrittenAgainWithTheChannelsOfTheStatuses) {
  domain_with("blue", {"n1"});
  domain_with("green", {"n1"});
  write();
  report("n1", {"blue-n1", "green-n1"}, "1-2");
  world.domains[1].domain->status = api::ComputeDomainStatus{};
  world.domains[1].domain->status->nodes = {
      {.name = "n1", .ip_address = "", .clique = kClique, .index = 0, .channel = 2, .ready = true}};
  world.domains[0].domain->status.reset();
  world.list.reset();
  write();
  EXPECT_EQ(channel("green"), 2);
  EXPECT_NE(channel("blue"), 2);
  EXPECT_NE(channel("blue"), 1);  // containers have it, and nobody knows whose
}

TEST_F(Clique, AChannelThatContainersHaveIsGivenToNobodyWhenListAndStatusesAreLost) {
  domain_with("blue", {"n1"});
  write();
  report("n1", {"blue-n1"}, "1");
  world.domains.clear();
  domain_with("green", {"n2"});
  world.list.reset();
  write();
  EXPECT_EQ(channel("green"), 2);
}

TEST_F(Clique, ANodeHasNoSayInTheChannelOfAClaimThatIsOnAnother) {
  domain_with("blue", {"n2"});
  write();
  report("n1", {"blue-n2"}, "7");
  report("n2", {"blue-n2"}, "1");
  world.nodes["n1"].report->status.groups[0].claim_channels = {{uid_of("blue-n2"), 7}};
  world.nodes["n2"].report->status.groups[0].claim_channels = {{uid_of("blue-n2"), 1}};
  world.list.reset();
  write();
  EXPECT_EQ(channel("blue"), 1);
}

TEST_F(Clique, ANodeThatInventsClaimsHoldsNoMoreChannelsThanItHasDevices) {
  domain_with("blue", {"n2"});
  write();
  report("n1", std::vector<std::string>(1024, "invented"), "1-1024");
  world.list.reset();
  world.settings.channels = 256;
  write();
  EXPECT_LE(std::ssize(list().channels), 129);
  EXPECT_TRUE(channel("blue"));
}

TEST_F(Clique, ADomainThatIsBeingDeletedIsLetInNowhere) {
  DomainView& blue = domain_with("blue", {"n1"});
  write();
  blue.domain->meta.deletion_time = kNow;
  blue.claims.push_back(claim("blue-n2").of("blue").on("n2"));
  write();
  EXPECT_THAT(find_entry(list(), "n1")->admits, SizeIs(1));
  EXPECT_THAT(find_entry(list(), "n2")->admits, SizeIs(0));
}

TEST_F(Clique, ANodeThatIsolatesByDomainIsNoMember) {
  world.nodes["n3"].report->status.isolation = api::Isolation::Domain;
  write();
  EXPECT_EQ(find_entry(list(), "n3"), nullptr);
}

TEST_F(Clique, ItsListGoesWhenNoDaemonOfItIsLeft) {
  write();
  for (const char* node : {"n1", "n2", "n3"}) {
    report(node, {}, "");
    world.nodes[node].report->status.isolation = api::Isolation::Domain;
    world.nodes[node].report->status.groups.front().state = api::DaemonState::Stopped;
  }
  const Plan plan = write();
  ASSERT_THAT(plan.actions, SizeIs(1));
  EXPECT_EQ(std::get<RemoveNodeList>(plan.actions[0]).object.uid, "uid-list");
}

TEST_F(Clique, AMemberIsReadyOnceItsClaimIsPreparedAndNotBefore) {
  const DomainView blue = domain_with("blue", {"n1"});
  write();
  report("n1", {}, "");
  const auto state = [&] {
    const World of = world_of_domain(blue);
    const auto memberships = memberships_of(of.view, of.nodes, of.lists);
    return readiness_of(of, memberships).members.at(0);
  };
  EXPECT_EQ(state().state, MemberState("Starting"));
  report("n1", {"blue-n1"}, "1");
  EXPECT_EQ(state().state, MemberState("Ready"));
  EXPECT_EQ(state().channel, 1);
}

TEST_F(Clique, ADomainForWhichNoChannelIsLeftSaysSo) {
  world.settings.channels = 2;
  domain_with("blue", {"n1"});
  const DomainView green = domain_with("green", {"n1"});
  write();
  report("n1", {"blue-n1"}, "1");
  const World of = world_of_domain(green);
  const auto members = readiness_of(of, memberships_of(of.view, of.nodes, of.lists)).members;
  EXPECT_EQ(members.at(0).state, MemberState("ChannelsUsedUp"));
  EXPECT_THAT(members.at(0).detail, HasSubstr("all 1 IMEX channels"));
}

TEST_F(Clique, MembersThatIsolateByDomainStandApart) {
  DomainView blue = domain_with("blue", {"n1", "n2"});
  world.nodes["n2"].report->status.isolation = api::Isolation::Domain;
  world.domains = {blue};
  write();
  report("n1", {"blue-n1"}, "1");
  const World of = world_of_domain(blue);
  const auto members = readiness_of(of, memberships_of(of.view, of.nodes, of.lists)).members;
  EXPECT_EQ(members.at(0).state, MemberState("Ready"));
  EXPECT_EQ(members.at(1).state, MemberState("MixedIsolation"));
}

TEST_F(Clique, TeardownWaitsForContainersThatHaveTheChannelStill) {
  DomainView& blue = domain_with("blue", {"n1"});
  write();
  report("n1", {"blue-n1"}, "1");
  blue.domain->meta.deletion_time = kNow;
  blue.claims.clear();  // its pod was deleted by force
  World of = world_of_domain(blue);
  of.view.domain->status = api::ComputeDomainStatus{};
  const Plan waits = reconcile(of);
  EXPECT_THAT(waits.actions,
              ::testing::Not(Contains(::testing::VariantWith<RemoveFinalizer>(::testing::_))));
  report("n1", {}, "");
  const Plan goes = reconcile(world_of_domain(blue));
  EXPECT_TRUE(std::holds_alternative<RemoveFinalizer>(goes.actions.back()));
}

TEST_F(Clique, ClaimsOfAnAutomaticDomainAreHeldByItsChannel) {
  domain_with("blue", {"n1"});
  domain_with("green", {"n1"});
  write();
  api::ResourceClaim mine = claim("blue-n1").on("n1");
  mine.allocation->configs.clear();  // it names no domain
  api::ResourceClaim other = claim("green-n1").on("n1");
  other.allocation->configs.clear();
  EXPECT_EQ(held_claims(uid_of("blue"), {*world.list}, {mine, other}),
            std::set<std::string>{uid_of("blue-n1")});
}

TEST_F(Clique, OfHostsOwnDaemonsNobodyKnowsWhoReachesWhom) {
  const DomainView blue = domain_with("blue", {"n1", "n2"});
  write();
  for (const char* node : {"n1", "n2"}) {
    report(node, {base::cat("blue-", node)}, "1");
    world.nodes[node].report->status.host_managed = true;
    world.nodes[node].report->status.groups.front().connected = "";
  }
  const World of = world_of_domain(blue);
  const Readiness readiness = readiness_of(of, memberships_of(of.view, of.nodes, of.lists));
  EXPECT_TRUE(readiness.host_managed);
  EXPECT_TRUE(readiness.open_pairs.empty());
  const auto status = computed_status(of, readiness, {}, {});
  EXPECT_TRUE(status.ready);
  const auto* ready = api::find_condition(status.conditions, kConditionReady);
  EXPECT_THAT(ready->message, HasSubstr("their hosts' own IMEX daemons"));
}

}  // namespace
}  // namespace cdom::core
