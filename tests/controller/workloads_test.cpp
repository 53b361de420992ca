// Where the pods are that share a claim, as far as reads have told, and what is kept of workloads.
#include "compute_domain/controller/workloads.h"

#include <gmock/gmock.h>
#include <malloc.h>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/membership.h"

namespace cdom::controller {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

api::ResourceClaim shared_by(const std::vector<std::string>& pods) {
  api::ResourceClaim claim;
  claim.meta.name = "mesh";
  claim.meta.ns = "team-a";
  claim.meta.uid = "uid-mesh";
  claim.allocation.emplace().devices = {
      {.request = "channel", .driver = api::kDriver, .pool = "clique/u.1", .device = "shared-0"}};
  for (const std::string& pod : pods) {
    claim.reserved_for.push_back({.resource = "pods", .name = pod, .uid = "uid-" + pod});
  }
  return claim;
}

core::PodFacts pod_on(const std::string& node, const std::string& name) {
  core::PodFacts facts;
  facts.meta.name = name;
  facts.meta.uid = "uid-" + name;
  facts.templates.emplace();
  facts.node = node;
  return facts;
}

std::vector<std::string> nodes_known(const Workloads& workloads, api::ResourceClaim claim) {
  workloads.place_consumers(claim);
  return core::nodes_of(claim);
}

const api::ObjectName kMesh{"team-a", "mesh"};

// What has made the pods that it waits for is asked for.
api::ComputeDomain domain_that_ends() {
  api::ComputeDomain domain;
  domain.meta.name = "ends";
  domain.meta.ns = "team-a";
  domain.meta.uid = "uid-ends";
  domain.meta.deletion_time = base::Time{};
  return domain;
}

TEST(Workloads, KnowTheNodesOfPodsThatShareAClaim) {
  Workloads workloads;
  const api::ResourceClaim claim = shared_by({"a", "b"});
  workloads.consumers_seen(claim, {});
  EXPECT_THAT(nodes_known(workloads, claim), IsEmpty());
  EXPECT_TRUE(workloads.has_nodeless_consumers("team-a"));

  workloads.pods_read("team-a", {pod_on("n1", "a"), pod_on("", "b")}, true, {});
  EXPECT_THAT(nodes_known(workloads, claim), ElementsAre("n1"));
  EXPECT_TRUE(workloads.has_nodeless_consumers("team-a"));

  workloads.pods_read("team-a", {pod_on("n1", "a"), pod_on("n2", "b")}, true, {});
  EXPECT_THAT(nodes_known(workloads, claim), ElementsAre("n1", "n2"));
  EXPECT_FALSE(workloads.has_nodeless_consumers("team-a"));
  EXPECT_THAT(workloads.shared_on("n2"), ElementsAre(kMesh));
  EXPECT_THAT(workloads.shared_in("team-a"), ElementsAre(kMesh));
}

// A pod that comes to a claim after a loss of memory has lost none.
TEST(Workloads, KnowWhenTheConsumersOfAClaimWereMade) {
  Workloads workloads;
  core::PodFacts pod = pod_on("n1", "a");
  pod.meta.creation_time = base::Time{} + std::chrono::seconds(5);
  api::ResourceClaim shared = shared_by({"a", "b"});
  workloads.consumers_seen(shared, {});
  workloads.pods_read("team-a", {pod}, true, {});
  workloads.place_consumers(shared);
  EXPECT_EQ(shared.reserved_for.at(0).created, pod.meta.creation_time);
  EXPECT_EQ(shared.reserved_for.at(1).created, std::nullopt);

  api::ResourceClaim named = shared_by({"a"});
  named.allocation->devices.clear();
  ASSERT_FALSE(core::is_shared(named));
  workloads.place_consumers(named);
  EXPECT_EQ(named.reserved_for.at(0).created, pod.meta.creation_time);
}

TEST(Workloads, CountAClaimFromWhenItWasFirstSeen) {
  Workloads workloads;
  core::WorkloadsWorld world;
  world.ns = "team-a";
  world.claims.emplace_back().object = shared_by({"a"});
  workloads.claim_seen(world.claims.front().object, std::chrono::seconds(1));
  workloads.claim_seen(world.claims.front().object, std::chrono::seconds(5));
  workloads.describe(world);
  EXPECT_EQ(world.claims.front().seen, std::chrono::seconds(1));
}

TEST(Workloads, KnowWhatHasMadeAPod) {
  const auto made_by = [](core::PodFacts pod, const char* version, const char* kind) {
    pod.meta.owners = {
        {.api_version = version, .kind = kind, .name = "run", .uid = "u", .controller = true}};
    return pod;
  };
  core::PodFacts of_set = made_by(pod_on("n1", "b"), "batch/v1", "Job");
  of_set.meta.labels = {{api::kJobSetNameLabel, "set"}, {api::kJobSetUidLabel, "s"}};
  core::PodFacts copy = pod_on("n1", "c");
  copy.meta.labels = of_set.meta.labels;
  Workloads workloads;
  workloads.domain_seen(domain_that_ends(), {});
  workloads.pods_read("team-a", {made_by(pod_on("n1", "a"), "batch/v1", "Job"), of_set, copy},
                      false, {});
  const auto read = workloads.last_read("team-a");
  const auto makers = read->makers_of({"uid-a", "uid-b", "uid-c", "uid-d"});
  ASSERT_EQ(makers.size(), 2U);
  EXPECT_EQ(makers.at("uid-a").name, "run");
  EXPECT_EQ(makers.at("uid-b").kind, "JobSet");
  EXPECT_EQ(read->at, base::Duration{});
  EXPECT_EQ(workloads.last_read("team-b"), nullptr);

  workloads.pods_read("team-a", {}, false, std::chrono::seconds(1));
  EXPECT_EQ(read->pods.size(), 3U) << "what one has, another read does not change";
}

TEST(Workloads, ForgetAPodThatSharesAClaimNoMore) {
  Workloads workloads;
  workloads.consumers_seen(shared_by({"a", "b", "c"}), {});
  workloads.pods_read("team-a", {pod_on("n1", "a"), pod_on("n1", "b"), pod_on("n2", "c")}, true,
                      {});
  workloads.consumers_seen(shared_by({"b"}), {});
  EXPECT_THAT(nodes_known(workloads, shared_by({"b"})), ElementsAre("n1"));
  EXPECT_THAT(workloads.shared_on("n2"), IsEmpty());
  EXPECT_THAT(workloads.shared_on("n1"), ElementsAre(kMesh));
  workloads.forget_consumers("uid-mesh");
  EXPECT_THAT(workloads.shared_on("n1"), IsEmpty());
  EXPECT_THAT(workloads.shared_in("team-a"), IsEmpty());
}

TEST(Workloads, KeepTheNodeOfAPodThatIsNotInALaterRead) {
  Workloads workloads;
  const api::ResourceClaim claim = shared_by({"a"});
  workloads.consumers_seen(claim, {});
  workloads.pods_read("team-a", {pod_on("n1", "a")}, true, {});
  workloads.pods_read("team-a", {}, false, {});
  EXPECT_THAT(nodes_known(workloads, claim), ElementsAre("n1"));
}

api::ResourceClaim claim_of(const std::string& pod) {
  api::ResourceClaim claim;
  claim.meta.name = pod + "-channel";
  claim.meta.ns = "team-a";
  claim.meta.uid = "uid-" + claim.meta.name;
  claim.meta.owners = {
      {.api_version = "v1", .kind = "Pod", .name = pod, .uid = "uid-" + pod, .controller = true}};
  return claim;
}

core::PodFacts pod_of_job(const std::string& name, const std::string& job) {
  core::PodFacts pod = pod_on("", name);
  pod.meta.owners = {{.api_version = "batch/v1",
                      .kind = "Job",
                      .name = job,
                      .uid = "uid-" + job,
                      .controller = true}};
  return pod;
}

TEST(Workloads, TellWhetherTheLastReadFoundANewOne) {
  Workloads workloads;
  const auto found = [&] {
    core::WorkloadsWorld world;
    world.ns = "team-a";
    workloads.describe(world);
    return world.read_found_workload;
  };
  workloads.claim_seen(claim_of("a"), {});
  workloads.pods_read("team-a", {pod_of_job("a", "train")}, false, {});
  EXPECT_TRUE(found());
  workloads.claim_seen(claim_of("b"), {});
  workloads.pods_read("team-a", {pod_of_job("a", "train"), pod_of_job("b", "train")}, false, {});
  EXPECT_FALSE(found());
  workloads.claim_seen(claim_of("c"), {});
  workloads.pods_read("team-a", {pod_of_job("b", "train"), pod_of_job("c", "next")}, false, {});
  EXPECT_TRUE(found());
}

// What the core is told of team-a, with these claims.
core::WorkloadsWorld described(const Workloads& workloads,
                               const std::vector<api::ResourceClaim>& claims = {}) {
  core::WorkloadsWorld world;
  world.ns = "team-a";
  for (const api::ResourceClaim& claim : claims) world.claims.push_back({.object = claim});
  workloads.describe(world);
  return world;
}

TEST(Workloads, KeepTheReadOfPodsUntilTheLastClaimOfTheirNamespaceIsGone) {
  Workloads workloads;
  workloads.claim_seen(claim_of("a"), {});
  workloads.claim_seen(claim_of("b"), {});
  workloads.consumers_seen(shared_by({"c"}), {});
  workloads.pods_read("team-a", {pod_of_job("a", "train"), pod_on("n1", "c")}, true, {});
  workloads.forget_claim("uid-a-channel");
  workloads.forget_claim("uid-b-channel");
  EXPECT_NE(workloads.last_read("team-a"), nullptr);
  workloads.forget_consumers("uid-mesh");
  EXPECT_EQ(workloads.last_read("team-a"), nullptr);
}

TEST(Workloads, KeepTheReadOfPodsForADomainThatIsBeingDeletedUntilItIsGone) {
  Workloads workloads;
  workloads.pods_read("team-a", {pod_of_job("a", "train")}, false, {});
  EXPECT_EQ(workloads.last_read("team-a"), nullptr) << "nobody needs it";
  workloads.domain_seen(domain_that_ends(), {});
  workloads.pods_read("team-a", {pod_of_job("a", "train")}, false, {});
  EXPECT_NE(workloads.last_read("team-a"), nullptr);
  workloads.claim_seen(claim_of("a"), {});
  workloads.forget_claim("uid-a-channel");
  EXPECT_NE(workloads.last_read("team-a"), nullptr);
  workloads.forget_domain(domain_that_ends());
  EXPECT_EQ(workloads.last_read("team-a"), nullptr);
}

// Or claims that come and go would have the pods read as often.
TEST(Workloads, KnowForAMomentThatPodsWereReadOfANamespaceWithoutClaims) {
  using namespace std::chrono_literals;
  Workloads workloads;
  workloads.claim_seen(claim_of("a"), 1s);
  workloads.pods_read("team-a", {}, true, 1s);
  workloads.forget_claim("uid-a-channel");
  workloads.claim_seen(claim_of("b"), 1500ms);
  EXPECT_EQ(described(workloads).pods_read, 1s);
  EXPECT_TRUE(described(workloads).specs_read);
  workloads.forget_claim("uid-b-channel");
  workloads.claim_seen(claim_of("c"), 10s);
  EXPECT_EQ(described(workloads).pods_read, std::nullopt);
}

api::ComputeDomain domain_for(const core::OwnedWorkload& owned, const std::string& ns) {
  api::ComputeDomain domain;
  domain.meta.ns = ns;
  domain.spec.workload = owned.workload;
  domain.meta.labels = {{api::kWorkloadLabel, core::workload_id("team-a", owned.workload)}};
  return domain;
}

TEST(Workloads, TryADomainThatIsRefusedEverMoreSeldomUntilItIsThere) {
  using namespace std::chrono_literals;
  Workloads workloads;
  workloads.claim_seen(claim_of("a"), {});
  workloads.pods_read("team-a", {pod_of_job("a", "train")}, false, {});
  const core::OwnedWorkload owned = *core::workload_of(pod_of_job("a", "train"), "");
  const api::ComputeDomain domain = domain_for(owned, "team-a");
  const auto refusals = [&] {
    core::WorkloadsWorld world;
    world.ns = "team-a";
    world.claims = {{.object = claim_of("a")}};
    workloads.describe(world);
    return world.refusals;
  };
  std::vector<base::Duration> pauses;
  for (int i = 0; i < 7; ++i) {
    workloads.domain_refused(domain, "webhook", false, 100s);
    pauses.push_back(refusals().begin()->second.next_try - 100s);
    EXPECT_EQ(refusals().begin()->second.lasts, i >= 2);
  }
  EXPECT_THAT(pauses, ElementsAre(1s, 2s, 4s, 8s, 16s, 30s, 30s));
  // That of a user in another namespace who has written the same label.
  workloads.domain_seen(domain_for(owned, "team-b"), 100s);
  EXPECT_FALSE(refusals().empty());
  workloads.domain_seen(domain, 100s);
  EXPECT_TRUE(refusals().empty());
}

TEST(Workloads, ReadPodsThatCannotBeReadEverMoreSeldomAndWhenTheServerAllowsIt) {
  using namespace std::chrono_literals;
  Workloads workloads;
  workloads.claim_seen(claim_of("a"), {});
  const auto no_read_before = [&] {
    core::WorkloadsWorld world;
    world.ns = "team-a";
    workloads.describe(world);
    return world.no_read_before;
  };
  EXPECT_EQ(no_read_before(), std::nullopt);
  workloads.read_failed("team-a", 100s, {});
  EXPECT_EQ(no_read_before(), 100s + 5ms);
  workloads.read_failed("team-a", 100s, 2min);
  EXPECT_EQ(no_read_before(), 100s + 2min);
  workloads.read_failed("team-a", 100s, {});
  EXPECT_EQ(no_read_before(), 100s + 20ms);
  for (int i = 0; i < 70; ++i) workloads.read_failed("team-a", 100s, {});
  EXPECT_EQ(no_read_before(), 130s);
  workloads.pods_read("team-a", {}, false, 200s);
  EXPECT_EQ(no_read_before(), std::nullopt);
}

TEST(Workloads, AReadOfAJobInOneNamespaceSaysNothingOfAnother) {
  Workloads workloads;
  api::ResourceClaim claim;
  claim.meta = {.name = "c", .ns = "team-a", .uid = "uid-c"};
  claim.meta.owners = {{"v1", "Pod", "p", "uid-p", true}};
  workloads.claim_seen(claim, {});
  core::PodFacts pod = pod_on("", "p");
  pod.meta.owners = {{"batch/v1", "Job", "train", "uid-job", true}};
  workloads.pods_read("team-a", {pod}, false, {});
  workloads.job_read("mallory", "uid-job", std::nullopt);
  core::WorkloadsWorld world;
  world.ns = "team-a";
  world.claims = {{.object = claim}};
  workloads.describe(world);
  ASSERT_TRUE(world.claims[0].workload);
  EXPECT_THAT(world.jobs, IsEmpty());
  workloads.job_read("team-a", "uid-job", std::nullopt);
  workloads.describe(world);
  EXPECT_EQ(world.jobs.size(), 1U);
}

api::ComputeDomain domain_of_train(const std::string& ns = "team-a") {
  api::ComputeDomain domain = domain_for(*core::workload_of(pod_of_job("a", "train"), ""), ns);
  domain.meta.uid = "uid-domain";
  return domain;
}

void own(api::ComputeDomain& domain, const std::string& uid) {
  domain.meta.owners.push_back({.api_version = "batch/v1", .kind = "Job", .name = uid, .uid = uid});
}

std::set<std::string> owners_of(const Workloads& workloads, const api::ComputeDomain& domain) {
  core::WorkloadsWorld world;
  world.ns = "team-a";
  world.domains = {domain};
  workloads.describe(world);
  return world.owners[domain.meta.uid];
}

TEST(Workloads, RememberTheOwnersThatADomainHasHad) {
  Workloads workloads;
  api::ComputeDomain domain = domain_of_train();
  own(domain, "first");
  own(domain, "second");
  workloads.domain_seen(domain, {});
  domain.meta.owners.pop_back();
  workloads.domain_seen(domain, {});
  EXPECT_THAT(owners_of(workloads, domain), ElementsAre("first", "second"));
  workloads.forget_domain(domain);
  EXPECT_THAT(owners_of(workloads, domain), IsEmpty());
}

TEST(Workloads, RememberOfManyOwnersThoseThatAClaimOrTheDomainHas) {
  Workloads workloads;
  workloads.claim_seen(claim_of("a"), {});
  workloads.pods_read("team-a", {pod_of_job("a", "train")}, false, {});
  api::ComputeDomain domain = domain_of_train();
  own(domain, "uid-train");
  workloads.domain_seen(domain, {});
  for (int i = 0; i < 1'000; ++i) {
    domain.meta.owners.clear();
    own(domain, "stays");
    own(domain, base::cat("of-edit-", i));
    workloads.domain_seen(domain, {});
  }
  EXPECT_THAT(owners_of(workloads, domain), testing::IsSupersetOf({"stays", "uid-train"}));
  EXPECT_LE(owners_of(workloads, domain).size(), 100U);
}

// Anybody may write the label that a domain is known by.
TEST(Workloads, ForgetTheIdThatADomainNoLongerHas) {
  using namespace std::chrono_literals;
  Workloads workloads;
  api::ComputeDomain domain = domain_of_train();
  workloads.domain_seen(domain, 1s);
  domain.meta.labels = {{api::kWorkloadLabel, "another"}};
  workloads.domain_seen(domain, 2s);
  workloads.claim_seen(claim_of("a"), 3s);
  workloads.pods_read("team-a", {pod_of_job("a", "train")}, false, 3s);
  EXPECT_THAT(described(workloads, {claim_of("a")}).domains_seen, IsEmpty());
}

TEST(Workloads, RememberTheIdThatADomainNoLongerHasWhileAClaimHasIt) {
  using namespace std::chrono_literals;
  Workloads workloads;
  workloads.claim_seen(claim_of("a"), 1s);
  workloads.pods_read("team-a", {pod_of_job("a", "train")}, false, 1s);
  api::ComputeDomain domain = domain_of_train();
  workloads.domain_seen(domain, 2s);
  domain.meta.labels = {{api::kWorkloadLabel, "another"}};
  workloads.domain_seen(domain, 3s);
  const auto seen = described(workloads, {claim_of("a")}).domains_seen;
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen.begin()->second, 2s);
}

