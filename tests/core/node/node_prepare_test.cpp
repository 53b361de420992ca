#include "compute_domain/core/status.h"
#include "core/node/node_scene.h"

namespace cdom::core {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(NodePrepare, WaitsForTheAddressThatItsDaemonBinds) {
  NodeScene scene;
  scene.world.self.address = "";
  scene.settle();
  EXPECT_EQ(scene.report().address, "");
  scene.show(train().admits("a")).prepare("a").settle();
  EXPECT_EQ(scene.starts, 0);
  EXPECT_THAT(scene.reason("a"), HasSubstr("has not reported its address yet"));

  scene.world.self.address = "10.0.0.1";
  scene.settle().daemon_ready().settle();
  EXPECT_TRUE(scene.is_prepared("a"));
  EXPECT_EQ(scene.report().address, "10.0.0.1");
}

// The reason is another tenant's, and would be told to who waits.
TEST(NodePrepare, WaitsForNoReasonOfTheDaemonBefore) {
  NodeScene scene;
  scene.settle();
  scene.world.daemon->group = "another";
  scene.world.daemon->phase = base::DaemonPhase::Failed;
  scene.world.daemon->message = "nvidia-imex of another: no file";
  scene.show(train().admits("a")).prepare("a");
  std::set<std::string> reasons;
  const auto apply = [&](const auto& intent) {
    reasons.insert(scene.reason("a"));
    scene.apply(intent);
    return true;
  };
  while (scene.starts == 0) {
    const NodePlan next = scene.plan();
    ASSERT_FALSE(NodeScene::is_empty(next));
    NodeScene::apply_each(next, apply);
  }
  EXPECT_THAT(reasons, Contains("the IMEX daemon is about to start"));
  EXPECT_THAT(reasons, Each(Not(HasSubstr("another"))));
}

TEST(NodePrepare, PreparesTheClaimThatAListAdmitsOnceItsDaemonIsReady) {
  NodeScene scene;
  scene.settle().show(train().admits("a")).prepare("a").settle();

  EXPECT_FALSE(scene.is_prepared("a"));
  EXPECT_THAT(scene.reason("a"), HasSubstr("the IMEX daemon is not READY yet"));
  EXPECT_TRUE(scene.injected.empty());

  scene.daemon_ready().settle();
  ASSERT_TRUE(scene.is_prepared("a"));
  const PreparedDevice device = scene.prepared["a-uid"].devices.at(0);
  EXPECT_EQ(device.ref, (DeviceRef{"channel", kSelf, "channel-0"}));
  EXPECT_THAT(device.cdi_ids, ElementsAre("k8s.compute-domain.nvidia.com/claim=a-uid-channel-0"));
  EXPECT_TRUE(scene.injected.contains("a-uid"));
}

TEST(NodePrepare, TellsTheCheckpointBeforeEverySideEffect) {
  NodeScene scene;
  scene.settle();
  scene.history.clear();
  scene.prepare("a").settle().show(train().admits("a")).settle().daemon_ready().settle();

  EXPECT_THAT(
      scene.history,
      ElementsAre("read ResourceClaim team-a/a", "write the checkpoint (1 claim)",
                  HasSubstr("write the hosts file"), HasSubstr("start the daemon of IMEX group"),
                  HasSubstr("inject 1 channel from 0"), "write the checkpoint (1 claim)",
                  "answer that claim a-uid is prepared", HasSubstr("update ComputeDomainNode")));
}

TEST(NodePrepare, GivesTheSameDevicesWhenAskedAgain) {
  NodeScene scene = serving();
  const AnswerPrepared first = scene.prepared["a-uid"];

  scene.injected.clear();  // as after a reboot of the runtime's directory
  scene.restart_agent().show_no_lists().prepare_only("a").settle();

  EXPECT_EQ(scene.prepared["a-uid"], first);
  EXPECT_TRUE(scene.injected.contains("a-uid"));
  EXPECT_EQ(scene.starts, 1);
}

TEST(NodePrepare, InjectsAllChannelsWhenTheConfigAsksForAll) {
  NodeScene scene;
  scene.show(train().admits("a"))
      .claim(claim_object("a", R"({"apiVersion":"resource.nvidia.com/v1beta1",
          "kind":"ComputeDomainChannelConfig","domainID":"train-uid","allocationMode":"All"})"))
      .prepare("a")
      .settle();

  EXPECT_EQ(scene.world.checkpoint.claims.at("a-uid").channels, (ChannelRange{0, 2048}));
}

// Without a domain's UID: what a list admits is of the domain of its workload.
api::ResourceClaim automatic_claim(const std::string& config) {
  api::ResourceClaim claim = claim_object("a", config);
  if (config.empty()) claim.allocation->configs.clear();
  return claim;
}
constexpr char kAllOfItsOwn[] = R"({"apiVersion":"resource.nvidia.com/v1beta1",
    "kind":"ComputeDomainConfig","allocationMode":"All"})";

