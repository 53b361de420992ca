// Which pods are one workload, and what is done for it.
#include "compute_domain/core/workloads.h"

#include <gmock/gmock.h>

#include <set>

#include "compute_domain/api/domain_config.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/status.h"
#include "core/builders.h"

namespace cdom::core::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;

using Templates = std::map<std::string, std::string>;

const api::OwnerReference kJob{"batch/v1", "Job", "train", "uid-job", true};

PodFacts pod(const std::string& name) {
  PodFacts facts;
  facts.meta.name = name;
  facts.meta.ns = "team-a";
  facts.meta.uid = uid_of(name);
  return facts;
}

PodFacts pod_of_job(const std::string& name) {
  PodFacts facts = pod(name);
  facts.meta.owners = {kJob};
  return facts;
}

// A claim that was made from a template for a pod, and names no domain.
api::ResourceClaim claim_for(const std::string& pod_name) {
  api::ResourceClaim object;
  object.meta.name = pod_name + "-channel";
  object.meta.ns = "team-a";
  object.meta.uid = uid_of(object.meta.name);
  object.meta.owners = {{"v1", "Pod", pod_name, uid_of(pod_name), true}};
  object.meta.annotations = {{api::kPodClaimAnnotation, "channel"}};
  object.spec.requests = {{.name = "channel",
                           .device_class = api::kChannelClass,
                           .selectors = {},
                           .admin_access = false}};
  return object;
}

void configure(api::ResourceClaim& claim, const std::string& parameters) {
  claim.spec.configs.push_back(
      {.requests = {}, .driver = api::kDriver, .parameters = parameters, .from_class = false});
}

constexpr char kUnusableConfig[] =
    R"({"apiVersion":"resource.nvidia.com/v1beta1","kind":"ComputeDomainConfig","nodes":2})";

AutomaticClaim known(const api::ResourceClaim& object, const OwnedWorkload& workload) {
  return {.object = object,
          .seen = kElapsed - 1min,
          .workload = workload,
          .is_settled = true,
          .pod_seen = kElapsed - 1min};
}

AutomaticClaim unknown(const api::ResourceClaim& object, base::Duration age) {
  return {.object = object, .seen = kElapsed - age};
}

WorkloadsWorld world_with(std::vector<AutomaticClaim> claims) {
  WorkloadsWorld world;
  world.now = kElapsed;
  world.ns = "team-a";
  world.claims = std::move(claims);
  return world;
}

OwnedWorkload workload_of_job() { return *workload_of(pod_of_job("train-0"), "channel"); }

// The world once the pods of Job train have been read.
WorkloadsWorld world_of_job(std::int64_t parallelism) {
  WorkloadsWorld world = world_with({known(claim_for("train-0"), workload_of_job()),
                                     known(claim_for("train-1"), workload_of_job())});
  world.jobs["uid-job"] = api::Job{.meta = {}, .parallelism = parallelism, .completions = {}};
  return world;
}

template <class T>
std::vector<T> actions(const Plan& plan) {
  std::vector<T> found;
  for (const Action& action : plan.actions) {
    if (const auto* it = std::get_if<T>(&action)) found.push_back(*it);
  }
  return found;
}

api::ComputeDomain made_by(const Plan& plan) {
  const auto made = actions<CreateDomain>(plan);
  EXPECT_THAT(made, SizeIs(1));
  return made.empty() ? api::ComputeDomain{} : made[0].object;
}

TEST(WorkloadOf, IsTheControllingOwnerOfThePod) {
  const auto found = workload_of(pod_of_job("train-0"), "channel");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->workload, (api::Workload{"Job", "train", "uid-job"}));
  ASSERT_TRUE(found->owner);
  EXPECT_EQ(found->owner->uid, "uid-job");
  EXPECT_FALSE(found->owner->controller);
}

TEST(WorkloadOf, IsTheLabelBeforeAllElse) {
  PodFacts facts = pod_of_job("train-0");
  facts.meta.labels = {{api::kPodDomainLabel, "ring"}, {api::kJobSetUidLabel, "uid-set"}};
  const auto found = workload_of(facts, "channel");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->workload, (api::Workload{api::kLabelWorkload, "ring", ""}));
  EXPECT_EQ(found->owner->uid, "uid-job");
}

const std::map<std::string, std::string> kJobSetLabels{{api::kJobSetUidLabel, "uid-set"},
                                                       {api::kJobSetNameLabel, "trainer"}};

