// The ResourceClaimTemplate that a domain makes for its users.
#include "compute_domain/base/text.h"
#include "compute_domain/core/status.h"
#include "scenarios/homes/scenario.h"

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
  EXPECT_TRUE(tells("ComputeDomain", "train", "TemplateNameTaken", "train-channel"));
  EXPECT_EQ(reason("train"), "TemplateNameTaken");
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

// Anybody who may write templates somewhere can give them any label.
TEST_F(Template, OfAnybodyWithTheDomainsLabelsNeitherStopsNorHoldsIt) {
  const auto on = nodes(2);
  settle("train", {on[0]});
  const std::string uid = domain("train").meta.uid;
  const auto stray = [&](const std::string& name, const std::string& target) {
    return base::cat(R"(
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata:
  name: )",
                     name, R"(
  labels: {resource.nvidia.com/computeDomain: )",
                     uid, ", resource.nvidia.com/computeDomainTarget: ", target, R"(}
  finalizers: [resource.nvidia.com/computeDomain, example.com/mine]
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpus}}]}}}
)");
  };
  Kubectl other(home().administrator(), home().clock(), kubectl().ns() + "-other");
  other.apply(base::cat("{apiVersion: v1, kind: Namespace, metadata: {name: ", other.ns(), "}}"));
  other.apply(stray("computedomain-daemon-" + uid, "Daemon"));
  kubectl().apply(stray("mine", "Workload"));

  kubectl().apply(pod_yaml("late", "train-channel", on[1]));
  EXPECT_TRUE(becomes("train", "Ready", "2/2", "AllNodesReady"));
  EXPECT_TRUE(find("mine")) << "a user's own";
  kubectl().remove_all("Pod");
  kubectl().remove("ComputeDomain", "train");
  EXPECT_TRUE(goes("train"));
  EXPECT_TRUE(find("mine"));
  EXPECT_FALSE(find("mine")->meta.is_deleting());

  const char* kNone = R"({"metadata":{"finalizers":null}})";
  other.patch("ResourceClaimTemplate", "computedomain-daemon-" + uid, kNone);
  other.remove("ResourceClaimTemplate", "computedomain-daemon-" + uid);
  kubectl().patch("ResourceClaimTemplate", "mine", kNone);
  kubectl().remove("ResourceClaimTemplate", "mine");
  other.remove("Namespace", other.ns());
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
