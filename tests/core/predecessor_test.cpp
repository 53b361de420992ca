// Domains that the reference driver has made, and serves until their last claim has ended.
#include <gmock/gmock.h>

#include <algorithm>

#include "compute_domain/core/templates.h"
#include "core/builders.h"

namespace cdom::core {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the sentences of builders.h
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

constexpr char kTheirs[] = "nvidia-dra-driver-gpu";
const EnsurePredecessorGone kGone{"uid-train", {kTheirs}};

// As that driver leaves it: Ready with `nodes` nodes, its own template and the users'.
World inherited_world(int nodes) {
  World world = world_of(domain("train").wants(nodes).finalized(), nodes);
  world.settings.adopt_from = {kTheirs};
  world.view.has_predecessor = true;
  api::ComputeDomainStatus status;
  status.ready = true;
  for (int i = 1; i <= nodes; ++i) {
    const std::string node = base::cat("n", i);
    status.nodes.push_back({.name = node,
                            .ip_address = address_of(node),
                            .clique = kClique,
                            .index = i - 1,
                            .ready = true});
  }
  world.view.domain->status = status;
  api::ResourceClaimTemplate users = *wanted_template(*world.view.domain);
  users.meta.uid = "uid-template";
  users.meta.owners.clear();
  users.meta.finalizers = {api::kDomainFinalizer, "example.com/other"};
  world.templates = {users};
  return world;
}

// By which that driver is known.
api::ResourceClaimTemplate its_own_template() {
  api::ResourceClaimTemplate own;
  own.meta.name = "computedomain-daemon-uid-train";
  own.meta.ns = kTheirs;
  own.meta.labels = {{api::kDomainLabel, "uid-train"}, {api::kTargetLabel, api::kTargetDaemon}};
  own.meta.finalizers = {api::kDomainFinalizer};
  return own;
}

const api::ComputeDomainStatus& status_of(const Plan& plan) {
  for (const Action& action : plan.actions) {
    if (const auto* set = std::get_if<SetStatus>(&action)) return set->status;
  }
  throw std::runtime_error("the plan sets no status");
}

bool removes_anything(const Plan& plan) {
  return std::ranges::any_of(plan.actions, [](const Action& action) {
    return std::holds_alternative<EnsureTemplateAbsent>(action) ||
           std::holds_alternative<EnsurePredecessorGone>(action) ||
           std::holds_alternative<RemoveFinalizer>(action);
  });
}

TEST(Predecessor, KeepsWhatItServesWhileClaimsAreAllocated) {
  const World world = inherited_world(2);
  const Plan plan = reconcile(world);
  EXPECT_FALSE(removes_anything(plan));
  const api::ComputeDomainStatus& status = status_of(plan);
  EXPECT_EQ(status.nodes, world.view.domain->status->nodes);
  const api::Condition* ready = api::find_condition(status.conditions, "Ready");
  ASSERT_NE(ready, nullptr);
  EXPECT_EQ(ready->status, api::ConditionStatus::Unknown);
  EXPECT_EQ(ready->reason, "ServedByPredecessor");
  EXPECT_THAT(ready->message, HasSubstr("2 pods (pod-c1, pod-c2)"));
}

// A claim "late" on a node of ours that has none yet, which begins to exist at that moment.
World world_with_claim_made_at(base::Time made) {
  World world = inherited_world(1);
  world.view.domain->status = status_of(reconcile(world));
  world.nodes["n1"].report->meta.creation_time = kNow - std::chrono::minutes(1);
  world.nodes["n2"] = idle_node("n2");
  world.nodes["n2"].report->meta.creation_time = kNow - std::chrono::minutes(1);
  world.view.claims[0].meta.creation_time = kNow - std::chrono::hours(1);
  api::ResourceClaim late = claim("late").on("n2");
  late.meta.creation_time = made;
  world.view.claims.push_back(late);
  return world;
}

// Each would wait for the other.
TEST(Predecessor, DoesNotWaitForClaimsThatWaitForItsEnd) {
  World world = world_with_claim_made_at(kNow + std::chrono::seconds(5));
  EXPECT_FALSE(removes_anything(reconcile(world)));
  world.view.claims.erase(world.view.claims.begin());
  EXPECT_THAT(
      reconcile(world).actions,
      IsSupersetOf({Action(EnsureClaimsReleased{
                        "team-a", "compute-domain-operator", "uid-train", true, {"uid-late"}}),
                    Action(kGone)}));
}

// Times are of whole seconds, and each would wait for the other for ever.
TEST(Predecessor, DoesNotWaitForAClaimOfTheSameSecondThatKubeletBringsToOurAgent) {
  World world = world_with_claim_made_at(kNow);
  world.view.claims.erase(world.view.claims.begin());
  world.nodes["n2"].report->status.pending_claims = {{"uid-other", "waits"}};
  EXPECT_FALSE(removes_anything(reconcile(world))) << "another claim";
  world.nodes["n2"].report->status.pending_claims = {{"uid-late", "waits"}};
  EXPECT_TRUE(removes_anything(reconcile(world)));
  world.view.claims[0].meta.creation_time = kNow - std::chrono::seconds(1);
  EXPECT_FALSE(removes_anything(reconcile(world))) << "made before";
}

TEST(Predecessor, WaitsForClaimsThatItMayHavePrepared) {
  World world = world_with_claim_made_at(kNow);
  world.view.claims.erase(world.view.claims.begin());
  EXPECT_FALSE(removes_anything(reconcile(world))) << "made when it was still there";

  world = world_with_claim_made_at(kNow + std::chrono::seconds(5));
  world.view.claims.erase(world.view.claims.begin());
  world.nodes["n2"].report->meta.creation_time = kNow + std::chrono::seconds(6);
  EXPECT_FALSE(removes_anything(reconcile(world))) << "our agent came to the node later";
  world.nodes["n2"].report.reset();
  EXPECT_FALSE(removes_anything(reconcile(world))) << "it has not come yet";
}

// Two daemons on a node would be one too many.
TEST(Predecessor, NothingOfOursIsAdmittedBesideIt) {
  const World world = inherited_world(2);
  EXPECT_THAT(reconcile_group(world, group_of(world)).actions, IsEmpty());
}

TEST(Predecessor, IsQuietOnceItsStandingIsTold) {
  World world = inherited_world(2);
  world.view.domain->status = status_of(reconcile(world));
  EXPECT_THAT(reconcile(world).actions, IsEmpty());
}

TEST(Predecessor, GoesAfterTheLastClaimOnceALiveListAgrees) {
  World world = inherited_world(2);
  world.view.claims.clear();
  const Plan plan = reconcile(world);
  ASSERT_GE(plan.actions.size(), 2U);
  EXPECT_EQ(plan.actions[plan.actions.size() - 2],
            Action(EnsureClaimsReleased{"team-a", "compute-domain-operator", "uid-train", true}));
  EXPECT_EQ(plan.actions.back(), Action(kGone));
}

TEST(Predecessor, OnceGoneTheDomainIsOurs) {
  World world = inherited_world(2);
  world.view.has_predecessor = false;
  EXPECT_THAT(reconcile_group(world, group_of(world)).actions, Not(IsEmpty()));
  const api::ResourceClaimTemplate users = world.templates.front();
  const auto owners = wanted_template(*world.view.domain)->meta.owners;
  EXPECT_THAT(reconcile(world).actions, Contains(Action(AdoptTemplate{users.meta, owners})));
}

TEST(Predecessor, IsBelievedNowhereButWhereItWas) {
  const World world = inherited_world(0);
  const auto is_sign = [&](const auto& change) {
    api::ObjectMeta meta = its_own_template().meta;
    change(meta);
    return is_predecessors_sign(meta, "uid-train", world.settings);
  };
  EXPECT_TRUE(is_sign([](auto&) {}));
  EXPECT_FALSE(is_sign([](auto& meta) { meta.ns = "team-b"; })) << "anybody's namespace";
  EXPECT_FALSE(is_sign([](auto& meta) { meta.name = "mine"; }));
  EXPECT_FALSE(is_sign([](auto& meta) { meta.finalizers.clear(); }));
  EXPECT_FALSE(is_sign([](auto& meta) { meta.labels[api::kTargetLabel] = "Workload"; }));
  EXPECT_FALSE(is_sign([](auto& meta) { meta.labels[api::kDomainLabel] = "uid-other"; }));
  EXPECT_FALSE(is_predecessors_sign(its_own_template().meta, "uid-train", {})) << "not adopting";
}

TEST(Predecessor, KeepsItsTemplateUnlessAnAdministratorHasItTakenOver) {
  World world = inherited_world(0);
  world.view.has_predecessor = false;
  world.settings.adopt_from.clear();
  const Plan plan = reconcile(world);
  EXPECT_EQ(condition_in(plan, "TemplateReady").reason, "TemplateNameTaken");
  EXPECT_THAT(condition_in(plan, "TemplateReady").message, HasSubstr("--adopt-from"));
}

TEST(Predecessor, OfADomainThatIsDeletedGoesBeforeTheFinalizer) {
  World world = inherited_world(2);
  world.view.domain->meta.deletion_time = kNow;
  const EnsureTemplateAbsent absent{{"team-a", "train-channel"}, "uid-train", true};
  EXPECT_THAT(reconcile(world).actions, Contains(Action(absent))) << "no new claim is made";
  EXPECT_THAT(reconcile(world).actions, Not(Contains(Action(kGone))));
  EXPECT_EQ(status_of(reconcile(world)).nodes, world.view.domain->status->nodes);
  world.view.claims.clear();
  EXPECT_THAT(
      reconcile(world).actions,
      ElementsAre(
          Action(absent),
          Action(EnsureClaimsReleased{"team-a", "compute-domain-operator", "uid-train", true}),
          Action(kGone), Action(EnsureNodeListsAbsent{"compute-domain-operator", "uid-train"}),
          Action(RemoveFinalizer{world.view.domain->meta})));
}

TEST(Predecessor, OfADomainThatIsGoneGoesTooWhenNobodyUsesIt) {
  World world = inherited_world(0);
  world.view.domain.reset();
  world.templates.push_back(its_own_template());
  EXPECT_THAT(
      reconcile(world).actions,
      ElementsAre(Action(EnsureDomainGone{"uid-train", true}),
                  Action(EnsureTemplateAbsent{{"team-a", "train-channel"}, "uid-train", true}),
                  Action(EnsureClaimsReleased{"", "compute-domain-operator", "uid-train", true}),
                  Action(kGone)));
}

// Nobody could take it over while somebody of another namespace names it.
TEST(Predecessor, DoesNotWaitForClaimsOfAnotherNamespace) {
  World world = inherited_world(1);
  world.view.claims.clear();
  ASSERT_TRUE(removes_anything(reconcile(world)));
  world.view.claims.push_back(claim("stray").in("team-b").on("n1"));
  const Plan plan = reconcile(world);
  EXPECT_TRUE(removes_anything(plan)) << base::join(sentences(plan), "\n");
}

}  // namespace
}  // namespace cdom::core