TEST(WorkloadOf, IsTheJobSetBeforeItsJobs) {
  PodFacts facts = pod_of_job("train-0");
  facts.meta.labels = kJobSetLabels;
  const auto found = workload_of(facts, "channel");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->workload, (api::Workload{"JobSet", "trainer", "uid-set"}));
  EXPECT_EQ(found->owner->kind, "JobSet");
  EXPECT_EQ(found->witness->uid, "uid-job");
}

TEST(WorkloadOf, ACopiedPodWithTheLabelsOfAJobSetIsNotOwnedByIt) {
  PodFacts facts = pod("copy");
  facts.meta.labels = kJobSetLabels;
  EXPECT_EQ(workload_of(facts, "channel")->owner, std::nullopt);
  facts.meta.owners = {{"apps/v1", "ReplicaSet", "serve", "uid-serve", true}};
  EXPECT_EQ(workload_of(facts, "channel")->owner->kind, "ReplicaSet");
}

TEST(WorkloadOf, IsTheGroupOfALeaderWorkerSet) {
  PodFacts leader = pod("serve-1"), worker = pod("serve-1-3");
  leader.meta.owners = {{"apps/v1", "StatefulSet", "serve", "uid-sts", true}};
  worker.meta.owners = {{"apps/v1", "StatefulSet", "serve-1", "uid-workers", true}};
  for (PodFacts* facts : {&leader, &worker}) {
    facts->meta.labels = {{api::kGroupKeyLabel, "689ab"},
                          {api::kLeaderWorkerSetLabel, "serve"},
                          {api::kGroupIndexLabel, "1"}};
  }
  EXPECT_EQ(workload_of(leader, "c")->workload,
            (api::Workload{"LeaderWorkerSet", "serve-1", "689ab"}));
  EXPECT_EQ(workload_of(leader, "c")->workload, workload_of(worker, "c")->workload);
}

TEST(WorkloadOf, OfAPodWithoutOwnerIsItsTemplate) {
  PodFacts facts = pod("a");
  EXPECT_EQ(workload_of(facts, "channel"), std::nullopt) << "its templates have not been read";
  facts.templates = Templates{{"channel", "fabric"}, {"gpu", "gpus"}};
  const auto found = workload_of(facts, "channel");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->workload, (api::Workload{"ResourceClaimTemplate", "fabric", ""}));
  EXPECT_EQ(found->owner, std::nullopt);
}

TEST(WorkloadOf, OfAPodWithoutOwnerAndTemplateIsThePod) {
  // A claim that the scheduler has made for an extended resource is in no list of the pod's spec.
  EXPECT_EQ(workload_of(pod("a"), "")->workload, (api::Workload{"Pod", "a", "uid-a"}));
}

TEST(WorkloadOf, OfAClaimThatAPersonMadeIsTheClaim) {
  api::ResourceClaim claim = claim_for("x");
  claim.meta.owners.clear();
  EXPECT_FALSE(pod_of(claim));
  EXPECT_EQ(workload_of(claim).workload.kind, "ResourceClaim");
  // The garbage collector finds it by a version that is served only.
  claim.version = "v1beta1";
  EXPECT_EQ(workload_of(claim).owner->api_version, "resource.k8s.io/v1beta1");
  EXPECT_EQ(reference_to(claim).api_version, "resource.k8s.io/v1beta1");
}

TEST(WorkloadId, DiffersBetweenNamespacesForOneLabel) {
  const api::Workload ring{api::kLabelWorkload, "ring", ""};
  EXPECT_NE(workload_id("team-a", ring), workload_id("team-b", ring));
}

TEST(Workloads, AmongThousandsWithTheirDomainsMakesThatOfTheOneWithout) {
  constexpr int kOthers = 3'000;
  WorkloadsWorld world = world_of_job(2);
  for (int i = 0; i < kOthers; ++i) {
    const std::string name = base::cat("other-", i);
    PodFacts facts = pod(name);
    facts.meta.owners = {{"batch/v1", "Job", name, base::cat("uid-of-", name), true}};
    const auto owned = *workload_of(facts, "channel");
    world.claims.push_back(known(claim_for(name), owned));
    api::ComputeDomain domain;
    domain.meta.name = base::cat(name, "-domain");
    domain.meta.owners = {*owned.owner};
    domain.meta.labels = {{api::kWorkloadLabel, workload_id("team-a", owned.workload)}};
    domain.spec.workload = owned.workload;
    world.domains.push_back(std::move(domain));
  }
  const Plan plan = reconcile_workloads(world);
  EXPECT_THAT(plan.actions, SizeIs(1));
  EXPECT_EQ(made_by(plan).spec.workload, workload_of_job().workload);
}