TEST(NodePrepare, PreparesAClaimThatNamesNoDomainOnceAListAdmitsIt) {
  NodeScene scene;
  scene.settle().claim(automatic_claim("")).prepare("a").settle();
  EXPECT_FALSE(scene.is_prepared("a"));
  EXPECT_EQ(scene.error("a"), "");
  scene.show(train().admits("a")).settle().daemon_ready().settle();
  EXPECT_TRUE(scene.is_prepared("a"));
}

TEST(NodePrepare, InjectsAllChannelsForAWorkloadThatAsksForAll) {
  NodeScene scene;
  scene.show(train().admits("a")).claim(automatic_claim(kAllOfItsOwn)).prepare("a").settle();
  EXPECT_EQ(scene.world.checkpoint.claims.at("a-uid").channels, (ChannelRange{0, 2048}));
}

TEST(NodePrepare, RefusesAClaimThatNamesADomainAndAsksForOne) {
  NodeScene scene;
  api::ResourceClaim claim = automatic_claim(kAllOfItsOwn);
  claim.allocation->configs.push_back(claim_object("a").allocation->configs.front());
  scene.settle().claim(claim).prepare("a").settle();
  EXPECT_THAT(scene.error("a"), HasSubstr("leave one of them out"));
}

TEST(NodePrepare, RefusesAConfigThatDoesNotDecodeAtOnceAndForGood) {
  NodeScene scene;
  scene
      .claim(claim_object("a", R"({"apiVersion":"resource.nvidia.com/v1beta1",
          "kind":"ComputeDomainChannelConfig","domainID":"train-uid","x":1})"))
      .prepare("a")
      .settle();

  EXPECT_THAT(scene.error("a"), HasSubstr(R"(unknown field "x")"));
  EXPECT_TRUE(scene.failed["a-uid"].permanent);
  EXPECT_TRUE(scene.world.checkpoint.claims.empty());
}

TEST(NodePrepare, RefusesAClaimWithoutAllocationOrWithAnotherUid) {
  NodeScene scene;
  api::ResourceClaim unallocated = claim_object("a");
  unallocated.allocation.reset();
  api::ResourceClaim replaced = claim_object("b");
  replaced.meta.uid = "b2-uid";
  scene.claim(unallocated).claim(replaced).prepare("a").prepare("b").prepare_only("c").settle();

  EXPECT_EQ(scene.error("a"), "ResourceClaim team-a/a is not allocated");
  EXPECT_THAT(scene.error("b"), HasSubstr("has UID b2-uid, kubelet asks for b-uid"));
  EXPECT_EQ(scene.error("c"), "ResourceClaim team-a/c does not exist");
}

TEST(NodePrepare, ReadsTheClaimAgainForEveryQuestionOfKubelet) {
  NodeScene scene;
  api::ResourceClaim claim = claim_object("a");
  claim.allocation.reset();
  scene.claim(claim).prepare("a").settle();
  ASSERT_NE(scene.error("a"), "");

  scene.advance(seconds(1)).claim(claim_object("a")).show(train().admits("a")).prepare("a");
  scene.settle().daemon_ready().settle();
  EXPECT_TRUE(scene.is_prepared("a"));
}

TEST(NodePrepare, PreparesWithoutFabricAndInjectsNothing) {
  NodeScene scene;
  scene.world.fabric.clique = "";
  scene.settle().show(train().admits("a").without_fabric()).prepare("a").settle();

  ASSERT_TRUE(scene.is_prepared("a"));
  EXPECT_THAT(scene.prepared["a-uid"].devices.at(0).cdi_ids, IsEmpty());
  EXPECT_EQ(scene.starts, 0);
  const api::ImexGroupReport* group = api::find_group(scene.report(), "no-fabric");
  ASSERT_NE(group, nullptr);
  EXPECT_EQ(group->slot, -1);
  EXPECT_THAT(group->claims, ElementsAre("a-uid"));
}

