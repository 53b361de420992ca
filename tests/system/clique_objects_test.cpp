// COMPUTE_DOMAIN_CLIQUES_ENABLED: the objects that tools of the reference driver read.
#include <gmock/gmock.h>

#include <algorithm>

#include "compute_domain/base/text.h"
#include "system/formations.h"

namespace cdom::system_test {
namespace {

using namespace std::chrono_literals;

constexpr int kMembers = 6;

class CliqueObjects : public ::testing::TestWithParam<std::uint64_t> {
 protected:
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

INSTANTIATE_TEST_SUITE_P(Seed, CliqueObjects, ::testing::Range<std::uint64_t>(1, 4));

}  // namespace
}  // namespace cdom::system_test
