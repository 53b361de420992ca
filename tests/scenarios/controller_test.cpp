// The controller's process is killed and another one starts: nobody notices.
#include "scenarios/homes/scenario.h"

namespace cdom::scenarios {
namespace {

using ControllerRestart = Scenario;

TEST_F(ControllerRestart, WhileADomainForms) {
  const auto on = nodes(4);
  form("train", 4, {on[0], on[1]});
  home().restart_controller();
  kubectl().apply(pod_yaml("train-2", "train-channel", on[2]));
  kubectl().apply(pod_yaml("train-3", "train-channel", on[3]));
  EXPECT_TRUE(becomes("train", "Ready", "4/4", "AllNodesReady"));
}

TEST_F(ControllerRestart, WhileADomainGoes) {
  const auto on = nodes(2);
  settle("train", on);
  kubectl().remove_all("ComputeDomain");
  kubectl().remove_all("Pod");
  home().restart_controller();
  EXPECT_TRUE(goes("train"));
}

TEST_F(ControllerRestart, OfASettledDomainWritesNothing) {
  const auto on = nodes(3);
  settle("train", on);
  EXPECT_TRUE(stays("train", "Ready", "3/3", 3s));
  const auto version = [&] {
    return domain("train").meta.resource_version + " " +
           node_list_map("train").meta.resource_version;
  };
  const std::string before = version();
  home().restart_controller();
  kubectl().apply(domain_yaml("another", 1));
  EXPECT_TRUE(becomes("another", "NotReady", "0/1", "WaitingForPods")) << "the new one works";
  EXPECT_TRUE(stays("train", "Ready", "3/3", 3s));
  EXPECT_EQ(version(), before);
}

}  // namespace
}  // namespace cdom::scenarios
