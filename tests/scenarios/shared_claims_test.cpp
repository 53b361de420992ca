// One ResourceClaim that pods on several nodes of a clique name: their nodes are one domain. In a
// cluster with manifests/shared-claims.
#include "compute_domain/base/text.h"
#include "scenarios/homes/scenario.h"

namespace cdom::scenarios {
namespace {

using base::cat;
using testing::SizeIs;

// `config`: parameters of the claim's configuration for the driver, in YAML's flow style.
std::string claim_yaml(const std::string& name, const std::string& config = {}) {
  std::string yaml = cat(R"(
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: )",
                         name, R"(}
spec:
  devices:
    requests:
    - {name: channel, exactly: {deviceClassName: compute-domain-shared-channel.nvidia.com}}
)");
  if (config.empty()) return yaml;
  return cat(yaml, "    config:\n    - opaque: {driver: compute-domain.nvidia.com, parameters: {",
             "apiVersion: resource.nvidia.com/v1beta1, ", config, "}}\n");
}

std::string sharing_pod_yaml(const std::string& name, const std::string& claim,
                             const std::string& node) {
  std::string yaml = pod_yaml(name, "", node);
  const std::string of_template = "resourceClaimTemplateName: ";
  return yaml.replace(yaml.find(of_template), of_template.size(),
                      cat("resourceClaimName: ", claim));
}

class SharedClaims : public Scenario {
 protected:
  SharedClaims() : Scenario({.shares_claims = true}) {}
  explicit SharedClaims(const Size& size) : Scenario(size) {}
  void TearDown() override {
    kubectl().remove_all("Pod");
    kubectl().remove_all("ResourceClaim");
    Scenario::TearDown();
  }

