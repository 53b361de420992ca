// Claims that pods on several nodes of a clique share, in the whole system: what they cost, how
// many may share one, and controllers that die at every step.
#include <gmock/gmock.h>

#include <algorithm>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/reconcile.h"
#include "system/rig.h"

namespace cdom::system_test {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;

constexpr char kMesh[] = R"(
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: mesh, namespace: default}
spec:
  devices:
    requests:
    - {name: channel, exactly: {deviceClassName: compute-domain-shared-channel.nvidia.com}}
)";

constexpr char kApart[] = R"(
      affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
        {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {mesh: one}}}]}})";

// Pods that share it, each on a node of its own; or where there is room.
std::string sharing_job(int pods, const char* where = kApart) {
  return base::cat(R"(
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: default}
spec:
  completionMode: Indexed
  completions: )",
                   pods, "\n  parallelism: ", pods, R"(
  template:
    metadata: {labels: {mesh: one}}
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 1)",
                   where, R"(
      containers:
      - name: worker
        image: busybox
        command: [sleep, infinity]
        resources: {claims: [{name: channel}]}
      resourceClaims: [{name: channel, resourceClaimName: mesh}]
)");
}

constexpr char kOneMore[] = R"(
apiVersion: v1
kind: Pod
metadata: {name: one-more, namespace: default}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - {name: worker, image: busybox, command: [sleep, infinity], resources: {claims: [{name: channel}]}}
  resourceClaims: [{name: channel, resourceClaimName: mesh}]
)";

// One that shares the claim, on a node that no scheduler has chosen.
std::string bound_pod(const std::string& node) {
  return base::cat(R"(
apiVersion: v1
kind: Pod
metadata: {name: bound-)",
                   node, R"(, namespace: default}
spec:
  nodeName: )",
                   node, R"(
  terminationGracePeriodSeconds: 1
  containers:
  - {name: worker, image: busybox, command: [sleep, infinity], resources: {claims: [{name: channel}]}}
  resourceClaims: [{name: channel, resourceClaimName: mesh}]
)");
}

constexpr char kSharingJob[] = "/apis/batch/v1/namespaces/default/jobs/train";
constexpr char kSharedClaim[] = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/mesh";

RigOptions sharing(std::uint64_t seed, int nodes, bool by_channel = false) {
  return {.seed = seed,
          .nodes_per_rack = nodes,
          .shares_claims = true,
          .node_settings = {.isolation =
                                by_channel ? api::Isolation::Channel : api::Isolation::Domain}};
}

std::vector<api::ResourceSlice> shared_slices(const Rig& rig) {
  auto slices = *rig.kubectl().list_all<api::ResourceSlice>();
  std::erase_if(slices, [](const api::ResourceSlice& slice) { return slice.clique.empty(); });
  return slices;
}

// The only domain is Ready, with so many nodes.
bool mesh_has_formed(const Rig& rig, const std::string& ready) {
  const auto all = rig.domains();
  return all.size() == 1 && all[0].status && all[0].status->ready &&
         all[0].status->ready_nodes == ready;
}

TEST(SharedClaim, HasASliceOfItsCliqueThatComesBackAndGoesWithItsClass) {
  Rig rig(sharing(3, 2));
  ASSERT_TRUE(rig.run_until([&] { return shared_slices(rig).size() == 1; }, 10s));
  const api::ResourceSlice slice = shared_slices(rig).front();
  EXPECT_EQ(slice.meta.name, core::shared_slice_name(slice.clique));
  rig.run_for(10s);
  EXPECT_EQ(rig.requests().count([](const WriteRequest& write) {
    return write.user.ends_with(":compute-domain-controller") && write.resource == "resourceslices";
  }),
            1)
      << "written once";
  rig.remove(base::cat("/apis/resource.k8s.io/v1/resourceslices/", slice.meta.name));
  EXPECT_TRUE(rig.run_until([&] { return shared_slices(rig).size() == 1; }, 10s));
  // As whoever uninstalls it: first the class, then the controller.
  rig.freeze_controller(true);
  rig.remove("/apis/resource.k8s.io/v1/deviceclasses/compute-domain-shared-channel.nvidia.com");
  EXPECT_TRUE(rig.run_until([&] { return shared_slices(rig).empty(); }, 60s));
}

// Otherwise a garbage collector would not find it.
TEST(SharedClaim, HasASliceWhoseClassIsNamedInTheVersionThatIsServed) {
  RigOptions options = sharing(7, 2);
  options.resource_version = "v1beta1";
  Rig rig(options);
  kube::Client kubectl(rig.administrator(), rig.clock(), "kubectl");
  ASSERT_TRUE(kubectl.discover());
  std::vector<api::OwnerReference> owners;
  ASSERT_TRUE(rig.run_until(
      [&] {
        const auto slices = kubectl.list_all<api::ResourceSlice>();
        for (const api::ResourceSlice& slice : *slices) {
          if (!slice.clique.empty()) owners = slice.meta.owners;
        }
        return !owners.empty();
      },
      10s));
  ASSERT_THAT(owners, SizeIs(1));
  EXPECT_EQ(owners[0].api_version, "resource.k8s.io/v1beta1");
  EXPECT_EQ(owners[0].kind, "DeviceClass");
}

