// GPU_CLIQUE_LABEL_ENABLED: the label of each Node follows its agent's slice.
#include <gmock/gmock.h>

#include "compute_domain/api/names.h"
#include "system/rig.h"

namespace cdom::system_test {
namespace {

using namespace std::chrono_literals;

class NodeLabel : public ::testing::Test {
 protected:
  NodeLabel() {
    for (const char* file : {"rbac", "policy"}) {
      rig_.apply_file(std::string("manifests/gpu-clique-label/") + file + ".yaml");
    }
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

}  // namespace
}  // namespace cdom::system_test