TEST(NodePrepare, WaitsForAnOlderClaimOfAnotherGroupAndNamesIt) {
  NodeScene scene = serving();
  scene.show(ListBuilder("other-uid", 1).admits("b")).prepare("b").settle();

  EXPECT_FALSE(scene.is_prepared("b"));
  EXPECT_THAT(scene.reason("b"), HasSubstr("for ResourceClaim team-a/a"));
  EXPECT_EQ(scene.stops, 0);

  scene.unprepare("a").settle().daemon_ready().settle();
  EXPECT_TRUE(scene.is_prepared("b"));
  EXPECT_EQ(scene.starts, 2);
}

TEST(NodePrepare, NeverStopsADaemonWhoseClaimsAreNotKnown) {
  NodeScene scene = serving();
  scene.world.checkpoint = {};  // lost
  scene.world.report.objects.clear();
  scene.world.knows_held = false;  // nor can its files be read
  scene.show(ListBuilder("other-uid", 1).admits("b")).prepare("b").settle();

  EXPECT_THAT(scene.reason("b"), HasSubstr("whose claims are not known here"));
  EXPECT_EQ(scene.stops, 0);
}

TEST(NodePrepare, TakesOverTheDaemonOfALostCheckpointFromTheReport) {
  NodeScene scene = serving();
  scene.world.checkpoint = {};
  scene.restart_agent().settle();
  scene.unprepare("a").settle();

  EXPECT_EQ(scene.stops, 1);
  EXPECT_EQ(scene.group()->state, api::DaemonState::Stopped);
}

TEST(NodePrepare, GivesAdminAccessTheChannelOfTheGroupThatRunsHere) {
  NodeScene scene = serving();
  api::ResourceClaim admin = claim_object("admin");
  admin.allocation->devices[0].admin_access = true;
  scene.claim(admin).prepare("admin").settle();

  EXPECT_TRUE(scene.is_prepared("admin"));
  EXPECT_THAT(scene.group()->claims, ElementsAre("a-uid"));

  scene.unprepare("a").settle();
  EXPECT_EQ(scene.stops, 1) << "admin access keeps nothing running";
}

TEST(NodePrepare, RefusesAdminAccessWhereNothingRuns) {
  NodeScene scene;
  api::ResourceClaim admin = claim_object("admin");
  admin.allocation->devices[0].admin_access = true;
  scene.claim(admin).show(train()).prepare("admin").settle();

  EXPECT_THAT(scene.error("admin"), HasSubstr("no IMEX group runs here"));
  EXPECT_EQ(scene.starts, 0);
}

TEST(NodePrepare, AcceptsNoAdmissionOfAnEarlierBoot) {
  NodeScene scene;
  api::NodeList list = train().admits("a");
  list.entries[0].boot_id = "boot-0";
  scene.show(list).prepare("a").settle();

  EXPECT_THAT(scene.reason("a"), HasSubstr("no node list admits"));
}

TEST(NodePrepare, GivesUpBeforeKubeletDoesAndSaysWhatItWaitedFor) {
  NodeScene scene;
  scene.settle().show(train().admits("a")).prepare("a").settle();
  scene.daemon_is(base::DaemonPhase::Starting).advance(seconds(40)).settle();

  EXPECT_EQ(scene.error("a"),
            "ResourceClaim team-a/a is not ready after 40s: the IMEX daemon is not READY yet");
  EXPECT_EQ(scene.stops, 0);
}

TEST(NodePrepare, DoesNotTakeReadyForAnotherTable) {
  NodeScene scene;
  scene.settle().show(train().admits("a")).prepare("a").settle();
  scene.world.daemon->table_hash = "of-another-table";
  scene.daemon_ready().settle();

  EXPECT_FALSE(scene.is_prepared("a"));
  EXPECT_THAT(scene.reason("a"), HasSubstr("another node table"));
}

// Without an admission: five seconds of patience, then one question, only to word the error.
struct Unadmitted {
  const char* name;
  std::function<void(NodeScene&)> set_up;
  const char* error;
};

class NodeWithoutAdmission : public testing::TestWithParam<Unadmitted> {};

