// COMPUTE_DOMAIN_CLIQUES_ENABLED: the objects that tools of the reference driver read.
#include <gmock/gmock.h>

#include <algorithm>

#include "compute_domain/base/text.h"
#include "source_tree/source_tree.h"
#include "system/formations.h"

namespace cdom::system_test {
namespace {

using namespace std::chrono_literals;

constexpr int kMembers = 6;

class CliqueObjects : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  explicit CliqueObjects(std::unique_ptr<Rig> rig) : rig_(std::move(rig)) {}
  CliqueObjects() : rig_(cluster_with_domain(GetParam(), kMembers, {.fills_cliques = true})) {}

  [[nodiscard]] std::vector<api::ComputeDomainClique> objects() const {
    return *rig_->kubectl().list_all<api::ComputeDomainClique>();
  }
  // Of the controller to these objects, one that failed too.
  [[nodiscard]] int writes() const {
    return rig_->requests().count(
        [](const WriteRequest& write) { return write.resource == "computedomaincliques"; });
  }
  [[nodiscard]] int status_writes() const {
    return rig_->requests().count(
        [](const WriteRequest& write) { return write.resource == "computedomains/status"; });
  }

  const std::unique_ptr<Rig> rig_;
};

TEST_P(CliqueObjects, SayWhatTheStatusSaysForNoMoreWrites) {
  form_at_random(*rig_, kMembers);
  ASSERT_EQ(objects().size(), 1U);
  const api::ComputeDomain domain = rig_->domains().front();
  const api::ComputeDomainClique object = objects().front();
  EXPECT_EQ(object.meta.name, base::cat(domain.meta.uid, ".", object.daemons.front().clique));
  ASSERT_EQ(object.daemons.size(), domain.status->nodes.size());
  for (const api::ComputeDomainNodeStatus& node : domain.status->nodes) {
    const auto it =
        std::ranges::find(object.daemons, node.name, &api::ComputeDomainCliqueDaemon::node_name);
    ASSERT_NE(it, object.daemons.end()) << node.name;
    EXPECT_EQ(it->index, node.index);
    EXPECT_EQ(it->ip_address, node.ip_address);
    EXPECT_EQ(it->ready, node.ready);
  }
  EXPECT_LE(writes(), status_writes()) << rig_->requests().summary(is_ours);
  EXPECT_EQ(rig_->requests().summary(is_refused), "");
  rig_->requests().clear();
  rig_->run_for(10min);
  EXPECT_EQ(writes(), 0) << "at rest";
}

TEST_P(CliqueObjects, GoWithTheDomainAndComeBackIfTheyAreDeleted) {
  form_in_one_pass(*rig_, kMembers);
  const std::string path =
      base::cat("/apis/resource.nvidia.com/v1beta1/namespaces/compute-domain-operator/",
                "computedomaincliques/", objects().front().meta.name);
  rig_->remove(path);
  EXPECT_TRUE(rig_->run_until([&] { return objects().size() == 1; }, 10s));
  for (int i = 0; i < kMembers; ++i) {
    rig_->remove(base::cat("/api/v1/namespaces/default/pods/train-", i));
  }
  rig_->remove("/apis/resource.nvidia.com/v1beta1/namespaces/default/computedomains/train");
  EXPECT_TRUE(rig_->run_until([&] { return rig_->domains().empty() && objects().empty(); }, 2min));
}

TEST_P(CliqueObjects, GoWithTheirOwnerWhenNoControllerFillsThemAnyMore) {
  form_in_one_pass(*rig_, kMembers);
  rig_->freeze_controller(true);
  rig_->remove("/api/v1/namespaces/compute-domain-operator/configmaps/compute-domain-cliques");
  EXPECT_TRUE(rig_->run_until([&] { return objects().empty(); }, 60s));
}

TEST_P(CliqueObjects, GetTheirOwnerBackByOneWrite) {
  form_in_one_pass(*rig_, kMembers);
  const api::ComputeDomainClique before = objects().front();
  rig_->requests().clear();
  ASSERT_TRUE(rig_->kubectl().patch<api::ComputeDomainClique>(
      api::name_of(before.meta), "", api::owners_patch({before.meta.uid, {}}, {})));
  ASSERT_TRUE(objects().front().meta.owners.empty());
  rig_->run_for(1min);
  EXPECT_EQ(objects().front().meta.owners, before.meta.owners);
  EXPECT_EQ(writes(), 1) << rig_->requests().summary(is_ours);
}

// A domain of two cliques.
class CliqueObjectsOfTwo : public CliqueObjects {
 protected:
  CliqueObjectsOfTwo()
      : CliqueObjects(std::make_unique<Rig>(RigOptions{
            .seed = GetParam(), .racks = 2, .nodes_per_rack = 2, .fills_cliques = true})) {
    rig_->run_for(5s);
    rig_->apply(domain_yaml("train", 4));
  }
  void form() {
    for (int i = 0; i < 4; ++i) rig_->apply(pod_yaml(base::cat("train-", i), "train"));
    ASSERT_TRUE(rig_->run_until([&] { return rig_->is_ready("train"); }, 60s));
    rig_->run_for(1min);
  }
  void remove(const std::string& object) {
    rig_->remove(
        base::cat("/apis/resource.nvidia.com/v1beta1/namespaces/compute-domain-operator/"
                  "computedomaincliques/",
                  object));
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& object : objects()) all.push_back(object.meta.name);
    return all;
  }
};

TEST_P(CliqueObjectsOfTwo, AreBothThereAndAtRestUnderAnOlderDefinition) {
  std::string definition = source_text("crds/computedomaincliques.yaml");
  const std::size_t at = definition.find(" index:\n");
  ASSERT_NE(at, std::string::npos);
  rig_->apply(definition.replace(at, 7, " older:"));
  rig_->requests().clear();
  form();
  EXPECT_EQ(objects().size(), 2U);
  EXPECT_LE(writes(), 2 * status_writes()) << rig_->requests().summary(is_ours);
  rig_->requests().clear();
  rig_->run_for(10min);
  EXPECT_EQ(writes(), 0) << "at rest";
}

TEST_P(CliqueObjectsOfTwo, AreWrittenAlthoughTheWriteOfOneIsRefused) {
  form();
  ASSERT_EQ(objects().size(), 2U);
  const std::string refused = names().front(), other = names().back();
  rig_->apply(base::cat(R"(
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: none}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
    - {apiGroups: [resource.nvidia.com], apiVersions: ["*"], operations: [CREATE, UPDATE],
       resources: [computedomaincliques]}
  validations:
  - {expression: 'object.metadata.name != ")",
                        refused, R"("', message: not this one}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: none}
spec: {policyName: none, validationActions: [Deny]}
)"));
  remove(refused);
  rig_->run_for(10s);
  remove(other);
  rig_->run_for(1min);
  EXPECT_THAT(names(), ::testing::ElementsAre(other));
}

INSTANTIATE_TEST_SUITE_P(Seed, CliqueObjectsOfTwo, ::testing::Range<std::uint64_t>(1, 4));
INSTANTIATE_TEST_SUITE_P(Seed, CliqueObjects, ::testing::Range<std::uint64_t>(1, 4));

}  // namespace
}  // namespace cdom::system_test