TEST(Workloads, ReadsPodsOnceTheirClaimsStopComing) {
  EXPECT_THAT(actions<ReadPods>(reconcile_workloads(world_with({unknown(claim_for("a"), 5ms)}))),
              IsEmpty());
  const Plan settled = reconcile_workloads(world_with({unknown(claim_for("a"), 20ms)}));
  EXPECT_THAT(actions<ReadPods>(settled), ElementsAre(ReadPods{"team-a", false}));
  // A stream of claims does not put it off for ever.
  const Plan stream = reconcile_workloads(
      world_with({unknown(claim_for("a"), 100ms), unknown(claim_for("b"), 0ms)}));
  EXPECT_THAT(actions<ReadPods>(stream), SizeIs(1));
}

TEST(Workloads, ReadsPodsAtMostOnceASecond) {
  WorkloadsWorld world = world_with({unknown(claim_for("a"), 100ms)});
  world.pods_read = kElapsed - 400ms;
  const Plan early = reconcile_workloads(world);
  EXPECT_THAT(early.actions, IsEmpty());
  EXPECT_EQ(early.look_again, base::Duration(600ms));
  world.pods_read = kElapsed - 1s;
  EXPECT_THAT(actions<ReadPods>(reconcile_workloads(world)), SizeIs(1));
}

TEST(Workloads, ReadsNewClaimsAtOnceAfterAReadThatFoundAWorkload) {
  WorkloadsWorld world = world_with({unknown(claim_for("a"), 20ms)});
  world.pods_read = kElapsed - 400ms;
  world.read_found_workload = true;
  EXPECT_THAT(actions<ReadPods>(reconcile_workloads(world)), SizeIs(1));
  // Of which the read has told nothing: the next one will not either.
  world.claims[0].seen = kElapsed - 500ms;
  EXPECT_EQ(reconcile_workloads(world).look_again, base::Duration(600ms));
}

TEST(Workloads, ReadsEverMoreSeldomWhatTellsNothing) {
  WorkloadsWorld world = world_with({unknown(claim_for("a"), 10min)});
  world.pods_read = kElapsed - 3s;
  world.vain_reads = 2;
  EXPECT_EQ(reconcile_workloads(world).look_again, base::Duration(1s));
  world.vain_reads = 50;
  EXPECT_EQ(reconcile_workloads(world).look_again, base::Duration(61s));
}

TEST(Workloads, ReadsTemplatesAtOnceWhereOwnersDoNotTell) {
  WorkloadsWorld world = world_with({unknown(claim_for("a"), 100ms)});
  world.pods_read = kElapsed;
  world.claims[0].lacks_templates = true;
  EXPECT_THAT(actions<ReadPods>(reconcile_workloads(world)), ElementsAre(ReadPods{"team-a", true}));
}

TEST(Workloads, AsksAJobForItsSizeBeforeItsDomainIsMade) {
  WorkloadsWorld world = world_of_job(18);
  world.jobs.clear();
  const Plan plan = reconcile_workloads(world);
  EXPECT_THAT(plan.actions, ElementsAre(Action{ReadJob{{"team-a", "train"}, "uid-job"}}));
  EXPECT_EQ(plan.look_again, std::nullopt) << "before it has been read there is nothing to do";
}

TEST(Workloads, MakesOneDomainForAllPodsOfAJob) {
  const api::ComputeDomain domain = made_by(reconcile_workloads(world_of_job(18)));
  EXPECT_THAT(domain.meta.name, ::testing::MatchesRegex("train-[0-9a-f]{8}"));
  EXPECT_EQ(domain.meta.ns, "team-a");
  EXPECT_EQ(domain.spec.num_nodes, 18);
  EXPECT_EQ(domain.spec.channel, std::nullopt);
  EXPECT_EQ(domain.spec.workload, (api::Workload{"Job", "train", "uid-job"}));
  EXPECT_THAT(domain.meta.finalizers, ElementsAre(api::kDomainFinalizer));
  ASSERT_THAT(domain.meta.owners, SizeIs(1));
  EXPECT_EQ(domain.meta.owners[0].uid, "uid-job");
}

// A pod of a JobSet, by its labels; its Job.
WorkloadsWorld world_of_job_set() {
  PodFacts facts = pod_of_job("train-0");
  facts.meta.labels = kJobSetLabels;
  return world_with({known(claim_for("train-0"), *workload_of(facts, "channel"))});
}