TEST_P(NodeWithoutAdmission, SaysWhy) {
  NodeScene scene;
  scene.settle();
  GetParam().set_up(scene);
  scene.prepare("a").settle();
  EXPECT_EQ(scene.error("a"), "");
  EXPECT_EQ(scene.plan().look_again, seconds(5));

  scene.advance(seconds(5)).settle();
  EXPECT_THAT(scene.error("a"), HasSubstr(GetParam().error));
  EXPECT_FALSE(scene.failed["a-uid"].permanent);
}

INSTANTIATE_TEST_SUITE_P(
    All, NodeWithoutAdmission,
    testing::Values(
        Unadmitted{"Unknown", [](NodeScene&) {}, "there is no ComputeDomain with UID train-uid"},
        Unadmitted{
            "OtherNamespace",
            [](NodeScene& scene) {
              scene.show(train());
              scene.world.lists[0].stored.meta.labels = {{api::kDomainLabel, "train-uid"},
                                                         {api::kDomainNamespaceLabel, "team-b"}};
            },
            "belongs to another namespace; a claim can only use one of its own namespace, team-a"},
        Unadmitted{"Deleting",
                   [](NodeScene& scene) {
                     scene.domains = {domain_train()};
                     scene.domains[0].meta.deletion_time = scene.world.now;
                   },
                   "ComputeDomain team-a/train is being deleted"},
        Unadmitted{"ServedByPredecessor",
                   [](NodeScene& scene) {
                     scene.domains = {domain_train()};
                     scene.domains[0].status = {
                         .conditions = {{.type = kConditionReady,
                                         .reason = std::string(kServedByPredecessor.name()),
                                         .message = "until c1 is gone"}}};
                   },
                   "team-a/train is not ours yet: until c1 is "
                   "gone"},
        Unadmitted{"Full",
                   [](NodeScene& scene) {
                     scene.domains = {domain_train()};
                     api::NodeList list = train(18);
                     list.entries[0].node = "n99";
                     scene.show(list);
                   },
                   "all 18 are taken"}),
    [](const auto& test) { return test.param.name; });

TEST(NodePrepare, WaitsForAControllerThatIsSilentAsLongAsKubeletDoes) {
  NodeScene scene;
  scene.settle();
  scene.domains = {domain_train()};
  scene.prepare("a").settle().advance(seconds(39)).settle();
  EXPECT_EQ(scene.error("a"), "");
  EXPECT_EQ(scene.plan().look_again, seconds(1));

  scene.advance(seconds(1)).settle();
  EXPECT_EQ(scene.error("a"),
            "ResourceClaim team-a/a is not ready after 40s: no node list has a place for this node "
            "yet: see the condition Ready of ComputeDomain team-a/train, and whether "
            "compute-domain-controller runs");
}

TEST(NodePrepare, AdmitsWhatANewLeaderAdmits) {
  NodeScene scene;
  scene.settle();
  scene.domains = {domain_train()};
  scene.prepare("a").settle().advance(seconds(16)).settle();
  scene.show(train().admits("a")).settle().daemon_ready().settle();
  EXPECT_TRUE(scene.is_prepared("a"));
}

TEST(NodePrepare, WritesTheFileOfAPreparedClaimAgain) {
  NodeScene scene = serving();
  scene.world.wrong_files = {"a-uid"};
  EXPECT_EQ(scene.plan().on_node, std::vector<NodeIntent>{(WriteCdi{claim_ref("a"), {0, 1}})});
  scene.world.setbacks["a-uid"] = {"read-only", scene.world.elapsed + seconds(2)};
  EXPECT_TRUE(NodeScene::is_empty(scene.plan()));
  scene.advance(seconds(2)).settle();
  EXPECT_THAT(scene.world.wrong_files, testing::IsEmpty());
}

TEST(NodePrepare, WritesNoFileAgainOfAClaimThatEndsOrOfAnEarlierBoot) {
  NodeScene scene = serving();
  scene.daemon_ends_slowly().unprepare("a").settle();
  ASSERT_TRUE(scene.world.checkpoint.claims.contains("a-uid")) << "it waits for the daemon's end";
  scene.world.wrong_files = {"a-uid"};
  scene.settle();
  EXPECT_THAT(scene.injected, testing::IsEmpty());

  scene = serving();
  scene.world.wrong_files = {"a-uid"};
  scene.world.self.boot_id = "boot-2";
  scene.injected.clear();
  scene.settle();
  EXPECT_THAT(scene.injected, testing::IsEmpty());
}

}  // namespace
}  // namespace cdom::core
