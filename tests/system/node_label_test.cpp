// GPU_CLIQUE_LABEL_ENABLED: the label of each Node follows its agent's slice.
#include <gmock/gmock.h>

#include <stdexcept>

#include "compute_domain/api/names.h"
#include "source_tree/source_tree.h"
#include "system/rig.h"

namespace cdom::system_test {
namespace {

using namespace std::chrono_literals;

class NodeLabel : public ::testing::Test {
 protected:
  // As manifests/gpu-clique-label has it.
  NodeLabel() {
    std::string policy = source_text("manifests/base/controller-policy.yaml");
    const std::string ours = "['resource.nvidia.com/compute-domain-agent'";
    const std::size_t at = policy.find(ours);
    if (at == std::string::npos) throw std::runtime_error("the policy has no list of our labels");
    policy.insert(at + ours.size(), ", 'nvidia.com/gpu.clique', 'resource.nvidia.com/gpu.clique'");
    rig_.apply(policy);
  }

  [[nodiscard]] api::ObjectMeta node() const {
    const auto found = rig_.kubectl().get<api::Node>({"", kNode});
    return found ? found->meta : api::ObjectMeta{};
  }
  void label(std::optional<std::string> value) const {
    const auto done = rig_.kubectl().patch<api::Node>(
        {"", kNode}, "", api::metadata_patch({}, {{api::kNodeCliqueLabel, std::move(value)}}, {}));
    ASSERT_TRUE(done) << done.error().message;
  }
  // Within ten seconds, and for ten more.
  bool gets(const std::string& label, const std::string& mark) {
    const auto has = [&] {
      const api::ObjectMeta meta = node();
      return meta.label(api::kNodeCliqueLabel) == label &&
             meta.annotation(api::kNodeCliqueMark) == mark;
    };
    if (!rig_.run_until(has, 10s)) return false;
    rig_.run_for(10s);
    return has();
  }

  static constexpr char kNode[] = "n01";
  Rig rig_{RigOptions{.seed = 4, .nodes_per_rack = 2, .labels_nodes = true}};
};

TEST_F(NodeLabel, OfAnotherWriterIsLeftAndOneThatIsFreeFollowsTheClique) {
  // As the simulated nodes come, with what GPU feature discovery writes.
  const std::string clique = node().label(api::kNodeCliqueLabel);
  ASSERT_NE(clique, "");
  EXPECT_TRUE(gets(clique, ""));
  label(std::nullopt);
  EXPECT_TRUE(gets(clique, clique));
  rig_.cluster().set_clique(kNode, "6f0a5a5e-0000-4000-8000-000000000009.7");
  EXPECT_TRUE(
      gets("6f0a5a5e-0000-4000-8000-000000000009.7", "6f0a5a5e-0000-4000-8000-000000000009.7"));
  label("theirs");
  EXPECT_TRUE(gets("theirs", ""));
}

TEST_F(NodeLabel, GoesWithTheSlice) {
  const std::string clique = node().label(api::kNodeCliqueLabel);
  label(std::nullopt);
  ASSERT_TRUE(gets(clique, clique));
  rig_.cluster().inject(kNode, sandbox::Fault::AgentCrash);
  const auto slices = rig_.kubectl().list_all<api::ResourceSlice>();
  ASSERT_TRUE(slices);
  for (const api::ResourceSlice& slice : *slices) {
    if (slice.node == kNode)
      rig_.remove("/apis/resource.k8s.io/v1/resourceslices/" + slice.meta.name);
  }
  EXPECT_TRUE(gets("", ""));
  rig_.cluster().heal(kNode, sandbox::Fault::AgentCrash);
  EXPECT_TRUE(gets(clique, clique));
}

// The label by which DaemonSets select Nodes, as what tells of their GPUs comes and goes.
class AgentLabel : public ::testing::Test {
 protected:
  [[nodiscard]] std::string label() const {
    const auto found = rig_.kubectl().get<api::Node>({"", kNode});
    return found ? found->meta.label(api::kAgentNodeLabel) : "?";
  }
  void tell_of_gpus(std::optional<std::string> value) const {
    const auto done = rig_.kubectl().patch<api::Node>(
        {"", kNode}, "",
        api::metadata_patch({}, {{"nvidia.com/gpu.present", std::move(value)}}, {}));
    ASSERT_TRUE(done) << done.error().message;
  }
  bool becomes(const std::string& wanted) {
    return rig_.run_until([&] { return label() == wanted; }, 10s);
  }

  static constexpr char kNode[] = "n01";
  Rig rig_{RigOptions{.seed = 9, .nodes_per_rack = 2}};
};

TEST_F(AgentLabel, ComesWithWhatTellsOfGpusAndGoesWithIt) {
  EXPECT_TRUE(becomes("detected"));
  tell_of_gpus(std::nullopt);
  EXPECT_TRUE(becomes(""));
  tell_of_gpus("true");
  EXPECT_TRUE(becomes("detected"));
}

TEST_F(AgentLabel, StaysWhileADomainUsesTheNode) {
  rig_.apply(domain_yaml("train", 2));
  for (const char* pod : {"train-0", "train-1"}) rig_.apply(pod_yaml(pod, "train"));
  ASSERT_TRUE(rig_.run_until([&] { return rig_.is_ready("train"); }, 60s));
  tell_of_gpus(std::nullopt);
  rig_.run_for(60s);
  EXPECT_EQ(label(), "detected");
  EXPECT_TRUE(rig_.is_ready("train"));
  for (const char* pod : {"train-0", "train-1"}) {
    rig_.remove(std::string("/api/v1/namespaces/default/pods/") + pod);
  }
  EXPECT_TRUE(rig_.run_until([&] { return label().empty(); }, 60s));
}

// The DaemonSet controller would end the node's IMEX before the controller could put it back.
TEST_F(AgentLabel, IsTakenAwayByNobodyElse) {
  ASSERT_TRUE(becomes("detected"));
  const auto set = [&](std::optional<std::string> value) {
    return rig_.kubectl().patch<api::Node>(
        {"", kNode}, "", api::metadata_patch({}, {{api::kAgentNodeLabel, std::move(value)}}, {}));
  };
  const auto taken = set(std::nullopt);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().kind, base::ErrorKind::Forbidden);
  EXPECT_THAT(taken.error().message, testing::HasSubstr("set it to \"false\""));
  EXPECT_TRUE(set("false"));
  EXPECT_TRUE(set(std::nullopt));
}

}  // namespace
}  // namespace cdom::system_test