TEST(Workloads, AskTheJobWhetherItIsOfTheJobSetThatItsPodsName) {
  WorkloadsWorld world = world_of_job_set();
  EXPECT_THAT(reconcile_workloads(world).actions,
              ElementsAre(Action{ReadJob{{"team-a", "train"}, "uid-job"}}));
  api::Job job;
  job.meta.owners = {{"jobset.x-k8s.io/v1alpha2", "JobSet", "trainer", "uid-set", true}};
  world.jobs["uid-job"] = job;
  const auto owners = made_by(reconcile_workloads(world)).meta.owners;
  ASSERT_THAT(owners, SizeIs(1));
  EXPECT_EQ(owners[0].uid, "uid-set");
}

TEST(Workloads, GiveADomainNoOwnerThatOnlyLabelsName) {
  WorkloadsWorld world = world_of_job_set();
  world.jobs["uid-job"] = api::Job{};
  EXPECT_THAT(made_by(reconcile_workloads(world)).meta.owners, IsEmpty());
  world.jobs["uid-job"] = std::nullopt;
  EXPECT_THAT(made_by(reconcile_workloads(world)).meta.owners, IsEmpty());
}

// The garbage collector deletes what an owner of another name owns, as often as it is made.
TEST(Workloads, NameTheOwnerAsItsJobDoesAndNotAsTheLabelsOfAPod) {
  PodFacts wrong = pod_of_job("train-0"), right = pod_of_job("train-1");
  right.meta.labels = wrong.meta.labels = kJobSetLabels;
  wrong.meta.labels[api::kJobSetNameLabel] = "wrong";
  for (const bool wrong_is_last : {true, false}) {
    const auto& [first, last] = wrong_is_last ? std::tie(right, wrong) : std::tie(wrong, right);
    WorkloadsWorld world = world_with({known(claim_for("train-0"), *workload_of(first, "channel")),
                                       known(claim_for("train-1"), *workload_of(last, "channel"))});
    world.jobs["uid-job"].emplace().meta.owners = {
        {"jobset.x-k8s.io/v1beta1", "JobSet", "trainer", "uid-set", true}};
    const api::ComputeDomain made = made_by(reconcile_workloads(world));
    EXPECT_THAT(made.meta.owners, ElementsAre(api::OwnerReference{"jobset.x-k8s.io/v1beta1",
                                                                  "JobSet", "trainer", "uid-set"}));
    EXPECT_EQ(made.spec.workload->name, "trainer");
    EXPECT_TRUE(made.meta.name.starts_with("trainer-")) << made.meta.name;
  }
}

// New claims, and those that wait for the pods' templates, are put off too.
TEST(Workloads, ReadNoPodsBeforeTheServerAllowsIt) {
  WorkloadsWorld world =
      world_with({unknown(claim_for("a"), 10min), unknown(claim_for("b"), 20ms)});
  world.claims[0].lacks_templates = true;
  world.no_read_before = kElapsed + 30s;
  EXPECT_EQ(reconcile_workloads(world), (Plan{.actions = {}, .look_again = 30s}));
  world.now += 30s;
  EXPECT_THAT(actions<ReadPods>(reconcile_workloads(world)), SizeIs(1));
}

TEST(Workloads, TellTheClaimsOfADomainThatIsRefusedAndWaitUntilItIsTriedAgain) {
  WorkloadsWorld world = world_of_job(2);
  const std::string id = workload_id("team-a", workload_of_job().workload);
  world.refusals[id] = {.why = "exceeded quota: few", .next_try = kElapsed + 7s, .lasts = true};
  const Plan plan = reconcile_workloads(world);
  const auto events = actions<RecordEvent>(plan);
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(plan.actions.size(), 2U);
  EXPECT_EQ(events[0].reason, "ComputeDomainRefused");
  EXPECT_THAT(events[0].message, HasSubstr("exceeded quota: few"));
  EXPECT_EQ(plan.look_again, base::Duration(7s));
  world.now += 7s;
  made_by(reconcile_workloads(world));
}

TEST(Workloads, TellNothingOfAServerThatIsAwayForAMoment) {
  WorkloadsWorld world = world_of_job(2);
  const std::string id = workload_id("team-a", workload_of_job().workload);
  world.refusals[id] = {.why = "no answer", .next_try = kElapsed + 1s, .lasts = false};
  EXPECT_EQ(reconcile_workloads(world), (Plan{.actions = {}, .look_again = 1s}));
}

// Claims that persons made: each is a workload of its own.
WorkloadsWorld world_of_many(std::size_t count) {
  std::vector<AutomaticClaim> claims;
  for (std::size_t i = 0; i < count; ++i) {
    api::ResourceClaim object = claim_for(base::cat("w", i));
    object.meta.owners.clear();
    claims.push_back(known(object, workload_of(object)));
  }
  return world_with(std::move(claims));
}

