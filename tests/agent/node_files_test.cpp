// The agent over the files of a node.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "agent/rig.h"
#include "base/directory.h"
#include "compute_domain/agent/cdi_channel_injector.h"
#include "compute_domain/agent/checkpoint_codec.h"
#include "compute_domain/agent/file_checkpoint_store.h"
#include "compute_domain/agent/file_fabric.h"
#include "compute_domain/agent/kubelet_state_file.h"

namespace cdom::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class NodeFiles {
 public:
  NodeFiles() {
    dir.write("fabric.yaml", "gpus: [{state: completed, clusterUUID: rack-1, cliqueID: 7}]");
    dir.write("devices", "Character devices:\n235 nvidia-caps-imex-channels\n");
  }
  // A new agent, which knows only what lies there.
  void start_agent() {
    rig.agent.reset();
    rig.agent = std::make_unique<SteppedAgent>(
        rig.client, NodePorts{fabric, rig.imex, checkpoints, channels, kubelet}, rig.clock,
        NodeAgentOptions{.self = {kNode, boot_id, "10.0.0.1"},
                         .times = {},
                         .operator_namespace = kNamespace,
                         .seed = 7});
    rig.settle();
  }
  [[nodiscard]] core::Checkpoint checkpoint() const {
    const auto decoded = decode_checkpoint(dir.read("plugin/checkpoint"));
    EXPECT_TRUE(decoded);
    return decoded ? *decoded : core::Checkpoint();
  }

  std::string boot_id = "boot-1";
  const base::Directory dir;
  FileFabric fabric{dir.at("fabric.yaml")};
  FileCheckpointStore checkpoints{dir.at("plugin/checkpoint")};
  CdiChannelInjector channels{{.directory = dir.at("cdi"),
                               .proc_devices = dir.at("devices"),
                               .proc_driver = dir.at("nvidia"),
                               .dev = ""}};
  KubeletStateFile kubelet{dir.at("dra_manager_state")};
  Rig rig;
};

TEST(NodeFiles, AClaimIsPreparedAndUnpreparedAcrossAgents) {
  NodeFiles node;
  node.start_agent();
  EXPECT_EQ(node.rig.report().clique, kClique);
  const core::ClaimRef claim = node.rig.make_claim("a");
  node.rig.write_list({claim.uid});
  const ClaimStep prepared = node.rig.prepare(claim);
  ASSERT_EQ(prepared.state, ClaimStep::State::Done) << prepared.reason;
  EXPECT_EQ(node.channels.written()->by_claim.at(claim.uid), (core::ChannelRange{0, 1}));
  EXPECT_EQ(node.checkpoint().claims.at(claim.uid).phase, core::ClaimPhase::Completed);

  node.start_agent();
  EXPECT_EQ(node.rig.prepare(claim).devices, prepared.devices);
  EXPECT_EQ(node.rig.unprepare(claim).state, ClaimStep::State::Done);
  EXPECT_THAT(node.channels.written()->by_claim, IsEmpty());
  EXPECT_THAT(node.checkpoint().claims, IsEmpty());
}

TEST(NodeFiles, NoFileOfAnEarlierBootStaysWhenTheCheckpointDoesNotNameItsClaim) {
  NodeFiles node;
  node.start_agent();
  const core::ClaimRef claim = node.rig.make_claim("a");
  node.rig.write_list({claim.uid});
  const std::string before = node.dir.read("plugin/checkpoint");
  ASSERT_EQ(node.rig.prepare(claim).state, ClaimStep::State::Done);
  // The disk had it no later than this, and the file of the claim.
  node.dir.write("plugin/checkpoint", before);
  node.rig.imex.daemon = {};
  node.boot_id = "boot-2";
  node.start_agent();
  EXPECT_EQ(node.checkpoint().boot_id, "boot-2");
  EXPECT_THAT(node.channels.written()->by_claim, IsEmpty());
}

TEST(NodeFiles, ATornCheckpointIsSetAsideAndTheRunningDaemonTakenOver) {
  NodeFiles node;
  node.start_agent();
  const core::ClaimRef claim = node.rig.make_claim("a");
  node.rig.write_list({claim.uid});
  ASSERT_EQ(node.rig.prepare(claim).state, ClaimStep::State::Done);
  const std::string torn = node.dir.read("plugin/checkpoint").substr(0, 40);
  node.dir.write("plugin/checkpoint", torn);

  node.start_agent();
  EXPECT_EQ(node.dir.read("plugin/checkpoint.unreadable-1"), torn);
  EXPECT_TRUE(node.rig.imex.daemon.running);
  EXPECT_EQ(node.rig.imex.starts, 1);
  ASSERT_TRUE(node.checkpoint().served);
  EXPECT_TRUE(node.checkpoint().claims.contains(claim.uid));
}