  // Pods `claim`-0, `claim`-1, … on these nodes.
  void share(const std::string& claim, const std::vector<std::string>& on) {
    for (std::size_t i = 0; i < on.size(); ++i) {
      kubectl().apply(sharing_pod_yaml(cat(claim, "-", i), claim, on[i]));
    }
  }
  // The name of the domain that is made for the claim; waits for it.
  std::string domain_of(const std::string& claim) {
    std::string name;
    EXPECT_TRUE(eventually(cat("a domain for ", claim), [&] {
      for (const auto& each : all<api::ComputeDomain>()) {
        if (each.meta.name.starts_with(cat(claim, "-"))) name = each.meta.name;
      }
      return !name.empty();
    }));
    return name;
  }
  testing::AssertionResult runs(const std::string& pod, base::Duration span = kSoon) {
    return eventually(
        cat(pod, " runs"), [&] { return phase_of(pod) == "Running"; }, span);
  }
  std::set<std::string> nodes_in(const std::string& name) {
    std::set<std::string> names;
    for (const auto& [node, slot] : slots(name)) names.insert(node);
    return names;
  }
};

TEST_F(SharedClaims, OneThatPodsOnThreeNodesNameIsOneDomain) {
  const auto on = nodes(3);
  kubectl().apply(claim_yaml("mesh"));
  share("mesh", on);
  const std::string name = domain_of("mesh");
  EXPECT_TRUE(becomes(name, "Ready", "3/3", "AllNodesReady"));
  for (const char* pod : {"mesh-0", "mesh-1", "mesh-2"}) {
    EXPECT_TRUE(runs(pod));
    EXPECT_TRUE(sees_only_channel(0, pod));
  }
  EXPECT_EQ(nodes_in(name), std::set(on.begin(), on.end()));
  ASSERT_THAT(all<api::ResourceClaim>(), SizeIs(1));
  EXPECT_THAT(all<api::ResourceClaim>().front().reserved_for, SizeIs(3));
  const auto made = domain(name);
  EXPECT_EQ(made.spec.workload->kind, "ResourceClaim");
  ASSERT_THAT(made.meta.owners, SizeIs(1));
  EXPECT_EQ(made.meta.owners.front().kind, "ResourceClaim");

  kubectl().remove_all("Pod");
  ASSERT_TRUE(eventually("the pods are gone", [&] { return all<api::Pod>().empty(); }));
  kubectl().remove("ResourceClaim", "mesh");
  EXPECT_TRUE(goes(name));
}

TEST_F(SharedClaims, ServesAllPodsOfANodeByOneSeatThere) {
  const std::string node = nodes(1).front();
  kubectl().apply(claim_yaml("mesh"));
  share("mesh", {node, node, nodes(2).back()});
  const std::string name = domain_of("mesh");
  EXPECT_TRUE(becomes(name, "Ready", "2/2", "AllNodesReady"));
  kubectl().remove("Pod", "mesh-0");
  ASSERT_TRUE(eventually("it is gone", [&] { return !exists_pod("mesh-0"); }));
  EXPECT_TRUE(stays(name, "Ready", "2/2", 3s));
  kubectl().remove("Pod", "mesh-1");
  EXPECT_TRUE(becomes(name, "Ready", "1/1", "AllNodesReady"));
}

TEST_F(SharedClaims, APodThatComesLaterBringsItsNode) {
  const auto on = nodes(3);
  kubectl().apply(claim_yaml("mesh"));
  share("mesh", {on[0], on[1]});
  const std::string name = domain_of("mesh");
  ASSERT_TRUE(becomes(name, "Ready", "2/2", "AllNodesReady"));
  const auto before = slots(name);
  const std::string daemons = daemons_on({on[0], on[1]});
  kubectl().apply(sharing_pod_yaml("late", "mesh", on[2]));
  EXPECT_TRUE(runs("late"));
  EXPECT_TRUE(becomes(name, "Ready", "3/3", "AllNodesReady"));
  const auto after = slots(name);
  for (const auto& [node, slot] : before) EXPECT_EQ(after.at(node), slot) << node;
  // And one that goes takes its node along.
  kubectl().remove("Pod", "late");
  EXPECT_TRUE(becomes(name, "Ready", "2/2", "AllNodesReady"));
  EXPECT_EQ(daemons_on({on[0], on[1]}), daemons);
}

TEST_F(SharedClaims, OneThatNamesADomainIsOfThatDomain) {
  const auto on = nodes(2);
  kubectl().apply(domain_yaml("train", 2));
  kubectl().apply(claim_yaml(
      "mesh", cat("kind: ComputeDomainChannelConfig, domainID: ", domain("train").meta.uid)));
  share("mesh", on);
  EXPECT_TRUE(becomes("train", "Ready", "2/2", "AllNodesReady"));
  EXPECT_THAT(all<api::ComputeDomain>(), SizeIs(1));
}

TEST_F(SharedClaims, AControllerThatStartsAnewTakesNoNodeOutOfTheDomain) {
  kubectl().apply(claim_yaml("mesh"));
  share("mesh", nodes(2));
  const std::string name = domain_of("mesh");
  ASSERT_TRUE(becomes(name, "Ready", "2/2", "AllNodesReady"));
  home().restart_controller();
  EXPECT_TRUE(stays(name, "Ready", "2/2", 5s));
  kubectl().remove("Pod", "mesh-1");
  EXPECT_TRUE(becomes(name, "Ready", "1/1", "AllNodesReady"));
}

TEST_F(SharedClaims, ANodeThatServesAnotherDomainSaysSoAndWaits) {
  const auto on = nodes(2);
  settle("blue", {on[0]});
  kubectl().apply(claim_yaml("mesh"));
  share("mesh", on);
  EXPECT_TRUE(tells("Pod", "mesh-0", "FailedPrepareDynamicResources",
                    "this node still runs the IMEX daemon of another ComputeDomain", kLate));
  EXPECT_EQ(phase_of("mesh-0"), "Pending");
  EXPECT_TRUE(becomes("blue", "Ready", "1/1", "AllNodesReady"));
  kubectl().remove("Pod", "blue-0");
  kubectl().remove("ComputeDomain", "blue");
  EXPECT_TRUE(runs("mesh-0", kLate));
  EXPECT_TRUE(becomes(domain_of("mesh"), "Ready", "2/2", "AllNodesReady", {}, kLate));
}

class ChannelsOfSharedClaims : public SharedClaims {
 protected:
  ChannelsOfSharedClaims() : SharedClaims({.by_channel = true, .shares_claims = true}) {}
};

TEST_F(ChannelsOfSharedClaims, AreThoseOfTheirDomainsOnTheSameNodes) {
  const auto on = nodes(2);
  std::set<std::int64_t> channels;
  for (const char* claim : {"mesh", "web"}) {
    kubectl().apply(claim_yaml(claim));
    share(claim, on);
    const std::string name = domain_of(claim);
    ASSERT_TRUE(becomes(name, "Ready", "2/2", "AllNodesReady"));
    const api::ComputeDomain formed = domain(name);
    for (const auto& node : formed.status->nodes) channels.insert(node.channel);
  }
  EXPECT_THAT(channels, SizeIs(2));
  EXPECT_FALSE(channels.contains(0));
}

// By the whole cluster: the other rack is somebody else's when scenarios play side by side.
class SharedClaimsInTwoCliques : public SharedClaims {};

TEST_F(SharedClaimsInTwoCliques, APodInAnotherCliqueStaysPendingAndIsToldWhy) {
  kubectl().apply(claim_yaml("mesh"));
  share("mesh", nodes(2));
  const std::string name = domain_of("mesh");
  ASSERT_TRUE(becomes(name, "Ready", "2/2", "AllNodesReady"));
  kubectl().apply(sharing_pod_yaml("far", "mesh", nodes_of_another_rack(1).front()));
  EXPECT_TRUE(tells("Pod", "far", "FailedScheduling", "resourceclaim not available on the node"));
  EXPECT_EQ(phase_of("far"), "Pending");
  EXPECT_TRUE(stays(name, "Ready", "2/2", 3s));
}

}  // namespace
}  // namespace cdom::scenarios