// Keys of other namespaces wait for the same worker.
TEST(Workloads, MakesFewDomainsAtOnceAndComesBackForTheOthers) {
  WorkloadsWorld world = world_of_many(100);
  int rounds = 0;
  for (Plan plan; !(plan = reconcile_workloads(world)).actions.empty(); ++rounds) {
    ASSERT_LE(plan.actions.size(), 32U);
    const auto made = actions<CreateDomain>(plan);
    for (const CreateDomain& create : made) world.domains.push_back(create.object);
    const bool is_last = world.domains.size() == 100;
    EXPECT_EQ(plan.look_again, is_last ? std::nullopt : std::optional(base::Duration::zero()));
  }
  EXPECT_EQ(rounds, 4);
}

TEST(Workloads, DomainsThatAreNeverMadeHoldBackNoOthersForEver) {
  WorkloadsWorld world = world_of_many(100);
  std::set<std::string> tried;
  for (int round = 0; round < 100; ++round, world.now += 7ms) {
    for (const CreateDomain& create : actions<CreateDomain>(reconcile_workloads(world))) {
      tried.insert(create.object.meta.name);
    }
  }
  EXPECT_EQ(tried.size(), 100U);
}

// Each is recorded by the same worker.
TEST(Workloads, TellsFewClaimsAtOnceAndComesBackForTheOthers) {
  WorkloadsWorld world = world_of_many(110);
  for (std::size_t i = 0; i < 100; ++i) configure(world.claims[i].object, kUnusableConfig);
  std::set<std::string> told;
  int rounds = 0;
  for (Plan plan; !(plan = reconcile_workloads(world)).actions.empty(); ++rounds) {
    const auto events = actions<RecordEvent>(plan);
    ASSERT_LE(events.size(), 32U);
    for (const RecordEvent& event : events) told.insert(event.involved.uid);
    EXPECT_EQ(actions<CreateDomain>(plan).size(), rounds == 0 ? 10U : 0U)
        << "requests are counted apart";
    EXPECT_EQ(plan.look_again,
              told.size() == 100 ? std::nullopt : std::optional(base::Duration::zero()));
    for (const CreateDomain& create : actions<CreateDomain>(plan)) {
      world.domains.push_back(create.object);
    }
    for (AutomaticClaim& claim : world.claims) {
      claim.is_reported = told.contains(claim.object.meta.uid);
    }
  }
  EXPECT_EQ(rounds, 4);
  EXPECT_EQ(told.size(), 100U);
}

TEST(Workloads, TakesTheSmallerOfParallelismAndCompletions) {
  WorkloadsWorld world = world_of_job(18);
  world.jobs["uid-job"]->completions = 4;
  EXPECT_EQ(made_by(reconcile_workloads(world)).spec.num_nodes, 4);
}

TEST(Workloads, TakesTheSizeFromTheConfigFirst) {
  WorkloadsWorld world = world_of_job(18);
  world.jobs.clear();
  configure(world.claims[1].object, api::encode_domain_config({.num_nodes = 2}));
  EXPECT_EQ(made_by(reconcile_workloads(world)).spec.num_nodes, 2);
}

TEST(Workloads, MakesNothingForAJobThatIsGone) {
  WorkloadsWorld world = world_of_job(18);
  world.jobs["uid-job"] = std::nullopt;
  EXPECT_THAT(reconcile_workloads(world).actions, IsEmpty());
}

TEST(Workloads, LeavesADomainThatIsThereAsItIs) {
  WorkloadsWorld world = world_of_job(18);
  api::ComputeDomain domain = made_by(reconcile_workloads(world));
  domain.meta.uid = "uid-domain";
  world.domains = {domain};
  EXPECT_EQ(reconcile_workloads(world), Plan{});
}

TEST(Workloads, WaitsForADomainThatIsBeingDeleted) {
  WorkloadsWorld world = world_of_job(18);
  api::ComputeDomain domain = made_by(reconcile_workloads(world));
  domain.meta.deletion_time = kNow;
  world.domains = {domain};
  EXPECT_EQ(reconcile_workloads(world), Plan{});
}

TEST(Workloads, MakeADomainAgainOnlyForPodsThatAreStillThere) {
  WorkloadsWorld world = world_of_job(18);
  world.domains_seen[workload_id("team-a", workload_of_job().workload)] = kElapsed - 1s;
  world.pods_read = kElapsed - 1min;
  // What was read before may be ending with the domain.
  EXPECT_THAT(reconcile_workloads(world).actions, ElementsAre(Action{ReadPods{"team-a", false}}));
  world.pods_read = kElapsed;
  world.claims[1].pod_seen = kElapsed;
  EXPECT_EQ(made_by(reconcile_workloads(world)).spec.num_nodes, 18);
}

