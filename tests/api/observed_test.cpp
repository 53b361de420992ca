// What the views of pods, Events and CustomResourceDefinitions keep of the documents of an API
// server.
#include "compute_domain/api/observed.h"

#include <gmock/gmock.h>

#include "compute_domain/api/codec.h"
#include "source_tree/source_tree.h"

namespace cdom::api {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

constexpr char kPod[] = R"({"apiVersion":"v1","kind":"Pod",
  "metadata":{"name":"p","namespace":"team-a","uid":"u"},
  "spec":{"nodeName":"n1","nodeSelector":{"kubernetes.io/hostname":"n1"},
    "schedulingGates":[{"name":"kueue.x-k8s.io/admission"}],
    "resourceClaims":[{"name":"a","resourceClaimTemplateName":"t"},{"name":"b","resourceClaimName":"c"}],
    "containers":[{"name":"w","image":"i","command":["hunter2"],"env":[{"name":"P","value":"hunter2"}],
                   "resources":{"claims":[{"name":"a"}]}}],
    "initContainers":[{"name":"s","resources":{"claims":[{"name":"b","request":"r"}]}}],
    "volumes":[{"name":"v","secret":{"secretName":"hunter2"}}]},
  "status":{"phase":"Pending",
    "conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"0/2",
                   "lastTransitionTime":null}],
    "resourceClaimStatuses":[{"name":"a","resourceClaimName":"p-a-x7k2p"}],
    "extendedResourceClaimStatus":{"resourceClaimName":"p-ext"},
    "containerStatuses":[{"name":"w","state":{"waiting":{"reason":"ImagePullBackOff","message":"m"}}}]}})";

TEST(PodState, HasHowFarThePodHasCome) {
  const auto pod = decode<PodState>(kPod);
  ASSERT_TRUE(pod) << pod.error().message;
  EXPECT_THAT(pod->claims, ElementsAre(PodClaimRef{"a", "t", ""}, PodClaimRef{"b", "", "c"}));
  EXPECT_THAT(pod->made, ElementsAre(PodClaimMade{"a", "p-a-x7k2p"}));
  EXPECT_EQ(pod->extended_claim, "p-ext");
  EXPECT_THAT(pod->gates, ElementsAre(SchedulingGate{"kueue.x-k8s.io/admission"}));
  EXPECT_EQ(pod->condition("PodScheduled")->reason, "Unschedulable");
  EXPECT_EQ(pod->condition("Ready"), nullptr);
  EXPECT_EQ(pod->containers.front().waiting_reason, "ImagePullBackOff");
}

TEST(PodState, SaysWhichClaimsItsContainersUse) {
  const auto pod = decode<PodState>(kPod);
  ASSERT_TRUE(pod) << pod.error().message;
  EXPECT_EQ(pod->uses("a"), true);
  EXPECT_EQ(pod->uses("b"), true) << "an init container does";
  EXPECT_EQ(pod->uses("c"), false);
  EXPECT_EQ(PodState{}.uses("a"), std::nullopt);
}

TEST(PodState, IsWrittenWithoutWhatAContainerRuns) {
  const std::string text = encode(*decode<PodState>(kPod), "v1");
  EXPECT_THAT(text, Not(HasSubstr("hunter2")));
  EXPECT_EQ(*decode<PodState>(text), *decode<PodState>(kPod));
}

TEST(DaemonSetRollout, HasTheImagesOfItsPods) {
  const auto set = decode<DaemonSetRollout>(R"({"kind":"DaemonSet","apiVersion":"apps/v1",
    "metadata":{"name":"d"},"spec":{"updateStrategy":{"type":"OnDelete"},"template":{"spec":{
      "containers":[{"name":"c","image":"r/i:1","env":[{"name":"P","value":"hunter2"}]}]}}}})");
  ASSERT_TRUE(set) << set.error().message;
  EXPECT_EQ(set->strategy, "OnDelete");
  EXPECT_EQ(set->containers.front().image, "r/i:1");
  EXPECT_THAT(encode(*set, "v1"), Not(HasSubstr("hunter2")));
}

TEST(Occurrence, HasTheTimesOfBothKindsOfWriters) {
  const auto old = decode<Occurrence>(R"({"kind":"Event","apiVersion":"v1","metadata":{"name":"e"},
    "firstTimestamp":"2026-01-02T03:04:05Z","lastTimestamp":"2026-01-02T03:04:09Z","count":3})");
  const auto recent =
      decode<Occurrence>(R"({"kind":"Event","apiVersion":"v1","metadata":{"name":"e"},
    "firstTimestamp":null,"lastTimestamp":null,"eventTime":"2026-01-02T03:04:05.000000Z",
    "series":{"count":3,"lastObservedTime":"2026-01-02T03:04:09.000000Z"}})");
  ASSERT_TRUE(old && recent);
  EXPECT_EQ(old->begin(), recent->begin());
  EXPECT_EQ(old->end(), recent->end());
  EXPECT_EQ(*old->end() - *old->begin(), std::chrono::seconds(4));
}

TEST(Definition, HasThePathsOfItsSchema) {
  const auto objects = objects_in_yaml(source_text("crds/computedomains.yaml"), "crd");
  const auto definition = decode<Definition>(objects->front());
  ASSERT_TRUE(definition) << definition.error().message;
  const DefinitionVersion& version = definition->versions.front();
  EXPECT_EQ(version.name, "v1beta1");
  EXPECT_TRUE(version.served);
  EXPECT_THAT(version.fields,
              IsSupersetOf({"spec", "spec.numNodes", "spec.channel.resourceClaimTemplate.name",
                            "status.nodes", "status.nodes[].name"}));
  EXPECT_THAT(version.fields, Not(Contains("properties")));
  const auto back = decode<Definition>(encode(*definition, "v1"));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, *definition);
}

// KEP "Pruning of custom resources": x-kubernetes-preserve-unknown-fields.
TEST(Definition, SaysWhereItsSchemaKeepsWhatItDoesNotKnow) {
  const auto definition = decode<Definition>(R"({"kind":"CustomResourceDefinition",
    "apiVersion":"apiextensions.k8s.io/v1","metadata":{"name":"d"},"spec":{"versions":[
      {"name":"v1","served":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{
        "status":{"type":"object","x-kubernetes-preserve-unknown-fields":true,
          "properties":{"list":{"type":"array",
            "items":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}},
        "spec":{"type":"object","x-kubernetes-preserve-unknown-fields":false}}}}},
      {"name":"v2","served":true,"schema":{"openAPIV3Schema":{"type":"object",
        "x-kubernetes-preserve-unknown-fields":true}}}]}})");
  ASSERT_TRUE(definition) << definition.error().message;
  EXPECT_THAT(definition->versions[0].fields,
              ElementsAre("spec", "status", "status.*", "status.list", "status.list[].*"));
  EXPECT_THAT(definition->versions[1].fields, ElementsAre("*"));
  const auto back = decode<Definition>(encode(*definition, "v1"));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, *definition);
}

TEST(EncodeList, IsAListAsAServerGivesIt) {
  const std::vector<PodState> pods{*decode<PodState>(kPod), PodState{}};
  const auto page = decode_page<PodState>(encode_list(pods));
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->items, pods);
  EXPECT_TRUE(decode_page<PodState>(encode_list(std::vector<PodState>{}))->items.empty());
}

}  // namespace
}  // namespace cdom::api
