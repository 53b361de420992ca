// What the API server refuses to a domain, and how it is told.
#include <gmock/gmock.h>

#include "compute_domain/core/status.h"
#include "core/builders.h"

namespace cdom::core {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the sentences of builders.h
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kQuota[] = "create ResourceClaimTemplate team-a/train-channel: exceeded quota";

std::size_t place_of(const Plan& plan, const auto& is_it) {
  return static_cast<std::size_t>(std::ranges::find_if(plan.actions, is_it) - plan.actions.begin());
}

World refused_world() {
  World world = world_of(domain("train").wants(2).finalized(), 0);
  world.refusals = {kQuota};
  return world;
}

TEST(Refusals, AreToldBeforeTheNextAttempt) {
  const Plan plan = reconcile(refused_world());
  const auto is_status = [](const Action& a) { return std::holds_alternative<SetStatus>(a); };
  const auto is_event = [](const Action& a) { return std::holds_alternative<RecordEvent>(a); };
  const auto is_create = [](const Action& a) { return std::holds_alternative<CreateTemplate>(a); };
  EXPECT_LT(place_of(plan, is_event), place_of(plan, is_status)) << "it may be the status";
  EXPECT_LT(place_of(plan, is_status), place_of(plan, is_create));
  EXPECT_LT(place_of(plan, is_create), plan.actions.size());
  for (const char* type : {"Ready", "WritesAccepted"}) {
    EXPECT_EQ(condition_in(plan, type).status, api::ConditionStatus::False);
    EXPECT_EQ(condition_in(plan, type).reason, "WriteRefused");
    EXPECT_THAT(condition_in(plan, type).message, HasSubstr(kQuota));
  }
  EXPECT_EQ(condition_in(plan, "TemplateReady").reason, "Pending");
  const auto& event = std::get<RecordEvent>(plan.actions[place_of(plan, is_event)]);
  EXPECT_EQ(event.reason, "WriteRefused");
  EXPECT_EQ(event.type, "Warning");
  EXPECT_THAT(event.message, HasSubstr(kQuota));
  EXPECT_EQ(std::ranges::count_if(plan.actions, is_event), 1) << "one fact, one Event";
}

TEST(Refusals, AreToldOnce) {
  World world = refused_world();
  apply_status(world, reconcile(world));
  const Plan plan = reconcile(world);
  ASSERT_EQ(plan.actions.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<CreateTemplate>(plan.actions[0]));
}

TEST(Refusals, LeaveTheStatusWhenTheyHaveEnded) {
  World world = refused_world();
  apply_status(world, reconcile(world));
  world.refusals.clear();
  make_template(world);
  world.now += std::chrono::seconds(1);
  const Plan plan = reconcile(world);
  EXPECT_EQ(condition_in(plan, "Ready").reason, "WaitingForPods");
  EXPECT_EQ(condition_in(plan, "WritesAccepted"), api::Condition{}) << "there is none";
}

TEST(Refusals, DoNotHideThatAMemberHasFailed) {
  World world = settled_world(2);
  group_report(world, "n1").state = api::DaemonState::Failed;
  world.refusals = {kQuota};
  const api::Condition ready = condition_in(reconcile(world), "Ready");
  EXPECT_EQ(ready.reason, "ImexFailed");
  EXPECT_THAT(ready.message, HasSubstr(kQuota));
}

TEST(Refusals, DoNotEndAReadyDomain) {
  World world = settled_world(2);
  world.refusals = {kQuota};
  const Plan plan = reconcile(world);
  EXPECT_TRUE(status_in(plan)->status.ready);
  EXPECT_EQ(condition_in(plan, "WritesAccepted").reason, "WriteRefused");
}

TEST(Refusals, SayWhoHoldsADeletion) {
  World world = settled_world(2);
  world.view.domain->meta.deletion_time = kNow;
  world.view.claims.clear();
  for (const char* node : {"n1", "n2"}) group_report(world, node).claims.clear();
  world.refusals = {"ConfigMap o/l is still there: somebody else's finalizer holds it"};
  const Plan plan = reconcile(world);
  EXPECT_FALSE(status_in(plan)->status.ready);
  EXPECT_EQ(condition_in(plan, "Ready").reason, "Deleting");
  EXPECT_THAT(condition_in(plan, "Ready").message, HasSubstr("somebody else's finalizer"));
  EXPECT_TRUE(std::holds_alternative<RemoveFinalizer>(plan.actions.back())) << "tried again";
}

// The status is written first, so that a server that is away has no Event of it queued.
TEST(LastingFailures, AreToldLikeRefusals) {
  World world = refused_world();
  world.refusals.clear();
  world.failures = {{.what = "create ResourceClaimTemplate team-a/t: no answer", .since = kNow}};
  const Plan plan = reconcile(world);
  const auto is_status = [](const Action& a) { return std::holds_alternative<SetStatus>(a); };
  const auto is_event = [](const Action& a) { return std::holds_alternative<RecordEvent>(a); };
  const auto is_create = [](const Action& a) { return std::holds_alternative<CreateTemplate>(a); };
  EXPECT_LT(place_of(plan, is_status), place_of(plan, is_event));
  EXPECT_LT(place_of(plan, is_status), place_of(plan, is_create));
  EXPECT_LT(place_of(plan, is_create), plan.actions.size());
  for (const char* type : {"Ready", "WritesAccepted"}) {
    EXPECT_EQ(condition_in(plan, type).reason, "WriteRefused");
    EXPECT_EQ(
        condition_in(plan, type).message,
        "cannot go on: create ResourceClaimTemplate team-a/t: no answer (it has failed since "
        "2026-01-01T00:00:00Z); it is tried again; if it lasts, look for an admission webhook "
        "that does not answer");
  }
}

// Or it would be written with every look, for ever.
TEST(Reconcile, WritesAStatusOnceThatAnOlderDefinitionCutsShort) {
  World world = world_of(domain("train").wants(2).finalized(), 0);
  make_template(world);
  const Plan plan = reconcile(world);
  const api::ComputeDomainStatus sent = status_in(plan)->status;
  api::ComputeDomainStatus kept;
  kept.ready = sent.ready;
  world.view.domain->status = kept;
  world.status_written = world.now;
  world.now += std::chrono::seconds(5);
  EXPECT_NE(status_in(reconcile(world)), nullptr);
  world.pruned = PrunedStatus{sent, kept};
  EXPECT_THAT(reconcile(world).actions, IsEmpty());
  world.view.domain->status->ready = !kept.ready;
  EXPECT_NE(status_in(reconcile(world)), nullptr) << "somebody else has written it since";
}

}  // namespace
}  // namespace cdom::core
