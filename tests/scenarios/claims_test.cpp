// Claims that people write themselves, and get wrong: told where kubectl shows it, and no member.
#include "compute_domain/base/text.h"
#include "scenarios/homes/scenario.h"

namespace cdom::scenarios {
namespace {

using base::cat;

// A template as a domain would make it, but for what is wrong with it.
std::string template_yaml(const std::string& domain_uid, const std::string& more = {}) {
  return cat(R"(
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: mine}
spec:
  spec:
    devices:
      requests:
      - {name: channel, exactly: {deviceClassName: compute-domain-default-channel.nvidia.com}}
      config:
      - requests: [channel]
        opaque:
          driver: compute-domain.nvidia.com
          parameters:
            apiVersion: resource.nvidia.com/v1beta1
            kind: ComputeDomainChannelConfig
            domainID: )",
             domain_uid, more, "\n");
}

class Claims : public Scenario {
 protected:
  // Pod `p` with a claim from that template, once the claim has been allocated.
  std::string claim_of_pod_from(const std::string& yaml) {
    kubectl().apply(yaml);
    kubectl().apply(pod_yaml("p", "mine", nodes(1)[0]));
    EXPECT_TRUE(eventually("a claim is allocated", [&] {
      const auto claims = all<api::ResourceClaim>();
      return claims.size() == 1 && claims[0].allocation.has_value();
    }));
    const auto claims = all<api::ResourceClaim>();
    return claims.empty() ? "" : claims[0].meta.name;
  }
  void TearDown() override {
    kubectl().remove("Pod", "p");
    kubectl().remove("ResourceClaimTemplate", "mine");
    Scenario::TearDown();
  }
};

TEST_F(Claims, OfAnUnknownDomainAreTold) {
  const std::string claim =
      claim_of_pod_from(template_yaml("11111111-2222-3333-4444-555555555555"));
  EXPECT_TRUE(tells("ResourceClaim", claim, "UnknownComputeDomain", "11111111-2222"));
  EXPECT_TRUE(tells("Pod", "p", "FailedPrepareDynamicResources", "there is no ComputeDomain"));
  EXPECT_EQ(phase_of("p"), "Pending");
}

TEST_F(Claims, OfAnotherNamespacesDomainAreToldAndNoMember) {
  Kubectl other(home().administrator(), home().clock(), cat(kubectl().ns(), "-other"));
  other.apply(cat("{apiVersion: v1, kind: Namespace, metadata: {name: ", other.ns(), "}}"));
  other.apply(domain_yaml("train", 1));
  const auto train = other.client().get<api::ComputeDomain>({other.ns(), "train"});
  ASSERT_TRUE(train);

  const std::string claim = claim_of_pod_from(template_yaml(train->meta.uid));
  EXPECT_TRUE(tells("ResourceClaim", claim, "WrongNamespace",
                    cat("the ComputeDomain with UID ", train->meta.uid, " belongs to another")));
  EXPECT_TRUE(tells("Pod", "p", "FailedPrepareDynamicResources"));
  EXPECT_EQ(phase_of("p"), "Pending");
  ASSERT_EQ(other.computedomains().size(), 1U);
  EXPECT_EQ(other.computedomains()[0].ready, "0/1");
  EXPECT_EQ(other.computedomains()[0].reason, "WaitingForPods");

  other.remove("ComputeDomain", "train");
  EXPECT_TRUE(eventually("it is gone", [&] { return other.computedomains().empty(); }));
  other.remove("Namespace", other.ns());
}

// Whose list their node has.
TEST_F(Claims, OfAnotherNamespacesDomainThatIsFormedAreToldWhoseItMayUse) {
  const auto on = nodes(2);
  Kubectl other(home().administrator(), home().clock(), cat(kubectl().ns(), "-other"));
  other.apply(cat("{apiVersion: v1, kind: Namespace, metadata: {name: ", other.ns(), "}}"));
  other.apply(domain_yaml("train", 1));
  other.apply(pod_yaml("train-0", "train-channel", on[1]));
  const auto is_ready = [&] {
    const auto rows = other.computedomains();
    return rows.size() == 1 && rows[0].status == "Ready" && rows[0].ready == "1/1";
  };
  EXPECT_TRUE(eventually("the other domain is Ready", is_ready));
  const auto train = other.client().get<api::ComputeDomain>({other.ns(), "train"});
  ASSERT_TRUE(train);

  claim_of_pod_from(template_yaml(train->meta.uid));
  EXPECT_TRUE(
      tells("Pod", "p", "FailedPrepareDynamicResources", "can only use one of its own namespace"));
  EXPECT_EQ(phase_of("p"), "Pending");
  EXPECT_TRUE(is_ready()) << "it has not noticed";

  other.remove("Pod", "train-0");
  other.remove("ComputeDomain", "train");
  EXPECT_TRUE(eventually("it is gone", [&] { return other.computedomains().empty(); }));
  other.remove("Namespace", other.ns());
}

TEST_F(Claims, WithAnIdThatIsNoUidAreToldAndConcernNoOtherNamespace) {
  Kubectl victim(home().administrator(), home().clock(), cat(kubectl().ns(), "-victim"));
  victim.apply(cat("{apiVersion: v1, kind: Namespace, metadata: {name: ", victim.ns(), "}}"));
  const std::string claim = claim_of_pod_from(template_yaml(cat("'namespace:", victim.ns(), "'")));
  EXPECT_TRUE(tells("ResourceClaim", claim, "InvalidConfig", "is not the UID of a ComputeDomain"));

  victim.apply(R"(
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: fabric}
spec:
  spec:
    devices:
      requests:
      - {name: channel, exactly: {deviceClassName: compute-domain-default-channel.nvidia.com}}
)");
  victim.apply(pod_yaml("v", "fabric", nodes(2)[1]));
  EXPECT_TRUE(eventually("the other namespace's pod runs", [&] {
    const auto pod = victim.client().get<api::Pod>({victim.ns(), "v"});
    return pod && pod->phase == "Running";
  }));
  const auto events = victim.client().list_all<api::Event>({.ns = victim.ns()});
  ASSERT_TRUE(events);
  for (const api::Event& event : *events) {
    EXPECT_NE(event.involved.kind, "ResourceClaim") << event.reason << ": " << event.message;
  }
  victim.remove("Pod", "v");
  EXPECT_TRUE(eventually("its domain is gone", [&] { return victim.computedomains().empty(); }));
  victim.remove("ResourceClaimTemplate", "fabric");
  victim.remove("Namespace", victim.ns());
}

TEST_F(Claims, ForASeatThatIsTakenWaitAndNobodyElseNotices) {
  const auto on = nodes(1);
  settle("train", on);
  kubectl().apply(pod_yaml("p", "train-channel", on[0]));
  EXPECT_TRUE(tells("Pod", "p", "FailedScheduling", "cannot allocate all claims"));
  EXPECT_EQ(phase_of("p"), "Pending");
  EXPECT_TRUE(stays("train", "Ready", "1/1", 2s));
}

TEST_F(Claims, WithAnUnknownFieldAreRefused) {
  kubectl().apply(domain_yaml("train", 1));
  claim_of_pod_from(template_yaml(domain("train").meta.uid, "\n            channels: all"));
  EXPECT_TRUE(tells("Pod", "p", "FailedPrepareDynamicResources", "unknown field \"channels\""));
  EXPECT_EQ(phase_of("p"), "Pending");
}

}  // namespace
}  // namespace cdom::scenarios
