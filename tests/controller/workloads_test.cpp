// Where the pods are that share a claim, as far as reads have told.
#include "compute_domain/controller/workloads.h"

#include <gmock/gmock.h>

#include "compute_domain/api/names.h"
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

}  // namespace
}  // namespace cdom::controller
