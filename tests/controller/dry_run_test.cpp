#include "compute_domain/controller/dry_run.h"

#include <gmock/gmock.h>

#include "compute_domain/base/text.h"

namespace cdom::controller {
namespace {

using base::cat;
using ::testing::HasSubstr;
using ::testing::Not;

std::string node_yaml(const std::string& name, const std::string& clique, const char* ready) {
  return cat("apiVersion: v1\nkind: Node\nmetadata: {name: ", name,
             "}\nstatus: {conditions: [{type: Ready, status: '", ready, "'}]}\n---\n",
             "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: ", name,
             "-slice}\nspec:\n  driver: compute-domain.nvidia.com\n  nodeName: ", name,
             "\n  pool: {name: ", name, ", generation: 1, resourceSliceCount: 1}\n",
             "  devices:\n  - name: channel-0\n    attributes:\n      type: {string: channel}\n",
             "      id: {int: 0}\n      clique: {string: ", clique, "}\n---\n");
}

std::string placed_domain_yaml(int nodes) {
  return cat(
      "apiVersion: resource.nvidia.com/v1beta1\nkind: ComputeDomain\n"
      "metadata: {name: train, namespace: team-a, uid: u1}\nspec:\n  numNodes: ",
      nodes,
      "\n  channel: {resourceClaimTemplate: {name: train-channel}}\n  placement: {clique: "
      "Single}\n");
}

std::string plan_of_cluster(int wanted) {
  const std::string text = node_yaml("n1", "a.1", "True") + node_yaml("n2", "a.1", "False") +
                           node_yaml("n3", "b.1", "True") + node_yaml("n4", "b.1", "True") +
                           placed_domain_yaml(wanted);
  const base::SystemClock clock;
  const auto page = dry_run({{"cluster.yaml", text}}, {}, clock);
  return page ? *page : base::to_string(page.error());
}

TEST(DryRun, ShowsWhichCliqueADomainWouldGetAndTheTemplateForIt) {
  const std::string page = plan_of_cluster(2);
  EXPECT_THAT(page, HasSubstr("promise 2 seats of clique b.1 to domain u1"));
  EXPECT_THAT(page, HasSubstr("2 nodes of one clique: 2 seats of clique b.1 are kept for it"));
  EXPECT_THAT(page, HasSubstr("create ResourceClaimTemplate team-a/train-channel for clique b.1"));
}

TEST(DryRun, ShowsWhyThereIsNone) {
  const std::string page = plan_of_cluster(3);
  EXPECT_THAT(page, Not(HasSubstr("Placement of all domains")));
  EXPECT_THAT(page, HasSubstr("3 nodes of one clique: needs 3 seats, and the largest clique, a.1, "
                              "has 2"));
  EXPECT_THAT(page, Not(HasSubstr("create ResourceClaimTemplate")));
}

}  // namespace
}  // namespace cdom::controller