TEST(SharedClaim, FollowsANodeToItsNextClique) {
  Rig rig(sharing(5, 2));
  ASSERT_TRUE(rig.run_until([&] { return shared_slices(rig).size() == 1; }, 10s));
  const std::string old = shared_slices(rig).front().clique;
  const std::string next = "6f0a5a5e-0000-4000-8000-000000000009.7";
  rig.move_to_clique("n01", next);
  ASSERT_TRUE(rig.run_until([&] { return shared_slices(rig).size() == 2; }, 30s));
  rig.move_to_clique("n02", next);
  ASSERT_TRUE(rig.run_until([&] { return shared_slices(rig).size() == 1; }, 30s));
  EXPECT_EQ(shared_slices(rig).front().clique, next);
}

TEST(SharedClaim, CostsOneReadForAllPodsThatComeTogether) {
  Rig rig(sharing(4, 18));
  rig.apply(kMesh);
  rig.run_for(10s);
  rig.requests().clear();
  rig.apply(sharing_job(18));
  ASSERT_TRUE(rig.run_until([&] { return mesh_has_formed(rig, "18/18"); }, 60s));
  rig.run_for(30s);
  EXPECT_LE(rig.requests().reads([](const WriteRequest& read) {
    return read.user.ends_with(":compute-domain-controller");
  }),
            3);
}

// Kubernetes reserves a claim for a pod that is bound, wherever that is.
TEST(SharedClaim, TakesNothingInACliqueThatItIsNotOf) {
  for (const bool by_channel : {false, true}) {
    SCOPED_TRACE(by_channel ? "by channel" : "by domain");
    RigOptions options = sharing(3, 2, by_channel);
    options.racks = 2;
    Rig rig(options);
    rig.apply(kMesh);
    ASSERT_TRUE(rig.run_until([&] { return shared_slices(rig).size() == 2; }, 10s));
    rig.apply(kOneMore);
    ASSERT_TRUE(rig.run_until([&] { return mesh_has_formed(rig, "1/1"); }, 60s));
    const auto nodes = *rig.kubectl().list_all<api::Node>();
    ASSERT_THAT(nodes, SizeIs(4));
    for (const api::Node& node : nodes) rig.apply(bound_pod(node.meta.name));
    rig.run_for(60s);
    EXPECT_TRUE(mesh_has_formed(rig, "2/2")) << "the other two are of another clique";
    rig.apply(domain_yaml("train", 2) + "  placement: {clique: Single}\n");
    for (const char* pod : {"train-0", "train-1"}) rig.apply(pod_yaml(pod, "train"));
    EXPECT_TRUE(rig.run_until([&] { return rig.is_ready("train"); }, 60s));
  }
}

// Kubernetes keeps 256 in status.reservedFor. The controller dies every second.
TEST(SharedClaim, HasRoomFor256PodsAndForTheNextOnceTheyHaveGone) {
  Rig rig(sharing(7, 4));
  rig.apply(kMesh);
  rig.apply(sharing_job(256, ""));
  // Who run within `span`, once there are so many; looked for once a second, as it is a long list.
  const auto running = [&](std::ptrdiff_t enough, base::Duration span) {
    std::ptrdiff_t count = 0;
    for (base::Duration waited{}; count != enough && waited < span; waited += 1s) {
      rig.run_for(1s);
      rig.crash_controller();
      const auto pods = rig.kubectl().list_all<api::Pod>({.ns = "default"});
      count = std::ranges::count(*pods, "Running", &api::Pod::phase);
    }
    return count;
  };
  ASSERT_EQ(running(256, 300s), 256);
  ASSERT_TRUE(rig.run_until([&] { return mesh_has_formed(rig, "4/4"); }, 60s));
  rig.apply(kOneMore);
  EXPECT_EQ(running(257, 30s), 256);
  EXPECT_TRUE(mesh_has_formed(rig, "4/4"));
  rig.remove(kSharingJob);
  EXPECT_EQ(running(1, 120s), 1);
  EXPECT_TRUE(rig.run_until([&] { return mesh_has_formed(rig, "1/1"); }, 60s));
}

// After each write that anybody makes the controller dies once, in a run of its own.
TEST(SharedClaim, SurvivesAControllerThatDiesAtAnyStep) {
  for (std::uint64_t writes = 1; writes <= 40; writes += 3) {
    SCOPED_TRACE(base::cat("after ", writes, " writes"));
    Rig rig(sharing(writes, 2, writes % 2 == 0));
    rig.apply(kMesh);
    rig.run_for(5s);
    std::uint64_t before = rig.writes();
    const auto dies_here = [&] { return rig.writes() >= before + writes; };
    rig.apply(sharing_job(2));
    if (rig.run_until(dies_here, 20s)) rig.crash_controller();
    ASSERT_TRUE(rig.run_until([&] { return mesh_has_formed(rig, "2/2"); }, 60s));
    rig.crash_controller();
    rig.run_for(10s);
    ASSERT_TRUE(mesh_has_formed(rig, "2/2"));
    before = rig.writes();
    rig.remove(kSharingJob);
    rig.remove(kSharedClaim);
    if (rig.run_until(dies_here, 20s)) rig.crash_controller();
    ASSERT_TRUE(rig.run_until([&] { return rig.domains().empty(); }, 60s));
    rig.run_for(30s);
    EXPECT_THAT(rig.domains(), IsEmpty());
    for (const api::ConfigMap& list : rig.node_lists()) {
      EXPECT_EQ(list.meta.label(api::kIsolationLabel), "channel") << list.meta.name;
    }
    EXPECT_EQ(rig.requests().count([](const WriteRequest& write) {
      return is_ours(write) && (write.status == 403 || write.status == 422);
    }),
              0);
  }
}

}  // namespace
}  // namespace cdom::system_test
