// Every file of manifests/examples, applied as it is: its domains get Ready, and go without a
// trace.
#include "scenarios/homes/scenario.h"

namespace cdom::scenarios {
namespace {

// Room for the largest one, wherever the scheduler puts its pods.
class Examples : public Scenario {
 protected:
  Examples() : Scenario({.racks = 2, .nodes_per_rack = 19}) {}
  void apply(const std::string& name) {
    kubectl().apply_file("manifests/examples/" + name + ".yaml");
  }
};

TEST_F(Examples, TwoNodes) {
  apply("two-nodes");
  EXPECT_TRUE(becomes("two-nodes", "Ready", "2/2", "AllNodesReady"));
}

TEST_F(Examples, TrainingJob) {
  apply("training-job");
  EXPECT_TRUE(becomes("training", "Ready", "18/18", "AllNodesReady"));
  EXPECT_EQ(domain("training").status->nodes.size(), 18U);
}

TEST_F(Examples, SideBySide) {
  apply("side-by-side");
  EXPECT_TRUE(becomes("left", "Ready", "2/2", "AllNodesReady"));
  EXPECT_TRUE(becomes("right", "Ready", "2/2", "AllNodesReady"));
}

TEST_F(Examples, SharedTemplate) {
  apply("shared-template");
  EXPECT_TRUE(becomes("shared-template", "Ready", "3/3", "AllNodesReady"));
}

TEST_F(Examples, AllChannels) {
  apply("all-channels");
  EXPECT_TRUE(becomes("all-channels", "Ready", "1/1", "AllNodesReady"));
}

TEST_F(Examples, AutomaticJob) {
  apply("automatic-job");
  ASSERT_TRUE(
      eventually("the Job has a domain", [&] { return all<api::ComputeDomain>().size() == 1; }));
  const std::string name = all<api::ComputeDomain>().front().meta.name;
  EXPECT_TRUE(becomes(name, "Ready", "4/4", "AllNodesReady"));
  kubectl().remove("ResourceClaimTemplate", "nvlink");
}

TEST_F(Examples, SingleClique) {
  apply("single-clique");
  EXPECT_TRUE(becomes("single-clique", "Ready", "4/4", "AllNodesReady"));
  EXPECT_EQ(domain("single-clique").status->cliques, 1);
  EXPECT_EQ(domain("single-clique").status->placed_clique,
            domain("single-clique").status->nodes.at(0).clique);
}

TEST_F(Examples, ReferenceDriver) {
  apply("reference-driver");
  EXPECT_TRUE(becomes("nccl-test", "Ready", "2/2", "AllNodesReady"));
}

}  // namespace
}  // namespace cdom::scenarios
