// The node list, when somebody lays hands on it.
#include <nlohmann/json.hpp>

#include "scenarios/homes/scenario.h"

namespace cdom::scenarios {
namespace {

using json = nlohmann::json;

class NodeListByHand : public Scenario {
 protected:
  void SetUp() override {
    Scenario::SetUp();
    settle("train", nodes(3));
    before_ = node_list_map("train");
    slots_ = slots("train");
  }
  void write(const std::string& text) {
    const json patch{{"data", {{api::kNodeListKey, text}}}};
    operator_.patch("ConfigMap", before_.meta.name, patch.dump());
  }
  // The list as the operator wrote it, for an edit.
  [[nodiscard]] api::NodeList list() const { return api::decode_node_list(before_).value(); }
  void expect_restored() {
    EXPECT_TRUE(eventually("the same slots again", [&] {
      const auto map = operator_.client().get<api::ConfigMap>(api::name_of(before_.meta));
      if (!map || map->meta.resource_version == before_.meta.resource_version) return false;
      return api::decode_node_list(*map) && slots("train") == slots_;
    }));
    EXPECT_TRUE(tells("ComputeDomain", "train", "NodeListRestored", before_.meta.name));
    EXPECT_TRUE(becomes("train", "Ready", "3/3", "AllNodesReady"));
    EXPECT_EQ(slots("train"), slots_);
  }

  Kubectl operator_{home().administrator(), home().clock(), "compute-domain-operator"};
  api::ConfigMap before_;
  std::map<std::string, std::int64_t> slots_;
};

TEST_F(NodeListByHand, OverwrittenIsRestored) {
  write("{}");
  expect_restored();
}

TEST_F(NodeListByHand, DeletedIsRestored) {
  operator_.remove("ConfigMap", before_.meta.name);
  expect_restored();
}

TEST_F(NodeListByHand, WithSlotsExchangedIsRestored) {
  api::NodeList edited = list();
  std::swap(edited.entries.at(0).slot, edited.entries.at(1).slot);
  write(api::encode_node_list(edited));
  expect_restored();
}

TEST_F(NodeListByHand, WithoutAMemberIsRestored) {
  api::NodeList edited = list();
  edited.entries.erase(edited.entries.begin() + 1);
  write(api::encode_node_list(edited));
  expect_restored();
}

}  // namespace
}  // namespace cdom::scenarios
