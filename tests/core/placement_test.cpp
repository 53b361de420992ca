// Who gets which clique.
#include <gmock/gmock.h>

#include <algorithm>
#include <limits>

#include "compute_domain/api/names.h"
#include "compute_domain/core/templates.h"
#include "core/placement_scene.h"

namespace cdom::core {
namespace {

using namespace testing;
using ::testing::_;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::VariantWith;
using State = Seat::State;

TEST(Placement, TakesTheCliqueWithTheFewestFreeSeatsThatFit) {
  auto world = scene().clique("a.1", 18).clique("b.1", 18).clique("c.1", 18).wants("train", 8);
  world.seats("b.1", 9, State::InUse).seats("c.1", 11, State::InUse);
  world.decide();
  EXPECT_EQ(world.clique_of("train"), "b.1");
}

TEST(Placement, AmongEqualsTakesTheFirstByName) {
  auto world = scene().clique("b.1", 4).clique("a.1", 4).wants("train", 4);
  world.decide();
  EXPECT_EQ(world.clique_of("train"), "a.1");
}

TEST(Placement, IsTheSameInWhateverOrderThingsAreFound) {
  auto world = scene().clique("a.1", 6).clique("b.1", 4).clique("c.1", 5);
  world.wants("train", 3).wants("serve", 4).wants("eval", 5);
  auto other = world;
  std::ranges::reverse(other.world.cliques);
  std::ranges::reverse(other.world.domains);
  for (CliqueSeats& clique : other.world.cliques) std::ranges::reverse(clique.seats);
  EXPECT_EQ(world.decide().plan, other.decide().plan);
}

TEST(Placement, CountsWhatOthersWereGivenAndHaveNotTaken) {
  auto world = scene().clique("a.1", 6).clique("b.1", 12).wants("train", 4);
  world.decide();
  ASSERT_EQ(world.clique_of("train"), "a.1");
  world.wants("serve", 3).decide();
  EXPECT_EQ(world.clique_of("serve"), "b.1");
}

TEST(Placement, CountsASeatOnceThatItsDomainHasTaken) {
  auto world = scene().clique("a.1", 6).wants("train", 4);
  world.decide();
  world.takes("train", "a.1", 4).wants("serve", 2).decide();
  EXPECT_EQ(world.clique_of("serve"), "a.1");
}

TEST(Placement, TwoDomainsOfOneMomentDoNotShareSeats) {
  auto world = scene().clique("a.1", 4).clique("b.1", 4).wants("train", 3).wants("serve", 3);
  world.decide();
  EXPECT_EQ(world.clique_of("train"), "a.1");
  EXPECT_EQ(world.clique_of("serve"), "b.1");
}

TEST(Placement, TheOlderDomainChoosesFirst) {
  auto world = scene().clique("a.1", 4).wants("younger", 3).wants("older", 3);
  std::swap(world.domain("older").created, world.domain("younger").created);
  world.decide();
  EXPECT_EQ(world.clique_of("older"), "a.1");
  EXPECT_EQ(world.clique_of("younger"), "");
}

TEST(Placement, ADomainThatFitsNowhereHoldsBackNobody) {
  auto world = scene().clique("a.1", 4).wants("big", 5).wants("small", 2);
  world.decide();
  EXPECT_EQ(world.clique_of("small"), "a.1");
}

TEST(Placement, SaysWhatIsMissing) {
  auto world = scene().clique("a.1", 18).clique("b.1", 18).wants("serve", 2);
  world.seats("b.1", 18, State::InUse);
  world.decide();
  world.wants("train", 16).seats("a.1", 4, State::InUse);
  world.seats("a.1", 2, State::NotReady);
  const PlacementVerdict verdict = verdict_on(world.decide(), "train");
  EXPECT_FALSE(verdict.holds);
  EXPECT_EQ(verdict.reason.name(), "NoCliqueFits");
  EXPECT_EQ(
      verdict.message,
      "needs 16 seats, the best clique, a.1, has 12 free of 18: a.1-17, a.1-18 NotReady; 2 in "
      "use; 2 kept for placed domains");
}

TEST(Placement, TriesAgainWhenSomethingFrees) {
  auto world = scene().clique("a.1", 4).seats("a.1", 2, State::InUse).wants("train", 3);
  world.decide();
  ASSERT_EQ(world.clique_of("train"), "");
  world.seats("a.1", 2, State::Free).decide();
  EXPECT_EQ(world.clique_of("train"), "a.1");
}

TEST(Placement, MoreNodesThanAnyCliqueHasIsToldAsSuch) {
  auto world = scene().clique("a.1", 18).clique("b.1", 4).wants("train", 40);
  const PlacementVerdict verdict = verdict_on(world.decide(), "train");
  EXPECT_EQ(verdict.reason.name(), "NoCliqueIsLargeEnough");
  EXPECT_THAT(verdict.message, HasSubstr("the largest clique, a.1, has 18: lower spec.numNodes"));
}

TEST(Placement, WithoutAnyCliqueSaysSo) {
  auto world = scene().wants("train", 2);
  EXPECT_THAT(verdict_on(world.decide(), "train").message,
              HasSubstr("no node offers one that is in an NVLink clique"));
}

TEST(Placement, WithoutNumNodesSaysHowToGiveThem) {
  auto world = scene().clique("a.1", 4).wants("train", 0);
  const PlacementPlan decided = world.decide();
  EXPECT_THAT(decided.plan.actions, IsEmpty());
  EXPECT_EQ(verdict_on(decided, "train").reason.name(), "NumNodesMissing");
  EXPECT_THAT(verdict_on(decided, "train").message,
              HasSubstr("kubectl patch computedomain train -n team-a"));
}

TEST(Placement, WithoutATemplateThereIsNothingToPlace) {
  auto world = scene().clique("a.1", 4).wants("train", 2);
  world.domain("train").has_channel = false;
  const PlacementPlan decided = world.decide();
  EXPECT_THAT(decided.plan.actions, IsEmpty());
  EXPECT_EQ(verdict_on(decided, "train").reason.name(), "NoTemplate");
}

TEST(Placement, AnAutomaticDomainIsRefusedWithWhatToDo) {
  auto world = scene().clique("a.1", 4).wants("train", 2);
  world.domain("train").has_channel = false;
  world.domain("train").is_automatic = true;
  const PlacementPlan decided = world.decide();
  EXPECT_THAT(decided.plan.actions, IsEmpty());
  EXPECT_EQ(verdict_on(decided, "train").reason.name(), "PlacementUnsupported");
  EXPECT_THAT(verdict_on(decided, "train").message, HasSubstr("write a ComputeDomain"));
}

TEST(Placement, ADomainThatIsBeingDeletedIsNotPlacedAndKeepsItsSeatsUntilItIsGone) {
  auto world = scene().clique("a.1", 4).wants("train", 3).wants("serve", 4);
  world.decide();
  ASSERT_EQ(world.clique_of("train"), "a.1");
  world.domain("train").is_deleting = true;
  world.domain("serve").is_deleting = true;
  EXPECT_EQ(world.decide().plan, Plan{});
}

TEST(Placement, EndsTheReservationOfADomainThatIsProvenToBeGone) {
  auto world = scene().clique("a.1", 4).wants("train", 3).wants("serve", 4);
  world.decide();
  world.world.domains.erase(world.world.domains.begin());
  EXPECT_THAT(world.decide().plan.actions,
              ElementsAre(VariantWith<EnsureDomainGone>(EnsureDomainGone{uid_of("train")}),
                          VariantWith<WriteReservations>(_)));
  EXPECT_EQ(world.clique_of("serve"), "a.1");
}

TEST(Placement, LeavesNoReservationsMapBehind) {
  auto world = scene().clique("a.1", 4).wants("train", 3);
  world.decide();
  world.world.domains.clear();
  world.decide();
  EXPECT_FALSE(world.world.reservations);
}

TEST(Placement, IsQuietWhenEverybodyIsPlaced) {
  auto world = scene().clique("a.1", 4).wants("train", 3).wants("serve", 4);
  world.decide();
  EXPECT_EQ(world.decide().plan, Plan{});
  EXPECT_EQ(world.makes_template("train").takes("train", "a.1", 3).decide().plan, Plan{});
}

TEST(Placement, WritesUnderThePreconditionOfTheReservationsMapThatItDecidedUpon) {
  auto world = scene().clique("a.1", 4).wants("train", 2);
  EXPECT_EQ(std::get<WriteReservations>(world.decide().plan.actions.at(0)).current,
            api::ConfigMap{});
  const api::ConfigMap seen = *world.world.reservations;
  const PlacementPlan second = world.wants("serve", 2).decide();
  EXPECT_EQ(std::get<WriteReservations>(second.plan.actions.at(0)).current, seen);
}

TEST(Placement, ALostReservationsMapIsMadeAgainFromTheTemplatesBeforeAnythingIsChosen) {
  auto world = scene().clique("a.1", 6).clique("b.1", 12).wants("train", 4);
  world.decide();
  world.makes_template("train").wants("serve", 3).world.reservations.reset();
  world.decide();
  EXPECT_EQ(world.clique_of("train"), "a.1");
  EXPECT_EQ(world.clique_of("serve"), "b.1");
}

TEST(Placement, WhatATemplateTellsCountsOnlyForADomainThatIsProvedToLive) {
  auto world = scene().clique("a.1", 6).wants("train", 4);
  world.decide();
  world.makes_template("train").wants("serve", 4).world.reservations.reset();
  EXPECT_THAT(place(world.world).plan.actions,
              ElementsAre(Action(EnsureDomainLives{{"team-a", "train"}, uid_of("train")}),
                          VariantWith<WriteReservations>(_)));
  world.world.unproven = {uid_of("train")};
  const PlacementPlan decided = world.decide();
  EXPECT_FALSE(decided.verdicts.contains(uid_of("train")));
  EXPECT_EQ(reservation_in(*world.world.reservations, uid_of("train")), std::nullopt);
  EXPECT_EQ(world.clique_of("serve"), "a.1");
}

TEST(Placement, ACordonedNodeOffersNoSeat) {
  auto world = scene().clique("a.1", 4).seats("a.1", 1, State::Unschedulable).wants("train", 4);
  EXPECT_THAT(verdict_on(world.decide(), "train").message,
              HasSubstr("has 3 free of 4: a.1-4 unschedulable"));
}

// A domain on clique a.1 with room on b.1, whose clique has then lost a node.
PlacementScene short_scene() {
  auto world = scene().clique("a.1", 4).clique("b.1", 6).wants("train", 4);
  world.decide();
  world.makes_template("train").seats("a.1", 1, State::NotReady);
  return world;
}

TEST(Placement, PlacesAnewWhenItsCliqueLosesANodeBeforeAnyPodHasASeat) {
  auto world = short_scene();
  EXPECT_THAT(world.decide().plan.actions,
              ElementsAre(VariantWith<EnsureClaimsReleased>(_), VariantWith<WriteReservations>(_)));
  EXPECT_EQ(world.clique_of("train"), "b.1");
}

TEST(Placement, KeepsTheSeatsOfTheFormerCliqueUntilTheNewTemplateIsThere) {
  auto world = short_scene();
  world.decide();
  world.seats("a.1", 1, State::Free).wants("serve", 4);
  EXPECT_EQ(verdict_on(world.decide(), "serve").reason.name(), "NoCliqueFits");
  world.makes_template("train").decide();
  EXPECT_EQ(world.clique_of("serve"), "a.1");
}

TEST(Placement, StaysWhenPodsHaveSeatsAlready) {
  auto world = scene().clique("a.1", 4).clique("b.1", 6).wants("train", 4);
  world.decide();
  world.makes_template("train").takes("train", "a.1", 2).seats("a.1", 1, State::NotReady);
  const PlacementPlan decided = world.decide();
  EXPECT_EQ(decided.plan, Plan{});
  EXPECT_EQ(
      verdict_on(decided, "train").message,
      "clique a.1 lacks 1 of the 4 seats for it, and has 0 free of 4: a.1-4 NotReady; 2 in "
      "use; 1 kept for placed domains; it is not placed again, as pods of it have seats already");
}

TEST(Placement, StaysWhenAClaimIsAllocatedWhoseNodesAreNotKnown) {
  auto world = short_scene();
  world.domain("train").has_allocated_claims = true;
  const PlacementPlan decided = world.decide();
  EXPECT_EQ(decided.plan, Plan{});
  EXPECT_THAT(verdict_on(decided, "train").message, HasSubstr("pods of it have seats already"));
}

TEST(Placement, AMoveThatCannotBeProvedStopsNoOtherDomain) {
  auto world = short_scene();
  world.wants("serve", 5).world.unproven = {uid_of("train")};
  const PlacementPlan decided = world.decide();
  EXPECT_THAT(decided.plan.actions, ElementsAre(VariantWith<WriteReservations>(_)));
  EXPECT_EQ(world.clique_of("train"), "a.1");
  EXPECT_EQ(world.clique_of("serve"), "b.1");
  EXPECT_FALSE(verdict_on(decided, "train").holds);
}

TEST(Placement, AReservationWhoseEndCannotBeProvedStaysAndStopsNoOtherDomain) {
  auto world = scene().clique("a.1", 4).clique("b.1", 4).wants("gone", 3);
  world.decide();
  world.world.domains.clear();
  world.world.unproven = {uid_of("gone")};
  // Not even when its clique has too few seats.
  world.seats("a.1", 4, State::NotReady).wants("serve", 4);
  EXPECT_THAT(world.decide().plan.actions, ElementsAre(VariantWith<WriteReservations>(_)));
  EXPECT_EQ(world.clique_of("gone"), "a.1");
  EXPECT_EQ(world.clique_of("serve"), "b.1");
}

TEST(Placement, StaysWhenNoOtherCliqueFits) {
  auto world = short_scene();
  world.seats("b.1", 3, State::InUse);
  const PlacementPlan decided = world.decide();
  EXPECT_EQ(decided.plan, Plan{});
  EXPECT_EQ(verdict_on(decided, "train").reason.name(), "CliqueLacksSeats");
  EXPECT_THAT(verdict_on(decided, "train").message, HasSubstr("no other clique has them"));
}

TEST(Placement, WithWaitingPodsIsPlacedAnewOnlyWhenTheNodeStaysAway) {
  auto world = short_scene();
  world.domain("train").has_waiting_claims = true;
  const PlacementPlan first = world.decide();
  EXPECT_THAT(first.plan.actions, IsEmpty());
  EXPECT_EQ(first.plan.look_again, world.world.settings.placement_patience);
  world.domain("train").unplaced_since = kNow;
  world.world.now = kNow + world.world.settings.placement_patience;
  world.decide();
  EXPECT_EQ(world.clique_of("train"), "b.1");
}

TEST(Placement, WhenACliqueIsShortTheDomainThatHasPodsKeepsItsSeats) {
  auto world = scene().clique("a.1", 4).clique("b.1", 2).wants("train", 2).wants("serve", 2);
  world.world.cliques.pop_back();
  world.decide();
  world.clique("b.1", 2).makes_template("train").makes_template("serve");
  world.takes("serve", "a.1", 1).seats("a.1", 1, State::NotReady).decide();
  EXPECT_EQ(world.clique_of("serve"), "a.1");
  EXPECT_EQ(world.clique_of("train"), "b.1");
}

TEST(Placement, SeatsThatPodsOfOthersHaveTakenAreALackToo) {
  auto world = short_scene();
  world.seats("a.1", 1, State::InUse).decide();
  EXPECT_EQ(world.clique_of("train"), "b.1");
}

TEST(Placement, GrowsInItsCliqueWhereThereIsRoom) {
  auto world = scene().clique("a.1", 6).wants("train", 4);
  world.decide();
  world.makes_template("train").takes("train", "a.1", 4).domain("train").num_nodes = 6;
  EXPECT_TRUE(verdict_on(world.decide(), "train").holds);
  EXPECT_EQ(reservation_in(*world.world.reservations, uid_of("train"))->seats, 6);
  EXPECT_EQ(reservation_in(*world.world.reservations, uid_of("train"))->generation, 1);
}

TEST(Placement, GrowingBeyondItsCliqueIsToldOncePodsHaveSeats) {
  auto world = scene().clique("a.1", 6).clique("b.1", 9).wants("train", 4);
  world.decide();
  world.makes_template("train").takes("train", "a.1", 4).domain("train").num_nodes = 9;
  const PlacementPlan decided = world.decide();
  EXPECT_EQ(decided.plan, Plan{});
  EXPECT_THAT(verdict_on(decided, "train").message, HasSubstr("lacks 3 of the 9 seats for it"));
}

TEST(Placement, GrowingBeyondItsCliqueBeforeThatPlacesItAnew) {
  auto world = scene().clique("a.1", 6).clique("b.1", 9).wants("train", 4);
  world.decide();
  world.makes_template("train").domain("train").num_nodes = 9;
  world.decide();
  EXPECT_EQ(world.clique_of("train"), "b.1");
}

TEST(Placement, ASeatThatAPodMayHaveWhoseNodeIsNotReadIsGivenToNobody) {
  auto world = scene().clique("a.1", 4).wants("train", 3);
  world.world.unread = {{"a.1", "", 2}};
  world.world.unread_for = std::chrono::seconds(7);
  const PlacementPlan plan = world.decide();
  EXPECT_THAT(plan.plan.actions, IsEmpty());
  EXPECT_THAT(plan.verdicts, IsEmpty()) << "nobody knows yet";
  EXPECT_EQ(plan.plan.look_again, std::chrono::seconds(7));
  auto other = world;
  other.clique("b.1", 9).decide();
  EXPECT_EQ(other.clique_of("train"), "b.1");
  world.world.unread.clear();
  EXPECT_EQ(world.decide().plan.look_again, std::nullopt);
  EXPECT_EQ(world.clique_of("train"), "a.1");
}

TEST(Placement, PodsThatAreNotReadHaveTheSeatsFirstThatAreKeptForTheirDomain) {
  auto world = scene().clique("a.1", 6).wants("train", 4);
  world.decide();
  world.wants("serve", 2).world.unread = {{"a.1", uid_of("train"), 5}};
  world.decide();
  EXPECT_EQ(world.clique_of("serve"), "");
  world.world.unread = {{"a.1", uid_of("train"), 4}};
  world.decide();
  EXPECT_EQ(world.clique_of("serve"), "a.1");
}

TEST(Placement, PodsOfOthersThatAreNotReadPutOffWhatADomainGrowsBy) {
  auto world = scene().clique("a.1", 4).wants("train", 2);
  world.decide();
  world.domain("train").num_nodes = 3;
  world.world.unread = {{"a.1", uid_of("train"), 4}};
  auto other = world;
  EXPECT_THAT(world.decide().plan.actions, SizeIs(1)) << "its own";
  other.world.unread = {{"a.1", "", 2}};
  const PlacementPlan plan = other.decide();
  EXPECT_THAT(plan.plan.actions, IsEmpty());
  EXPECT_THAT(plan.verdicts, IsEmpty()) << "it lacks nothing that is known";
}

TEST(Placement, PodsThatAreNotReadMoveNobody) {
  auto world = scene().clique("a.1", 4).clique("b.1", 9).wants("train", 4);
  world.decide();
  world.world.unread = {{"a.1", "", 4}};
  const PlacementPlan plan = world.decide();
  EXPECT_THAT(plan.plan.actions, IsEmpty());
  EXPECT_TRUE(verdict_on(plan, "train").holds);
}

TEST(Placement, ATemplateWaitsForPodsThatAreNotReadWhenTheReservationsMapIsLost) {
  auto world = scene().clique("a.1", 4).clique("b.1", 9).wants("train", 4);
  world.decide();
  world.makes_template("train").world.reservations.reset();
  world.world.unread = {{"a.1", "", 1}};
  EXPECT_THAT(world.decide().plan.actions, IsEmpty());
  world.world.unread.clear();
  world.decide();
  EXPECT_EQ(world.clique_of("train"), "a.1");
}

TEST(Placement, ShrinkingFreesSeats) {
  auto world = scene().clique("a.1", 4).wants("train", 4);
  world.decide();
  world.makes_template("train").wants("serve", 2).domain("train").num_nodes = 2;
  world.decide();
  EXPECT_EQ(world.clique_of("serve"), "a.1");
}

api::ResourceSlice slice(const std::string& node, api::AttributeValue clique) {
  api::ResourceSlice object;
  object.driver = api::kDriver;
  object.pool = object.node = node;
  object.devices = {{.name = "channel-0",
                     .attributes = {{"type", std::string("channel")},
                                    {"id", std::int64_t{0}},
                                    {"clique", std::move(clique)}}}};
  return object;
}

std::vector<CliqueSeats> seats_of(const std::vector<api::ResourceSlice>& slices) {
  std::vector<Offer> offers;
  offers.reserve(slices.size());
  for (const api::ResourceSlice& each : slices) offers.push_back(offer_of(each, State::Free));
  return seats_in(offers);
}

TEST(PlacementSeats, AreTheChannelsZeroThatHaveAClique) {
  const api::ResourceSlice good = slice("n1", std::string("a.1"));
  api::ResourceSlice daemon = slice("n2", std::string("a.1"));
  daemon.devices[0].attributes["type"] = std::string("daemon");
  api::ResourceSlice without = slice("n3", std::string("a.1"));
  without.devices[0].attributes.erase("clique");
  api::ResourceSlice foreign = slice("n4", std::string("a.1"));
  foreign.driver = "gpu.nvidia.com";
  const auto cliques = seats_of({good, daemon, without, foreign});
  EXPECT_THAT(cliques, ElementsAre(CliqueSeats{"a.1", {{"n1", State::Free}}}));
}

TEST(PlacementSeats, AreThoseOfThePoolsNewestGeneration) {
  const api::ResourceSlice old = slice("n1", std::string("a.1"));
  api::ResourceSlice newer = slice("n1", std::string("b.1"));
  newer.pool_generation = 2;
  EXPECT_THAT(seats_of({newer, old}), ElementsAre(CliqueSeats{"b.1", {{"n1", State::Free}}}));
}

TEST(PlacementSeats, ACliqueWhoseNameWouldBreakASelectorIsNone) {
  const api::ResourceSlice quoted = slice("n1", std::string("a' || true || '"));
  const api::ResourceSlice number = slice("n2", std::int64_t{7});
  EXPECT_THAT(seats_of({quoted, number}), IsEmpty());
}

TEST(PlacementSeats, TheStateOfASeatIsThatOfItsNode) {
  api::Node node;
  node.ready = api::ConditionStatus::True;
  EXPECT_EQ(seat_state_of(&node, false), State::Free);
  EXPECT_EQ(seat_state_of(&node, true), State::InUse);
  EXPECT_EQ(seat_state_of(nullptr, false), State::NotReady);
  node.taints = {{.key = "nvidia.com/gpu", .value = "", .effect = "NoSchedule"}};
  EXPECT_EQ(seat_state_of(&node, false), State::Free);
  node.taints = {{.key = api::kUnschedulableTaint, .value = "", .effect = "NoSchedule"}};
  EXPECT_EQ(seat_state_of(&node, false), State::Unschedulable);
  node.ready = api::ConditionStatus::Unknown;
  EXPECT_EQ(seat_state_of(&node, false), State::NotReady);
}

TEST(PlacementSeats, OfANodeThatTakesNoPodsHaveAWordForIt) {
  api::Node node;
  node.ready = api::ConditionStatus::True;
  EXPECT_EQ(closed_word(&node), "");
  node.taints = {{.key = api::kUnschedulableTaint, .value = "", .effect = "NoSchedule"}};
  EXPECT_EQ(closed_word(&node), "cordoned");
  node.taints.push_back({.key = api::kOutOfServiceTaint, .value = "", .effect = "NoExecute"});
  EXPECT_EQ(closed_word(&node), "tainted out-of-service");
  node.meta.deletion_time = base::Time{};
  EXPECT_EQ(closed_word(&node), "being deleted");
  node.ready = api::ConditionStatus::False;
  EXPECT_EQ(closed_word(&node), "not Ready");
  EXPECT_EQ(closed_word(nullptr), "gone");
}

TEST(PlacementSeats, AreOneForEachNodeHoweverManyDomainsItServes) {
  api::ResourceSlice several = slice("n1", std::string("a.1"));
  several.devices.resize(8, several.devices[0]);
  EXPECT_THAT(seats_of({several}), ElementsAre(CliqueSeats{"a.1", {{"n1", State::Free}}}));
}

// A template's annotations and the number of nodes are a tenant's words.
TEST(Placement, NoNumberThatATenantWritesOverflowsTheChoiceForOthers) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  auto world =
      scene().clique("a.1", 4).clique("b.1", 18).wants("mallory", kMost).wants("m2", kMost);
  world.domain("mallory").made = TemplatePlacement{"a.1", 1};
  world.domain("m2").made = TemplatePlacement{"a.1", 2};
  world.decide();
  world.wants("train", 16).decide();
  EXPECT_EQ(world.clique_of("train"), "b.1");
}

// Which names the domain as its owner, and a clique.
TEST(Placement, ATemplateThatATenantWritesTakesNoSeatsThatOthersHave) {
  auto world = scene().clique("a.1", 4).wants("mallory", 100);
  world.decide();
  world.wants("train", 4).decide();
  world.domain("mallory").num_nodes = 4;
  world.domain("mallory").made = TemplatePlacement{"a.1", 1};
  const PlacementPlan plan = world.decide();
  EXPECT_TRUE(verdict_on(plan, "train").holds);
  EXPECT_FALSE(verdict_on(plan, "mallory").holds);
  EXPECT_EQ(world.decide().plan, Plan{});
  // Once another clique has room, it is placed there like any other.
  world.clique("b.1", 4).decide();
  EXPECT_EQ(world.clique_of("mallory"), "b.1");
}

TEST(Placement, ATemplateThatATenantWritesClosesNoCliqueToOthers) {
  auto world = scene().clique("a.1", 4).wants("mallory", 1'000'000);
  world.domain("mallory").made = TemplatePlacement{"a.1", 1};
  world.decide();
  world.wants("train", 4).decide();
  EXPECT_EQ(world.clique_of("train"), "a.1");
}

TEST(Placement, APlacedDomainComesBeforeATemplateThatATenantWritesWhenTheMapIsLost) {
  auto world = scene().clique("a.1", 4).wants("mallory", 4).wants("train", 4);
  world.domain("mallory").made = TemplatePlacement{"a.1", 1};
  world.domain("train").made = TemplatePlacement{"a.1", 2};
  world.domain("train").placed_clique = "a.1";
  world.decide();
  EXPECT_EQ(world.clique_of("train"), "a.1");
  EXPECT_EQ(world.clique_of("mallory"), "");
}

TEST(Placement, ANumberThatATenantHasRaisedTakesNoSeatsOfOthersWhenTheMapIsLost) {
  for (const std::int64_t raised : {10, 20, 1'000'000}) {
    auto world = scene().clique("a.1", 16).wants("old", raised).wants("train", 8);
    for (const char* name : {"old", "train"}) {
      world.domain(name).made = TemplatePlacement{"a.1", 1};
      world.domain(name).placed_clique = "a.1";
    }
    const PlacementPlan plan = world.decide();
    EXPECT_TRUE(verdict_on(plan, "train").holds) << raised;
    EXPECT_FALSE(verdict_on(plan, "old").holds) << raised;
  }
}

TEST(Placement, APlacedDomainKeepsItsCliqueThoughSeatsAreMissingWhenTheMapIsLost) {
  auto world = scene().clique("a.1", 4).clique("b.1", 4).wants("train", 4);
  world.takes("train", "a.1", 2).seats("a.1", 1, State::NotReady);
  world.domain("train").made = TemplatePlacement{"a.1", 1};
  world.domain("train").placed_clique = "a.1";
  const PlacementPlan plan = world.decide();
  EXPECT_EQ(world.clique_of("train"), "a.1");
  EXPECT_EQ(verdict_on(plan, "train").reason, Reason("CliqueLacksSeats"));
  // The seat is its own when it comes back.
  world.seats("a.1", 1, State::Free).wants("mallory", 1);
  world.domain("mallory").made = TemplatePlacement{"a.1", 1};
  EXPECT_TRUE(verdict_on(world.decide(), "train").holds);
  EXPECT_NE(world.clique_of("mallory"), "a.1");
}

TEST(Placement, ADomainInUseThatNothingSaysToBePlacedIsToldWhatItsCliqueLacks) {
  auto world = scene().clique("a.1", 4).clique("b.1", 4).wants("train", 4);
  world.takes("train", "a.1", 2).seats("a.1", 1, State::NotReady);
  world.domain("train").made = TemplatePlacement{"a.1", 1};
  const PlacementPlan plan = world.decide();
  EXPECT_EQ(verdict_on(plan, "train").reason, Reason("CliqueLacksSeats"));
  EXPECT_EQ(world.clique_of("train"), "");
}

TEST(Placement, ADomainWhosePodsWaitForAFullCliqueIsToldSoBeforeItIsPlacedElsewhere) {
  auto world = scene().clique("a.1", 4).clique("b.1", 8).wants("serve", 4).takes("serve", "a.1", 4);
  world.decide();
  world.wants("train", 4);
  world.domain("train").made = TemplatePlacement{"a.1", 1};
  world.domain("train").has_waiting_claims = true;
  const PlacementPlan plan = world.decide();
  EXPECT_EQ(verdict_on(plan, "train").reason, Reason("CliqueLacksSeats"));
  EXPECT_EQ(plan.plan.look_again, world.world.settings.placement_patience);
  EXPECT_EQ(world.clique_of("train"), "");
}

// "train" on a.1, whose template a tenant has annotated with `generation`.
PlacementScene annotated_scene(std::int64_t generation) {
  auto world = scene().clique("a.1", 4).clique("b.1", 18).wants("train", 4);
  world.decide();
  auto object = *wanted_template(testing::domain("train"),
                                 *reservation_in(*world.world.reservations, uid_of("train")));
  object.meta.annotations[api::kPlacementGeneration] = std::to_string(generation);
  world.domain("train").made = placement_of(object);
  return world;
}

constexpr std::int64_t kTurnsOfTenants[] = {
    1'000'000'000'000, 999'999'999'999, 100'000'000'000,
    99'999'999'999,    1'000'000'000,   std::numeric_limits<std::int64_t>::max()};

TEST(Placement, NoTurnThatATenantWritesStopsTheChoicesForOthers) {
  for (const std::int64_t generation : kTurnsOfTenants) {
    auto world = annotated_scene(generation);
    world.wants("serve", 16).decide();
    EXPECT_EQ(world.clique_of("serve"), "b.1") << generation;
    EXPECT_EQ(reservations_in(*world.world.reservations).generation, 2) << generation;
  }
}

// A template that is read as one of an earlier choice would be made again for ever.
TEST(Placement, NoTurnThatATenantWritesOutdatesTheTemplatesOfOthers) {
  for (const bool is_placed : {false, true}) {
    for (const std::int64_t generation : kTurnsOfTenants) {
      auto world = scene().clique("a.1", 4).clique("b.1", 4).wants("mallory", is_placed ? 1 : 1000);
      world.domain("mallory").made = TemplatePlacement{"a.1", generation};
      if (is_placed) world.domain("mallory").placed_clique = "a.1";
      world.decide();
      world.wants("train", 4).decide();
      const auto kept = reservation_in(*world.world.reservations, uid_of("train"));
      ASSERT_TRUE(kept) << generation;
      const auto made = placement_of(*wanted_template(testing::domain("train"), *kept));
      EXPECT_EQ(made->generation, kept->generation) << generation;
    }
  }
}

TEST(Placement, NorWhenTheReservationsMapIsLost) {
  for (const std::int64_t generation : kTurnsOfTenants) {
    auto world = annotated_scene(generation);
    world.world.reservations.reset();
    world.wants("serve", 16).decide();
    EXPECT_EQ(world.clique_of("train"), "a.1") << generation;
    EXPECT_EQ(world.clique_of("serve"), "b.1") << generation;
    EXPECT_EQ(world.decide().plan, Plan{}) << generation;
  }
}

TEST(Placement, AMoveIsOfALaterGenerationThanATemplateThatIsAheadOfTheReservationsMap) {
  auto world = short_scene();
  world.domain("train").made->generation = 50;
  world.decide();
  EXPECT_EQ(reservation_in(*world.world.reservations, uid_of("train"))->generation, 51);
}

TEST(Placement, AReservationsMapWhoseGenerationsHaveRunOutIsCountedFromTheBeginning) {
  auto world = annotated_scene(1'000'000'000'000);
  world.world.reservations->data = {{"generation", "1000000000001"},
                                    {uid_of("train"), "4 seats of a.1 generation 1000000000000"},
                                    {uid_of("serve"), "16 seats of b.1 generation 1000000000001"}};
  world.wants("serve", 16).decide();
  EXPECT_EQ(world.clique_of("train"), "a.1");
  EXPECT_EQ(world.clique_of("serve"), "b.1");
}

}  // namespace
}  // namespace cdom::core
