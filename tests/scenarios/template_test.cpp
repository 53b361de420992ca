// The ResourceClaimTemplate that a domain makes for its users.
#include "compute_domain/core/status.h"
#include "scenarios/scenario.h"

namespace cdom::scenarios {
namespace {

class Template : public Scenario {
 protected:
  [[nodiscard]] std::optional<api::ResourceClaimTemplate> find(const std::string& name) const {
    auto found = kubectl().client().get<api::ResourceClaimTemplate>({kubectl().ns(), name});
    return found ? std::optional(*found) : std::nullopt;
  }
  [[nodiscard]] std::string reason(const std::string& domain_name) const {
    const auto status = domain(domain_name).status;
    const auto* condition =
        status ? api::find_condition(status->conditions, core::kConditionTemplate) : nullptr;
    return condition == nullptr ? "" : condition->reason;
  }
};

TEST_F(Template, OfSomebodyElseIsLeftAloneAndToldUntilTheNameIsFree) {
  kubectl().apply(R"(
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: train-channel, labels: {app: mine}}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpus}}]}}}
)");
  const auto before = find("train-channel");
  kubectl().apply(domain_yaml("train", 2));
  EXPECT_TRUE(becomes("train", "NotReady", "0/2", "TemplateNameTaken", "train-channel"));
  EXPECT_TRUE(tells("ComputeDomain", "train", "NameTaken", "train-channel"));
  EXPECT_EQ(reason("train"), "NameTaken");
  EXPECT_EQ(find("train-channel"), before);

  kubectl().remove("ResourceClaimTemplate", "train-channel");
  EXPECT_TRUE(becomes("train", "NotReady", "0/2", "WaitingForPods"));
  EXPECT_TRUE(eventually("TemplateReady", [&] { return reason("train") == "Created"; }));
  const auto on = nodes(2);
  kubectl().apply(pod_yaml("train-0", "train-channel", on[0]));
  kubectl().apply(pod_yaml("train-1", "train-channel", on[1]));
  EXPECT_TRUE(becomes("train", "Ready", "2/2", "AllNodesReady"));
}

TEST_F(Template, OfSomebodyElseOutlivesTheDomain) {
  kubectl().apply(R"(
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: train-channel}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpus}}]}}}
)");
  const auto before = find("train-channel");
  kubectl().apply(domain_yaml("train", 2));
  EXPECT_TRUE(becomes("train", "NotReady", "0/2", "TemplateNameTaken"));
  kubectl().remove("ComputeDomain", "train");
  EXPECT_TRUE(goes("train"));
  EXPECT_EQ(find("train-channel"), before);
  kubectl().remove("ResourceClaimTemplate", "train-channel");
}

TEST_F(Template, ThatIsDeletedByHandIsMadeAgain) {
  kubectl().apply(domain_yaml("train", 1));
  EXPECT_TRUE(becomes("train", "NotReady", "0/1", "WaitingForPods"));
  const auto before = find("train-channel");
  ASSERT_TRUE(before);
  kubectl().remove("ResourceClaimTemplate", "train-channel");
  EXPECT_TRUE(eventually("another template", [&] {
    const auto now = find("train-channel");
    return now && now->meta.uid != before->meta.uid;
  }));
}

}  // namespace
}  // namespace cdom::scenarios
