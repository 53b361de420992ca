// What a domain that wants one clique does with the clique that it was given.
#include <gmock/gmock.h>

#include <algorithm>

#include "compute_domain/core/status.h"
#include "core/builders.h"

namespace cdom::core {
namespace {

using namespace testing;
using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

const Reservation kReservation{.clique = "aaaa.1", .seats = 2, .generation = 7};

World wanting_one_clique() {
  World world = world_of(domain("train").wants(2).finalized(), 0);
  world.view.domain->spec.placement = api::ComputeDomainPlacement{api::CliquePlacement::Single};
  return world;
}

World reserved_one() {
  World world = wanting_one_clique();
  world.reservation = kReservation;
  world.placement =
      PlacementVerdict{true, "CliqueChosen", "2 seats of clique aaaa.1 are kept for it"};
  return world;
}

void make_placed_template(World& world, const Reservation& reservation) {
  api::ResourceClaimTemplate object = *wanted_template(*world.view.domain, reservation);
  object.meta.uid = "uid-template";
  object.meta.resource_version = "5";
  world.templates = {object};
}

template <class T>
const T* action_in(const Plan& plan) {
  for (const Action& action : plan.actions) {
    if (const auto* found = std::get_if<T>(&action)) return found;
  }
  return nullptr;
}

TEST(PlacedDomain, SaysOfAClaimThatWaitsWhichSeatsItTakes) {
  World world = reserved_one();
  make_placed_template(world, kReservation);
  api::ResourceClaim waiting = claim("c1");
  waiting.meta.creation_time = kNow - 5s;
  world.view.claims = {waiting};
  world.seats = SeatCount{.total = 36, .in_use = 1};
  EXPECT_THAT(
      condition_in(reconcile(world), "Ready").message,
      HasSubstr("): it takes seats of clique aaaa.1 alone, so a pod that may not run on its "
                "nodes stays Pending"));
}

TEST(PlacedDomain, SaysNothingWhileItsCliqueIsAboutToBeChosen) {
  World world = wanting_one_clique();
  world.known_for = 300ms;
  const Plan nothing{.actions = {}, .look_again = 700ms};
  EXPECT_EQ(reconcile(world), nothing);
  world.placement = PlacementVerdict{true, "CliqueChosen", "…"};  // its reservation is not seen yet
  EXPECT_EQ(reconcile(world), nothing);
}

TEST(PlacedDomain, HasAStatusAfterASecondWhateverHoldsTheChoiceUp) {
  World world = wanting_one_clique();
  world.known_for = 1s;
  EXPECT_EQ(condition_in(reconcile(world), kConditionPlaced).reason, "Choosing");
}

TEST(PlacedDomain, HasNoTemplateUntilACliqueIsChosen) {
  World world = wanting_one_clique();
  world.placement = PlacementVerdict{false, "NoCliqueFits", "needs 2 seats, …"};
  const Plan plan = reconcile(world);
  EXPECT_EQ(action_in<CreateTemplate>(plan), nullptr);
  EXPECT_EQ(condition_in(plan, kConditionPlaced).status, api::ConditionStatus::False);
  EXPECT_EQ(condition_in(plan, kConditionPlaced).message, "needs 2 seats, …");
  EXPECT_EQ(condition_in(plan, kConditionTemplate).reason, "NotPlaced");
  EXPECT_EQ(condition_in(plan, kConditionReady).reason, "NotPlaced");
  EXPECT_EQ(condition_in(plan, kConditionReady).message, "needs 2 seats, …");
  EXPECT_THAT(sentences(plan), Contains(HasSubstr("record Warning event NoCliqueFits")));
}

TEST(PlacedDomain, MakesItsTemplateForTheCliqueThatIsReservedForIt) {
  const Plan plan = reconcile(reserved_one());
  const auto* create = action_in<CreateTemplate>(plan);
  ASSERT_NE(create, nullptr);
  EXPECT_EQ(placement_of(create->object), (TemplatePlacement{"aaaa.1", 7}));
  EXPECT_EQ(status_in(plan)->status.placed_clique, "aaaa.1");
  EXPECT_EQ(condition_in(plan, kConditionPlaced).status, api::ConditionStatus::True);
  EXPECT_EQ(condition_in(plan, kConditionTemplate).status, api::ConditionStatus::True);
}

TEST(PlacedDomain, IsQuietOnceItHasIt) {
  World world = reserved_one();
  apply_status(world, reconcile(world));
  make_placed_template(world, kReservation);
  EXPECT_EQ(reconcile(world), Plan{});
}

// By it the reservation is told from a template that a tenant has written.
TEST(PlacedDomain, KeepsTheCliqueOfItsTemplateInTheStatusWhileTheReservationIsLost) {
  World world = reserved_one();
  make_placed_template(world, kReservation);
  apply_status(world, reconcile(world));
  world.reservation.reset();
  world.placement = PlacementVerdict{false, "NoCliqueFits", "needs 2 seats, …"};
  EXPECT_EQ(status_in(reconcile(world))->status.placed_clique, "aaaa.1");
  make_placed_template(world, {.clique = "bbbb.2", .seats = 2, .generation = 8});
  EXPECT_EQ(status_in(reconcile(world))->status.placed_clique, "");
}

TEST(PlacedDomain, KeepsWhatWasToldUntilThisProcessHasLooked) {
  World world = wanting_one_clique();
  world.placement = PlacementVerdict{false, "NoCliqueFits", "needs 2 seats, …"};
  apply_status(world, reconcile(world));
  world.placement.reset();
  EXPECT_EQ(status_in(reconcile(world)), nullptr);
}

TEST(PlacedDomain, TellsThatItHasWaitedForItsCliqueWithSuccess) {
  World world = wanting_one_clique();
  world.placement = PlacementVerdict{false, "NoCliqueFits", "needs 2 seats, …"};
  apply_status(world, reconcile(world));
  World then = reserved_one();
  then.view.domain->status = world.view.domain->status;
  EXPECT_THAT(sentences(reconcile(then)), Contains(HasSubstr("record Normal event CliqueChosen")));
}

TEST(PlacedDomain, IsQuietWithAnyTurnThatItMayHave) {
  for (const std::int64_t generation : {1'000'000'000L, 1'000'000'001L, 50'000'000'000L}) {
    World world = reserved_one();
    world.reservation->generation = generation;
    apply_status(world, reconcile(world));
    make_placed_template(world, *world.reservation);
    EXPECT_EQ(reconcile(world), Plan{}) << generation;
  }
}

TEST(PlacedDomain, MakesATemplateAgainWhoseTurnNoCacheCanBeBehind) {
  World world = reserved_one();
  make_placed_template(world, {.clique = "aaaa.1", .seats = 2, .generation = 5'000'000});
  EXPECT_NE(action_in<ReplaceTemplate>(reconcile(world)), nullptr);
  make_placed_template(world, {.clique = "aaaa.1", .seats = 2, .generation = 900});
  EXPECT_EQ(action_in<ReplaceTemplate>(reconcile(world)), nullptr) << "of a later choice";
}

TEST(PlacedDomain, MakesItsTemplateAnewWhenItIsPlacedAnew) {
  World world = reserved_one();
  make_placed_template(world, {.clique = "bbbb.2", .seats = 2, .generation = 3});
  const auto plan = reconcile(world);
  const auto* replace = action_in<ReplaceTemplate>(plan);
  ASSERT_NE(replace, nullptr);
  EXPECT_EQ(replace->current.resource_version, "5");
  EXPECT_EQ(placement_of(replace->object), (TemplatePlacement{"aaaa.1", 7}));
}

TEST(PlacedDomain, LeavesATemplateOfAChoiceThatIsNewerThanTheReservationsMap) {
  World world = reserved_one();
  make_placed_template(world, {.clique = "bbbb.2", .seats = 2, .generation = 8});
  EXPECT_EQ(action_in<ReplaceTemplate>(reconcile(world)), nullptr);
}

TEST(PlacedDomain, ReplacesATemplateThatLetsPodsGoAnywhere) {
  World world = reserved_one();
  make_template(world);
  EXPECT_NE(action_in<ReplaceTemplate>(reconcile(world)), nullptr);
}

TEST(PlacedDomain, LeavesTheTemplateOfTheReferenceDriverUntilThatIsGone) {
  World world = reserved_one();
  make_template(world);
  world.view.has_predecessor = true;
  EXPECT_EQ(action_in<ReplaceTemplate>(reconcile(world)), nullptr);
}

TEST(PlacedDomain, TellsClaimsThatAskForItsFormerClique) {
  World world = reserved_one();
  make_placed_template(world, kReservation);
  api::ResourceClaim waiting = claim("c1");
  waiting.spec = wanted_template(*world.view.domain, Reservation{.clique = "bbbb.2"})->spec;
  world.view.claims = {waiting};
  const Plan plan = reconcile(world);
  EXPECT_EQ(condition_in(plan, kConditionPlaced).reason, "PodsOfFormerClique");
  EXPECT_THAT(condition_in(plan, kConditionPlaced).message, HasSubstr("delete the pods of c1"));
  EXPECT_THAT(sentences(plan),
              Contains("record Warning event MadeForFormerClique on ResourceClaim team-a/c1: asks "
                       "for a seat of clique bbbb.2, and ComputeDomain train is now in clique "
                       "aaaa.1; delete the pod, so that its claim is created again"));
  world.reported_claims = {waiting.meta.uid};
  EXPECT_THAT(sentences(reconcile(world)), Not(Contains(HasSubstr("MadeForFormerClique"))));
}

TEST(PlacedDomain, TellsOfPodsThatGotSeatsElsewhere) {
  World world = reserved_one();
  make_placed_template(world, kReservation);
  world.view.claims = {claim("c1").on("n1"), claim("c2").on("n2")};
  world.nodes = {{"n1", idle_node("n1", kReservation.clique)}, {"n2", idle_node("n2", "bbbb.2")}};
  const Plan plan = reconcile(world);
  EXPECT_EQ(condition_in(plan, kConditionPlaced).status, api::ConditionStatus::False);
  EXPECT_EQ(condition_in(plan, kConditionPlaced).reason, "PodsElsewhere");
  EXPECT_THAT(condition_in(plan, kConditionPlaced).message,
              HasSubstr("its pods on n2 are in another clique: delete them"));
}

TEST(PlacedDomain, OneThatMayGoAnywhereIsAsEver) {
  World world = world_of(domain("train").wants(2), 0);
  const std::vector<std::string> before = sentences(reconcile(world));
  world.view.domain->spec.placement = api::ComputeDomainPlacement{};
  EXPECT_EQ(sentences(reconcile(world)), before);
  EXPECT_EQ(condition_in(reconcile(world), kConditionPlaced).type, "");
}

}  // namespace
}  // namespace cdom::core
