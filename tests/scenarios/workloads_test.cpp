// Pods exactly as the controllers of JobSet, LeaderWorkerSet and MPIJob make them: tests/workloads.
// These controllers are nowhere here. Automatic domains know workloads by owners and labels alone.
#include <algorithm>

#include "scenarios/homes/scenario.h"

namespace cdom::scenarios {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

class Workloads : public Scenario {
 protected:
  Workloads() : Scenario({.racks = 2, .nodes_per_rack = 19}) {}
  void TearDown() override {
    kubectl().remove_all("Job");
    kubectl().remove_all("Pod");
    kubectl().remove_all("ResourceClaimTemplate");
    Scenario::TearDown();
  }

  // The names of the domains, as many as there shall be.
  std::vector<std::string> domains_of(const std::string& workload, std::size_t count) {
    kubectl().apply_file("tests/workloads/" + workload + ".yaml");
    EXPECT_TRUE(eventually("it has its domains",
                           [&] { return all<api::ComputeDomain>().size() == count; }));
    std::vector<std::string> names;
    for (const auto& domain : all<api::ComputeDomain>()) names.push_back(domain.meta.name);
    return names;
  }
  std::size_t running() {
    const auto pods = all<api::Pod>();
    return static_cast<std::size_t>(std::ranges::count(pods, "Running", &api::Pod::phase));
  }
};

TEST_F(Workloads, AllJobsOfAJobSetShareOneDomain) {
  const auto names = domains_of("jobset", 1);
  ASSERT_THAT(names, ElementsAre(testing::MatchesRegex("training-[0-9a-f]{8}")));
  EXPECT_TRUE(becomes(names[0], "Ready", "4/4", "AllNodesReady"));
  EXPECT_EQ(domain(names[0]).spec.workload->kind, "JobSet");
  EXPECT_TRUE(eventually("all pods run", [&] { return running() == 4; }));
  EXPECT_THAT(all<api::ComputeDomain>(), SizeIs(1));
}

TEST_F(Workloads, EachGroupOfALeaderWorkerSetHasADomain) {
  const auto names = domains_of("leaderworkerset", 2);
  ASSERT_THAT(names, SizeIs(2));
  for (const std::string& name : names) {
    EXPECT_THAT(name, testing::MatchesRegex("serve-[01]-[0-9a-f]{8}"));
    EXPECT_TRUE(becomes(name, "Ready", "2/2", "AllNodesReady"));
    EXPECT_EQ(domain(name).spec.workload->kind, "LeaderWorkerSet");
  }
  EXPECT_TRUE(eventually("all pods run", [&] { return running() == 4; }));
}

TEST_F(Workloads, TheWorkersOfAnMpiJobHaveADomainAndItsLauncherHasNone) {
  const auto names = domains_of("mpijob", 1);
  ASSERT_THAT(names, ElementsAre(testing::MatchesRegex("allreduce-[0-9a-f]{8}")));
  EXPECT_TRUE(becomes(names[0], "Ready", "2/2", "AllNodesReady"));
  EXPECT_EQ(domain(names[0]).spec.workload->kind, "MPIJob");
  EXPECT_TRUE(eventually("workers and launcher run", [&] { return running() == 3; }));
  EXPECT_THAT(all<api::ResourceClaim>(), SizeIs(2));
}

}  // namespace
}  // namespace cdom::scenarios