TEST(Workloads, NeverAdoptADomainThatHappensToHaveTheName) {
  WorkloadsWorld world = world_of_job(18);
  const std::string name = made_by(reconcile_workloads(world)).meta.name;
  world.domains = {domain(name)};
  const Plan plan = reconcile_workloads(world);
  EXPECT_THAT(actions<CreateDomain>(plan), IsEmpty());
  const auto events = actions<RecordEvent>(plan);
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(events[0].reason, "ComputeDomainNameTaken");
  EXPECT_THAT(events[0].message, HasSubstr("team-a/" + name));
}

TEST(Workloads, RefuseAClaimThatNamesADomainAndAsksForOne) {
  api::ResourceClaim claim = claim_for("train-0");
  configure(claim, api::encode_channel_config({.domain_uid = "u"}));
  configure(claim, api::encode_domain_config({}));
  EXPECT_EQ(domain_ref_of(claim).kind, DomainRef::Kind::Contradictory);
  EXPECT_EQ(domain_of(claim), std::nullopt);
  const Plan plan = reconcile_workloads(world_with({known(claim, workload_of_job())}));
  const auto events = actions<RecordEvent>(plan);
  ASSERT_THAT(plan.actions, SizeIs(1));
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].reason, "ContradictoryConfig");
}

TEST(Workloads, RefuseADomainIdThatIsNoUid) {
  for (const char* text : {"namespace:victim", "claim:u-1", "A", "a/b", "a b"}) {
    api::ResourceClaim claim = claim_for("train-0");
    configure(claim, api::encode_channel_config({.domain_uid = text}));
    EXPECT_EQ(domain_ref_of(claim).kind, DomainRef::Kind::Invalid);
    EXPECT_EQ(domain_of(claim), std::nullopt);
    AutomaticClaim known_claim{.object = claim, .seen = kElapsed};
    const Plan plan = reconcile_workloads(world_with({known_claim}));
    EXPECT_EQ(plan.look_again, std::nullopt) << "no pod is read for it";
    ASSERT_THAT(plan.actions, SizeIs(1));
    const auto events = actions<RecordEvent>(plan);
    ASSERT_THAT(events, SizeIs(1));
    EXPECT_EQ(events[0].reason, "InvalidConfig");
    EXPECT_THAT(events[0].message, HasSubstr(base::cat("\"", text, "\" is not the UID")));
    known_claim.is_reported = true;
    EXPECT_EQ(reconcile_workloads(world_with({known_claim})), Plan{});
  }
}

TEST(Workloads, TellWhatIsWrongWithAConfigOnce) {
  api::ResourceClaim claim = claim_for("train-0");
  configure(claim, kUnusableConfig);
  WorkloadsWorld world = world_with({known(claim, workload_of_job())});
  const auto events = actions<RecordEvent>(reconcile_workloads(world));
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_THAT(events[0].message, HasSubstr("unknown field \"nodes\""));
  world.claims[0].is_reported = true;
  EXPECT_THAT(reconcile_workloads(world).actions, IsEmpty());
}

TEST(Workloads, MakeNothingForAdminAccess) {
  WorkloadsWorld world = world_of_job(2);
  for (AutomaticClaim& claim : world.claims) claim.object.spec.requests[0].admin_access = true;
  EXPECT_THAT(reconcile_workloads(world).actions, IsEmpty());
}

// The domain of a workload with a Job that owns it, and since then a claim of a second Job.
WorkloadsWorld world_with_a_second_owner() {
  PodFacts other = pod("b");
  other.meta.owners = {{"batch/v1", "Job", "second", "uid-second", true}};
  PodFacts first = pod_of_job("train-0");
  for (PodFacts* facts : {&first, &other}) facts->meta.labels = {{api::kPodDomainLabel, "ring"}};
  WorkloadsWorld world = world_with({known(claim_for("train-0"), *workload_of(first, "channel"))});
  api::ComputeDomain domain = made_by(reconcile_workloads(world));
  domain.meta.uid = "uid-domain";
  world.domains = {domain};
  world.claims.push_back(known(claim_for("b"), *workload_of(other, "channel")));
  return world;
}