TEST(NodeFiles, AClaimWaitsWithTheReasonWhileTheKernelHasNoChannels) {
  NodeFiles node;
  node.dir.write("devices", "Character devices:\n195 nvidia\n");
  node.start_agent();
  const core::ClaimRef claim = node.rig.make_claim("a");
  node.rig.write_list({claim.uid});
  const ClaimStep waiting = node.rig.prepare(claim);
  EXPECT_EQ(waiting.state, ClaimStep::State::Waiting);
  EXPECT_THAT(waiting.reason, HasSubstr("has no character device nvidia-caps-imex-channels"));
  node.dir.write("devices", "Character devices:\n236 nvidia-caps-imex-channels\n");
  node.rig.pass(std::chrono::seconds(5));
  EXPECT_EQ(node.rig.prepare(claim).state, ClaimStep::State::Done);
}

TEST(NodeFiles, AFabricThatCannotBeReadIsInTheReport) {
  NodeFiles node;
  node.start_agent();
  node.dir.write("fabric.yaml", "gpus: [{error: GPU is lost}]");
  node.rig.pass(std::chrono::seconds(5));
  EXPECT_THAT(node.rig.report().fabric_error, HasSubstr("GPU 0 cannot be asked: GPU is lost"));
  EXPECT_EQ(node.rig.report().clique, kClique) << "what is served goes on";
}

// Kubelet's record was deleted while the pod ran, as is advised where kubelet cannot read it.
TEST(NodeFiles, AClaimEndsThatNeitherTheApiServerNorTheRecordOfARealKubeletNames) {
  NodeFiles node;
  // As kubelet 1.32.9, 1.33.13, 1.36.3 and 1.37.2 write that they have no claim.
  node.dir.write(
      "dra_manager_state",
      R"({"Data":"{\"kind\":\"DRACheckpoint\",\"apiVersion\":\"checkpoint.dra.kubelet.k8s.io/v)"
      R"(1\",\"ClaimInfoStateList\":null}","Checksum":4010664294})");
  node.start_agent();
  const core::ClaimRef claim = node.rig.make_claim("a");
  node.rig.write_list({claim.uid});
  ASSERT_EQ(node.rig.prepare(claim).state, ClaimStep::State::Done);
  ASSERT_TRUE(node.rig.admin.remove<api::ResourceClaim>(
      {"team-a", "a"}, {.uid = claim.uid, .resource_version = ""}));
  node.rig.write_list({}, /*member=*/false);
  for (int minute = 0; minute < 30; ++minute) node.rig.pass(std::chrono::minutes(1));
  EXPECT_FALSE(node.rig.imex.daemon.running);
  EXPECT_THAT(node.checkpoint().claims, IsEmpty());
}

// A container that starts again gets the device that the file names.
TEST(NodeFiles, TheFileOfAPreparedClaimFollowsTheDriversDeviceNumbers) {
  NodeFiles node;
  node.start_agent();
  const core::ClaimRef claim = node.rig.make_claim("a");
  node.rig.write_list({claim.uid});
  ASSERT_EQ(node.rig.prepare(claim).state, ClaimStep::State::Done);
  const std::string path = "cdi/k8s.compute-domain.nvidia.com-claim_" + claim.uid + ".yaml";
  const std::string before = node.dir.read(path);
  ASSERT_THAT(before, HasSubstr(R"("major":235)"));

  node.rig.pass(std::chrono::minutes(5));
  node.dir.write("devices", "Character devices:\n195 nvidia\n");
  node.rig.pass(std::chrono::minutes(1));
  EXPECT_EQ(node.dir.read(path), before) << "there is no driver";
  node.dir.write("devices", "Character devices:\n240 nvidia-caps-imex-channels\n");
  node.rig.pass(std::chrono::minutes(1));
  EXPECT_THAT(node.dir.read(path), HasSubstr(R"("major":240)"));

  node.rig.pass(std::chrono::minutes(5));
  node.dir.write("devices", "Character devices:\n235 nvidia-caps-imex-channels\n");
  node.start_agent();
  EXPECT_EQ(node.dir.read(path), before) << "also when an agent starts";
}

// Kubelet does not ask again when a container of the pod starts again, and the runtime needs it.
TEST(NodeFiles, TheFileOfAPreparedClaimThatSomebodyRemovesComesBack) {
  NodeFiles node;
  node.start_agent();
  const core::ClaimRef claim = node.rig.make_claim("a");
  node.rig.write_list({claim.uid});
  ASSERT_EQ(node.rig.prepare(claim).state, ClaimStep::State::Done);
  const auto written = node.channels.written()->by_claim;
  ASSERT_TRUE(node.channels.remove(claim.uid));
  node.rig.pass(std::chrono::minutes(5));
  EXPECT_EQ(node.channels.written()->by_claim, written);

  std::filesystem::remove_all(node.dir.at("cdi"));
  node.start_agent();
  EXPECT_EQ(node.channels.written()->by_claim, written) << "nor at a start";
  EXPECT_EQ(node.rig.unprepare(claim).state, ClaimStep::State::Done);
  node.rig.pass(std::chrono::minutes(5));
  EXPECT_THAT(node.channels.written()->by_claim, IsEmpty());
}

}  // namespace
}  // namespace cdom::agent
