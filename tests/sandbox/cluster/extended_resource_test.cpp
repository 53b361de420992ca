// Devices that containers ask for by `limits` alone.
#include "sandbox/cluster/control_plane/extended_resources.h"

#include "compute_domain/base/text.h"
#include "sandbox/cluster/cluster_fixture.h"

namespace cdom::sandbox {
namespace {

using std::chrono::seconds;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

constexpr char kResource[] = "nvidia.com/compute-domain";

// Pods of one container per amount: c0, c1, …
std::string pod_yaml(const std::string& name, const std::vector<std::string>& limits,
                     const std::string& command = "sleep infinity") {
  std::string yaml =
      base::cat("apiVersion: v1\nkind: Pod\nmetadata: {name: ", name,
                ", namespace: default}\nspec:\n  restartPolicy: Never\n  containers:\n");
  for (std::size_t i = 0; i < limits.size(); ++i) {
    yaml += base::cat("  - {name: c", i, ", image: busybox, command: [sh, -c, \"", command,
                      "\"], resources: {limits: {", limits[i], "}}}\n");
  }
  return yaml;
}

class ExtendedResource : public ClusterTest {
 protected:
  ExtendedResource() {
    const json patch{{"spec", {{"extendedResourceName", kResource}}}};
    EXPECT_TRUE(objects_.merge_patch(kClasses, {"", "channel"}, patch));
  }
  void apply_one_line(const std::string& name, const std::string& command = "sleep infinity") {
    apply(pod_yaml(name, {base::cat(kResource, ": 1")}, command));
    settle();
  }
};

TEST_F(ExtendedResource, OneLineGivesAPodItsClaim) {
  apply_one_line("train");
  EXPECT_EQ(phase("train"), "Running");
  const json pod = get(kPods, {"default", "train"});
  const auto claims = list(kClaims, "default");
  ASSERT_THAT(claims, SizeIs(1));
  const json& claim = claims[0];
  EXPECT_THAT(key_of(claim).name, StartsWith("train-extended-resources-"));
  EXPECT_EQ(at(claim, "/metadata/annotations"), json({{kExtendedClaimAnnotation, "true"}}));
  EXPECT_EQ(at(claim, "/metadata/ownerReferences"), json::array({{{"apiVersion", "v1"},
                                                                  {"kind", "Pod"},
                                                                  {"name", "train"},
                                                                  {"uid", uid_of(pod)},
                                                                  {"controller", true}}}));
  EXPECT_EQ(at(claim, "/spec/devices"), json({{"requests",
                                               {{{"name", "container-0-request-0"},
                                                 {"exactly",
                                                  {{"deviceClassName", "channel"},
                                                   {"allocationMode", "ExactCount"},
                                                   {"count", 1}}}}}}}));
  EXPECT_EQ(text_at(claim, "/status/reservedFor/0/uid"), uid_of(pod));
  EXPECT_EQ(text_at(claim, "/status/allocation/devices/results/0/pool"), "r1n01");
  EXPECT_EQ(at(pod, "/status/extendedResourceClaimStatus"),
            json({{"resourceClaimName", key_of(claim).name},
                  {"requestMappings",
                   {{{"containerName", "c0"},
                     {"resourceName", kResource},
                     {"requestName", "container-0-request-0"}}}}}));
  EXPECT_THAT(script_.prepared, SizeIs(1));
}

TEST_F(ExtendedResource, TheClaimGoesWhenItsPodHasFinished) {
  apply_one_line("train", "sleep 30");
  wait(seconds(35));
  EXPECT_EQ(phase("train"), "Succeeded");
  EXPECT_THAT(script_.unprepared, SizeIs(1));
  EXPECT_THAT(list(kClaims, "default"), IsEmpty());
}

TEST_F(ExtendedResource, TheClaimGoesWithItsPod) {
  apply_one_line("train");
  remove(kPods, {"default", "train"});
  settle();
  EXPECT_THAT(script_.unprepared, SizeIs(1));
  EXPECT_THAT(list(kClaims, "default"), IsEmpty());
}

TEST_F(ExtendedResource, AClassHasANameOfItsOwnAlways) {
  apply(pod_yaml("train", {"deviceclass.resource.kubernetes.io/channel: 1"}));
  settle();
  EXPECT_EQ(phase("train"), "Running");
  EXPECT_THAT(list(kClaims, "default"), SizeIs(1));
}

TEST_F(ExtendedResource, OfTwoClassesWithOneNameTheNewerCounts) {
  wait(seconds(5));
  apply(R"(
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: newer}
spec:
  selectors: [{cel: {expression: "device.driver == 'compute-domain.nvidia.com'"}}]
  extendedResourceName: nvidia.com/compute-domain
)");
  settle();
  apply_one_line("train");
  const auto claims = list(kClaims, "default");
  ASSERT_THAT(claims, SizeIs(1));
  EXPECT_EQ(text_at(claims[0], "/spec/devices/requests/0/exactly/deviceClassName"), "newer");
}

TEST_F(ExtendedResource, APodThatAsksForMoreThanANodeHasWaits) {
  apply(pod_yaml("two", {base::cat(kResource, ": 2")}));
  apply(pod_yaml("both", {base::cat(kResource, ": 1"), base::cat(kResource, ": 1")}));
  settle();
  for (const char* pod : {"two", "both"}) {
    EXPECT_EQ(phase(pod), "Pending");
    EXPECT_THAT(message(pod, "FailedScheduling"), HasSubstr("4 cannot allocate all claims"));
  }
  EXPECT_THAT(list(kClaims, "default"), IsEmpty());
}

TEST_F(ExtendedResource, AResourceOfNoClassIsTheNodesOwnAffair) {
  apply(pod_yaml("train", {"example.com/port: 1"}));
  settle();
  EXPECT_THAT(message("train", "FailedScheduling"), HasSubstr("4 Insufficient example.com/port"));
}

TEST_F(ExtendedResource, APodThatWaitsIsScheduledOnceThereIsAClass) {
  apply(pod_yaml("train", {"example.com/port: 1"}));
  settle();
  const json patch{{"spec", {{"extendedResourceName", "example.com/port"}}}};
  ASSERT_TRUE(objects_.merge_patch(kClasses, {"", "channel"}, patch));
  wait(seconds(15));
  EXPECT_EQ(phase("train"), "Running");
}

TEST_F(ExtendedResource, WhatADevicePluginOffersTakesNoClaim) {
  for (const json& node : list(kNodes)) {
    const json offers{{kResource, "1"}};
    const json patch{{"status", {{"capacity", offers}, {"allocatable", offers}}}};
    ASSERT_TRUE(objects_.merge_patch(kNodes, key_of(node), patch, "status"));
  }
  settle();
  apply_one_line("train");
  EXPECT_EQ(phase("train"), "Running");
  EXPECT_THAT(list(kClaims, "default"), IsEmpty());
}

TEST_F(ExtendedResource, OnlyTheContainerThatAsksGetsTheDevice) {
  apply(pod_yaml("train", {base::cat(kResource, ": 1"), "cpu: 1"}));
  settle();
  EXPECT_THAT(log("train", "c0"), HasSubstr("channel0"));
  EXPECT_THAT(log("train", "c1"), Not(HasSubstr("channel0")));
}

TEST_F(ExtendedResource, AClaimThatAFailedAttemptLeftGoesFirst) {
  apply(pod_yaml("train", {base::cat(kResource, ": 2")}));
  settle();
  const json request{{"name", "container-0-request-0"},
                     {"exactly", {{"deviceClassName", "channel"}}}};
  json left = extended_claim(get(kPods, {"default", "train"}), std::vector<json>{request});
  left["metadata"]["finalizers"] = {"resource.kubernetes.io/delete-protection"};
  ASSERT_TRUE(objects_.create(kClaims, left));
  wait(seconds(15));
  EXPECT_THAT(list(kClaims, "default"), IsEmpty());
  EXPECT_THAT(reasons("train"), Contains("FailedScheduling"));
}

// --- Which requests a claim has, and whose they are: the cases of kube-scheduler's own test.

json container(const std::string& name, const json& requests, const std::string& restarts = "") {
  json made{{"name", name}, {"resources", {{"requests", requests}}}};
  if (!restarts.empty()) made["restartPolicy"] = restarts;
  return made;
}

// "container-0-request-0 class 1", "c0 example.com/a container-0-request-0".
std::vector<std::string> lines(const ExtendedRequests& extended) {
  std::vector<std::string> out;
  for (const json& request : extended.requests) {
    out.push_back(base::cat(text_at(request, "/name"), " ",
                            text_at(request, "/exactly/deviceClassName"), " ",
                            at(request, "/exactly/count").dump()));
  }
  for (const json& mapping : extended.mappings) {
    out.push_back(base::cat(text_at(mapping, "/containerName"), " ",
                            text_at(mapping, "/resourceName"), " ",
                            text_at(mapping, "/requestName")));
  }
  return out;
}

std::vector<std::string> lines_of(const std::vector<json>& init_containers,
                                  const std::vector<json>& containers) {
  const json pod{{"spec", {{"initContainers", init_containers}, {"containers", containers}}}};
  return lines(extended_requests(pod, {{"a.io/a", "class-a"}, {"a.io/b", "class-b"}}));
}

TEST(ExtendedRequests, AreNumberedAmongAllThatTheContainerAsksFor) {
  EXPECT_THAT(lines_of({}, {container("c0", {{"a.io/a", "1"}, {"a.io/b", "2"}})}),
              ElementsAre("container-0-request-0 class-a 1", "container-0-request-1 class-b 2",
                          "c0 a.io/a container-0-request-0", "c0 a.io/b container-0-request-1"));
  EXPECT_THAT(lines_of({}, {container("c0", {{"a.io/b", "1"}, {"a.io", "1"}})}),
              ElementsAre("container-0-request-1 class-b 1", "c0 a.io/b container-0-request-1"));
}

TEST(ExtendedRequests, AreOnePerContainerThatStays) {
  EXPECT_THAT(
      lines_of({}, {container("c0", {{"a.io/a", "1"}}), container("c1", {{"a.io/a", "2"}})}),
      ElementsAre("container-0-request-0 class-a 1", "container-1-request-0 class-a 2",
                  "c0 a.io/a container-0-request-0", "c1 a.io/a container-1-request-0"));
}

TEST(ExtendedRequests, OfInitContainersAreThoseOfTheLargest) {
  EXPECT_THAT(lines_of({container("i0", {{"a.io/b", "1"}}), container("i1", {{"a.io/b", "2"}})},
                       {container("c0", {{"a.io/a", "1"}})}),
              ElementsAre("container-1-request-0 class-b 2", "container-2-request-0 class-a 1",
                          "c0 a.io/a container-2-request-0", "i0 a.io/b container-1-request-0",
                          "i1 a.io/b container-1-request-0"));
}

TEST(ExtendedRequests, OfInitContainersAreFirstThoseOfContainersThatComeLater) {
  EXPECT_THAT(lines_of({container("i0", {{"a.io/a", "1"}})}, {container("c0", {{"a.io/a", "1"}})}),
              ElementsAre("container-1-request-0 class-a 1", "c0 a.io/a container-1-request-0",
                          "i0 a.io/a container-1-request-0"));
  // The side-car before the last init container is none of its own: it runs on.
  EXPECT_THAT(
      lines_of({container("i0", {{"a.io/b", "1"}}), container("side", {{"a.io/b", "1"}}, "Always"),
                container("i2", {{"a.io/b", "2"}})},
               {container("c0", {{"a.io/a", "1"}})}),
      ElementsAre("container-1-request-0 class-b 1", "container-2-request-0 class-b 2",
                  "container-3-request-0 class-a 1", "c0 a.io/a container-3-request-0",
                  "side a.io/b container-1-request-0", "i0 a.io/b container-1-request-0",
                  "i2 a.io/b container-2-request-0"));
}

TEST(ExtendedRequests, OfNothingAreNone) {
  EXPECT_THAT(lines_of({}, {container("c0", {{"a.io/a", "0"}, {"cpu", "1"}})}), IsEmpty());
}

}  // namespace
}  // namespace cdom::sandbox