TEST(Workloads, AddOwnersThatComeLaterAndPutNoneBack) {
  WorkloadsWorld world = world_with_a_second_owner();
  const auto sets = actions<SetOwners>(reconcile_workloads(world));
  ASSERT_THAT(sets, SizeIs(1));
  EXPECT_THAT(sets[0].owners, SizeIs(2));
  // Orphaned since: the garbage collector has taken the owner away.
  world.owners["uid-domain"] = {"uid-job", "uid-second"};
  EXPECT_THAT(reconcile_workloads(world).actions, IsEmpty());
}

// A tenant may write as many owners as it likes, and of any length.
TEST(Workloads, WriteNoOwnersBackWhereSomeAreNotKept) {
  WorkloadsWorld world = world_with_a_second_owner();
  const api::ComputeDomain domain = world.domains.front();

  const auto sets_with = [&](const std::vector<api::OwnerReference>& more) {
    api::ObjectMeta meta = domain.meta;
    meta.owners.insert(meta.owners.end(), more.begin(), more.end());
    bound_owners(meta);
    EXPECT_LE(meta.owners.size(), 65U);
    for (const auto& owner : meta.owners) EXPECT_LE(owner.name.size(), 254U);
    world.domains = {domain};
    world.domains.front().meta = meta;
    return actions<SetOwners>(reconcile_workloads(world));
  };
  EXPECT_THAT(sets_with({}), SizeIs(1));
  EXPECT_THAT(sets_with({{"v1", "ConfigMap", std::string(253, 'n'), "u"}}), SizeIs(1));
  EXPECT_THAT(sets_with({{"v1", "ConfigMap", std::string(100'000, 'n'), "u"}}), IsEmpty());
  EXPECT_THAT(sets_with(std::vector<api::OwnerReference>(5'000, {"v1", "ConfigMap", "n", "u"})),
              IsEmpty());
}

TEST(TrimmedPod, KeepsOfItsOwnersTheController) {
  PodFacts facts = pod_of_job("train-0");
  const api::OwnerReference controller = facts.meta.owners.front();
  facts.meta.owners.insert(facts.meta.owners.begin(), 5'000, {"v1", "ConfigMap", "n", "u"});
  trim_pod(facts.meta);
  EXPECT_THAT(facts.meta.owners, ElementsAre(controller));
}

TEST(Workloads, NameAClaimThatOwnsInTheVersionThatIsServedNow) {
  api::ResourceClaim claim = claim_for("mesh");
  claim.meta.owners.clear();
  claim.version = "v1beta1";
  api::ComputeDomain domain =
      made_by(reconcile_workloads(world_with({known(claim, workload_of(claim))})));
  domain.meta.uid = "uid-domain";
  claim.version = "v1";
  WorkloadsWorld world = world_with({known(claim, workload_of(claim))});
  world.domains = {domain};
  world.owners["uid-domain"] = {claim.meta.uid};
  const auto sets = actions<SetOwners>(reconcile_workloads(world));
  ASSERT_THAT(sets, SizeIs(1));
  ASSERT_THAT(sets[0].owners, SizeIs(1));
  EXPECT_EQ(sets[0].owners[0].api_version, "resource.k8s.io/v1");
  world.domains[0].meta.owners = sets[0].owners;
  EXPECT_THAT(reconcile_workloads(world).actions, IsEmpty());
}

TEST(Workloads, HandThePlacementOfTheConfigToTheirDomain) {
  WorkloadsWorld world = world_of_job(2);
  const api::ComputeDomainPlacement single{.clique = api::CliquePlacement::Single};
  configure(world.claims[0].object,
            api::encode_domain_config({.num_nodes = 2, .placement = single}));
  EXPECT_EQ(made_by(reconcile_workloads(world)).spec.placement, single);
}

TEST(Workloads, GiveADomainNoOwnerWhereItsPodsHaveNone) {
  PodFacts bare = pod("a");
  bare.templates = Templates{{"channel", "fabric"}};
  const api::ComputeDomain domain = made_by(
      reconcile_workloads(world_with({known(claim_for("a"), *workload_of(bare, "channel"))})));
  EXPECT_THAT(domain.meta.owners, IsEmpty());
  EXPECT_EQ(domain.spec.num_nodes, 0);
}

TEST(Workloads, MakeANameOutOfAnyLabel) {
  PodFacts facts = pod("a");
  facts.meta.labels = {{api::kPodDomainLabel, "My_Ring." + std::string(40, 'x')}};
  const std::string name =
      made_by(
          reconcile_workloads(world_with({known(claim_for("a"), *workload_of(facts, "channel"))})))
          .meta.name;
  EXPECT_TRUE(base::is_dns_subdomain(name)) << name;
  EXPECT_THAT(name, HasSubstr("my-ring."));
}

TEST(Workloads, MakeANameOfWhichEachPartIsValid) {
  const std::map<std::string, std::string> stems{
      {"llama-3.1_.b", "llama-3.1.b"},
      {"a.-b", "a.b"},
      {"a..b", "a.b"},
      {"A__b", "a--b"},
      {std::string(51, 'x') + ".y", std::string(51, 'x')}};
  for (const auto& [label, stem] : stems) {
    PodFacts facts = pod("a");
    facts.meta.labels = {{api::kPodDomainLabel, label}};
    const WorkloadsWorld world =
        world_with({known(claim_for("a"), *workload_of(facts, "channel"))});
    const std::string name = made_by(reconcile_workloads(world)).meta.name;
    EXPECT_TRUE(base::is_dns_subdomain(name)) << name;
    EXPECT_EQ(name.substr(0, name.rfind('-')), stem);
  }
}

// The automatic domain of bare pods, in the world of its own key.
World automatic_world() {
  api::ComputeDomain object = domain("fabric-1").finalized();
  object.spec.channel.reset();
  object.spec.workload = {"ResourceClaimTemplate", "fabric", ""};
  object.meta.labels = {{api::kWorkloadLabel, "0123456789abcdef"}};
  return world_of(object, 0);
}

TEST(AutomaticDomain, WithoutOwnersEndsWithItsLastClaim) {
  const World world = automatic_world();
  const Plan plan = reconcile(world);
  ASSERT_THAT(plan.actions, SizeIs(2));
  EXPECT_TRUE(std::holds_alternative<EnsureClaimsReleased>(plan.actions[0]));
  EXPECT_EQ(plan.actions[1], Action{DeleteDomain{world.view.domain->meta}});
}

TEST(AutomaticDomain, StaysWhileAClaimMayStillBeIts) {
  World world = automatic_world();
  world.has_unknown_claims = true;
  EXPECT_THAT(actions<DeleteDomain>(reconcile(world)), IsEmpty());
}

TEST(AutomaticDomain, WithAnOwnerOutlivesItsClaims) {
  World world = automatic_world();
  world.view.domain->meta.owners = {kJob};
  EXPECT_THAT(actions<DeleteDomain>(reconcile(world)), IsEmpty());
}

TEST(AutomaticDomain, ThatWantsOneCliqueIsRefused) {
  World world = automatic_world();
  world.view.domain->meta.owners = {kJob};
  world.view.domain->spec.placement = {.clique = api::CliquePlacement::Single};
  world.view.claims = {claim("c1").of("train").on("n1")};
  world.nodes["n1"] = idle_node("n1");
  world.placement = PlacementVerdict{false, "PlacementUnsupported", "write a ComputeDomain"};
  EXPECT_EQ(reconcile_group(world, group_of(world)), Plan{});
  const auto statuses = actions<SetStatus>(reconcile(world));
  ASSERT_THAT(statuses, SizeIs(1));
  const auto* ready = api::find_condition(statuses[0].status.conditions, kConditionReady);
  ASSERT_NE(ready, nullptr);
  EXPECT_EQ(ready->reason, "PlacementUnsupported");
  EXPECT_THAT(ready->message, HasSubstr("write a ComputeDomain"));
}

TEST(AutomaticDomain, WaitsWithItsDeletionForClaimsThatNameNone) {
  World world = automatic_world();
  world.view.claims = {claim_for("a")};
  world.view.claims[0].allocation = api::Allocation{.devices = {{.request = "channel",
                                                                 .driver = api::kDriver,
                                                                 .pool = "n1",
                                                                 .device = "channel-0"}},
                                                    .configs = {},
                                                    .node = "n1"};
  world.view.claims[0].reserved_for = {{.resource = "pods", .name = "a", .uid = "uid-a"}};
  world.nodes["n1"] = idle_node("n1");
  const auto writes = actions<WriteNodeList>(reconcile_group(world, group_of(world)));
  ASSERT_THAT(writes, SizeIs(1));
  EXPECT_EQ(writes[0].desired.meta.label(api::kWorkloadLabel), "0123456789abcdef");
  world.lists = {stored_list(writes[0].desired)};
  world.view.domain->meta.deletion_time = kNow;
  const Plan plan = reconcile(world);
  EXPECT_THAT(actions<RemoveFinalizer>(plan), IsEmpty());
  ASSERT_THAT(actions<SetStatus>(plan), SizeIs(1));
  EXPECT_EQ(held_claims(world.view.uid, world.lists, world.view.claims),
            std::set<std::string>{world.view.claims[0].meta.uid});
}

}  // namespace
}  // namespace cdom::core::testing