// A namespace with its pods, claims and domains comes and goes, and its domain is edited meanwhile.
void come_and_go(Workloads& workloads, int round) {
  const base::Duration now = std::chrono::seconds(10 * round);
  const std::string ns = base::cat("team-", round);
  api::ResourceClaim claim = claim_of("a");
  api::ResourceClaim mesh = shared_by({"b"});
  claim.meta.ns = mesh.meta.ns = ns;
  api::ComputeDomain domain = domain_of_train(ns);
  workloads.claim_seen(claim, now);
  workloads.consumers_seen(mesh, now);
  workloads.pods_read(ns, {pod_of_job("a", "train"), pod_on("n1", "b")}, true, now);
  workloads.job_read(ns, "uid-train", api::Job{});
  domain.meta.labels = {{api::kWorkloadLabel, *workloads.workload_of(claim.meta.uid)}};
  workloads.domain_refused(domain, "quota", true, now);
  for (int i = 0; i < 3; ++i) {
    domain.meta.labels = {{api::kWorkloadLabel, base::cat("of-edit-", i)}};
    workloads.domain_seen(domain, now);
    workloads.claim_admitted(claim.meta.uid, base::cat("of-edit-", i));
  }
  domain.meta.deletion_time = base::Time{};
  workloads.domain_seen(domain, now);
  workloads.forget_claim(claim.meta.uid);
  workloads.forget_consumers(mesh.meta.uid);
  workloads.forget_domain(domain);
  // These were on their way.
  workloads.domain_refused(domain, "quota", true, now);
  workloads.job_read(ns, "uid-train", api::Job{});
  workloads.pods_read(ns, {pod_of_job("a", "train")}, true, now);
}

TEST(Workloads, KeepNothingOfNamespacesThatComeAndGo) {
  // Nothing under a sanitizer, which has a heap of its own.
  const auto bytes_in_use = [] { return mallinfo2().uordblks; };
  Workloads workloads;
  int round = 0;
  while (round < 100) come_and_go(workloads, round++);
  const std::size_t before = bytes_in_use();
  while (round < 1'100) come_and_go(workloads, round++);
  EXPECT_LE(bytes_in_use(), before + 10'000);
}

}  // namespace
}  // namespace cdom::controller
