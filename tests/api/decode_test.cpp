#include <gmock/gmock.h>

#include "compute_domain/api/codec.h"
#include "compute_domain/base/text.h"

namespace cdom::api {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

base::Time at(std::string_view text) { return base::parse_rfc3339(text).value(); }

template <class T>
std::string error_in(std::string_view json) {
  const auto result = decode<T>(json);
  return result ? "no error" : result.error().message;
}

TEST(Decode, ReadsAComputeDomainOfTheReferenceDriver) {
  const auto domain = decode<ComputeDomain>(R"({
    "apiVersion":"resource.nvidia.com/v1beta1","kind":"ComputeDomain",
    "metadata":{"name":"train","namespace":"team-a","uid":"u1","resourceVersion":"7",
      "creationTimestamp":"2026-01-02T03:04:05Z","finalizers":["resource.nvidia.com/computeDomain"],
      "managedFields":[{"manager":"kubectl","fieldsV1":{"f:spec":{}}}]},
    "spec":{"numNodes":2,"channel":{"resourceClaimTemplate":{"name":"train-channel"},
      "allocationMode":"All"}},
    "status":{"status":"Ready","nodes":[
      {"name":"n1","ipAddress":"10.0.3.4","cliqueID":"6f0a.32766","index":0,"status":"Ready"},
      {"name":"cpu1","ipAddress":"10.0.9.9","cliqueID":"","index":-1,"status":"NotReady"}]}})");

  ASSERT_TRUE(domain) << domain.error().message;
  EXPECT_EQ(domain->meta.name, "train");
  EXPECT_EQ(domain->meta.creation_time, at("2026-01-02T03:04:05Z"));
  EXPECT_TRUE(domain->meta.has_finalizer("resource.nvidia.com/computeDomain"));
  EXPECT_EQ(domain->spec, (ComputeDomainSpec{2, {{"train-channel", AllocationMode::All}}}));
  EXPECT_TRUE(domain->status->ready);
  EXPECT_THAT(domain->status->nodes,
              ElementsAre(ComputeDomainNodeStatus{"n1", "10.0.3.4", "6f0a.32766", 0, 0, true},
                          ComputeDomainNodeStatus{"cpu1", "10.0.9.9", "", -1, 0, false}));
}

TEST(Decode, GivesDefaultsForWhatIsAbsentOrNull) {
  const auto domain = decode<ComputeDomain>(
      R"({"metadata":{"name":"a","creationTimestamp":null},"spec":{"channel":null}})");
  ASSERT_TRUE(domain) << domain.error().message;
  EXPECT_EQ(domain->spec, ComputeDomainSpec{});
  EXPECT_FALSE(domain->status.has_value());
  EXPECT_FALSE(domain->meta.creation_time.has_value());
}

TEST(Decode, IgnoresUnknownFields) {
  const auto domain =
      decode<ComputeDomain>(R"({"metadata":{"name":"a"},"spec":{"numNodes":3,"more":[{}]},"x":1})");
  ASSERT_TRUE(domain);
  EXPECT_EQ(domain->spec.num_nodes, 3);
}

TEST(Decode, NamesTheObjectAndThePathOfAWrongField) {
  EXPECT_EQ(error_in<ComputeDomain>(
                R"({"metadata":{"name":"a","namespace":"n"},"spec":{"numNodes":"3"}})"),
            "ComputeDomain n/a: spec.numNodes: must be an integer, is string");
  EXPECT_EQ(error_in<ComputeDomain>(R"({"status":{"status":"Ready","nodes":[{},{"index":1.5}]}})"),
            "ComputeDomain: status.nodes[1].index: must be an integer, is 1.5");
  EXPECT_EQ(error_in<ComputeDomain>(R"({"spec":{"channel":{"resourceClaimTemplate":"a"}}})"),
            "ComputeDomain: spec.channel.resourceClaimTemplate: must be an object, is string");
  EXPECT_EQ(error_in<Node>(R"({"status":{"conditions":[{"type":"Ready","status":true}]}})"),
            "Node: status.conditions[0].status: must be a string, is boolean");
  EXPECT_EQ(error_in<ConfigMap>(R"({"data":{"a":[]}})"),
            "ConfigMap: data.a: must be a string, is list");
  EXPECT_THAT(error_in<Pod>(R"({"metadata":{"deletionTimestamp":"yesterday"}})"),
              HasSubstr("metadata.deletionTimestamp: must be a time as"));
}

TEST(Decode, TakesWordsOfALaterReleaseForThoseThatItHas) {
  const auto domain = decode<ComputeDomain>(
      R"({"spec":{"channel":{"allocationMode":"Some"},"placement":{"clique":"Few","policy":"Worst"}},"status":{"nodes":[{"name":"n1","status":"Resting"}]}})");
  ASSERT_TRUE(domain);
  EXPECT_EQ(domain->spec.channel->allocation_mode, AllocationMode::Single);
  EXPECT_EQ(domain->spec.placement->clique, CliquePlacement::Single) << "keeps its seats";
  EXPECT_EQ(domain->spec.placement->policy, PlacementPolicy::BestFit);
  EXPECT_FALSE(domain->status->nodes.at(0).ready);
}

TEST(Decode, KeepsEveryDigitOfAnInteger) {
  const auto json = [](std::string_view number) {
    return base::cat(R"({"metadata":{"generation":)", number, "}}");
  };
  EXPECT_EQ(decode<Node>(json("9223372036854775807"))->meta.generation, 9223372036854775807);
  EXPECT_EQ(decode<Node>(json("9007199254740993"))->meta.generation, 9007199254740993);
  EXPECT_EQ(error_in<Node>(json("9223372036854775808")),
            "Node: metadata.generation: must fit into 64 bits, is 9223372036854775808");
}

TEST(Decode, RefusesAnotherKindOrVersion) {
  EXPECT_EQ(error_in<Pod>(R"({"apiVersion":"v1","kind":"Node"})"),
            "Pod: kind: must be Pod, is \"Node\"");
  EXPECT_EQ(error_in<ResourceClaim>(R"({"apiVersion":"resource.k8s.io/v1alpha3",
                                        "kind":"ResourceClaim","metadata":{"name":"c"}})"),
            "ResourceClaim c: apiVersion: must be resource.k8s.io/v1 for a ResourceClaim, is "
            "\"resource.k8s.io/v1alpha3\"");
}

TEST(Decode, SaysWhereTextStopsToBeJson) {
  EXPECT_THAT(error_in<Pod>("{\n  \"kind\": Pod}"), HasSubstr("line 2, column 11"));
  EXPECT_THAT(error_in<Pod>(std::string(100'000, '[')), HasSubstr("levels deep"));
  EXPECT_THAT(error_in<Pod>(""), HasSubstr("not JSON"));
}

TEST(Decode, TakesReadinessOfANodeAndAPodFromTheirConditions) {
  const auto node = decode<Node>(R"({"metadata":{"name":"n1"},
    "spec":{"taints":[{"key":"node.kubernetes.io/out-of-service","effect":"NoExecute"}]},
    "status":{"nodeInfo":{"bootID":"b1"},"conditions":[{"type":"DiskPressure","status":"False"},
      {"type":"Ready","status":"True"}],
      "addresses":[{"type":"Hostname","address":"n1"},{"type":"InternalIP","address":"10.0.0.1"}]}})");
  ASSERT_TRUE(node) << node.error().message;
  EXPECT_EQ(node->ready, ConditionStatus::True);
  EXPECT_EQ(node->boot_id, "b1");
  EXPECT_EQ(node->internal_ip, "10.0.0.1");
  EXPECT_THAT(node->taints,
              ElementsAre(Taint{"node.kubernetes.io/out-of-service", "", "NoExecute"}));

  const auto pod = decode<Pod>(R"({"spec":{"nodeName":"n1"},"status":{"phase":"Running",
    "podIP":"10.1.0.2","conditions":[
      {"type":"Ready","status":"False","lastTransitionTime":"2026-01-02T03:04:05Z"}]}})");
  ASSERT_TRUE(pod) << pod.error().message;
  EXPECT_FALSE(pod->ready);
  EXPECT_EQ(pod->ready_changed, at("2026-01-02T03:04:05Z"));
  EXPECT_EQ(pod->node, "n1");
}

TEST(Decode, TakesAnOddConditionOfANodeForUnknown) {
  const auto node =
      decode<Node>(R"({"status":{"conditions":[{"type":"Ready","status":"Perhaps"}]}})");
  ASSERT_TRUE(node) << node.error().message;
  EXPECT_EQ(node->ready, ConditionStatus::Unknown);
}

TEST(Decode, KeepsOfANodesLabelsThoseThatAreReadAndRefusesAnyThatIsNoText) {
  const auto node = decode<Node>(
      R"({"metadata":{"name":"n","labels":{"kubernetes.io/os":"linux","nvidia.com/gpu.clique":"u.1"},"annotations":{"a":"b"}}})");
  ASSERT_TRUE(node);
  EXPECT_THAT(node->meta.labels, ElementsAre(Pair("nvidia.com/gpu.clique", "u.1")));
  EXPECT_THAT(node->meta.annotations, ElementsAre(Pair("a", "b")));
  EXPECT_EQ(error_in<Node>(R"({"metadata":{"name":"n","labels":{"kubernetes.io/os":7}}})"),
            "Node n: metadata.labels.kubernetes.io/os: must be a string, is number");
}

TEST(DecodePage, GivesItemsTheVersionOfTheirList) {
  const auto page = decode_page<ResourceClaim>(R"({
    "kind":"ResourceClaimList","apiVersion":"resource.k8s.io/v1beta1",
    "metadata":{"resourceVersion":"10245","continue":"eyJ"},
    "items":[{"metadata":{"name":"a"},"spec":{"devices":{"requests":[
      {"name":"channel","deviceClassName":"c"}]}}}]})");
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->resource_version, "10245");
  EXPECT_EQ(page->continue_token, "eyJ");
  ASSERT_EQ(page->items.size(), 1U);
  EXPECT_EQ(page->items[0].spec.requests[0].device_class, "c");
  EXPECT_EQ(api_version_of(page->items[0]), "resource.k8s.io/v1beta1");
}

TEST(DecodePage, TakesAnEmptyOrNullList) {
  EXPECT_THAT(decode_page<Pod>(R"({"kind":"PodList","items":[]})")->items, IsEmpty());
  EXPECT_THAT(decode_page<Pod>(R"({"kind":"PodList","items":null})")->items, IsEmpty());
}

TEST(DecodePage, NamesTheItemThatIsWrong) {
  const auto page = decode_page<Pod>(
      R"({"kind":"PodList","items":[{"metadata":{"name":"p","namespace":"n"},"spec":7}]})");
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_THAT(page->items, IsEmpty());
  ASSERT_EQ(page->unreadable.size(), 1U);
  EXPECT_EQ(page->unreadable[0].problem, "Pod n/p: spec: must be an object, is number");
}

TEST(DecodePage, RefusesWhatIsNoList) {
  EXPECT_EQ(decode_page<Pod>(R"({"kind":"Status"})").error().message,
            "kind: must be PodList, is \"Status\"");
}

TEST(DecodeWatchEvent, ReadsTheObjectOfAChange) {
  const auto event = decode_watch_event<ConfigMap>(
      R"({"type":"DELETED","object":{"metadata":{"name":"a","resourceVersion":"9"},"data":{"k":"v"}}})");
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_EQ(event->type, WatchType::Deleted);
  EXPECT_EQ(event->object.meta.resource_version, "9");
  EXPECT_THAT(event->object.data, ElementsAre(Pair("k", "v")));
}

TEST(DecodeWatchEvent, ReadsThePositionOfABookmark) {
  const auto event = decode_watch_event<ComputeDomain>(
      R"({"type":"BOOKMARK","object":{"kind":"ComputeDomain",
          "apiVersion":"resource.nvidia.com/v1beta1",
          "metadata":{"resourceVersion":"150","creationTimestamp":null}}})");
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_EQ(event->type, WatchType::Bookmark);
  EXPECT_EQ(event->object.meta.resource_version, "150");
}

TEST(DecodeWatchEvent, ReadsTheStatusOfAnError) {
  const auto event = decode_watch_event<Pod>(
      R"json({"type":"ERROR","object":{"kind":"Status","status":"Failure","reason":"Expired",
          "message":"too old resource version: 5 (90)","code":410}})json");
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_EQ(event->type, WatchType::Error);
  EXPECT_EQ(error_of(event->status),
            (base::Error{base::ErrorKind::Expired, "too old resource version: 5 (90)"}));
}

TEST(DecodeWatchEvent, LetsTypesOfTheFuturePass) {
  EXPECT_EQ(decode_watch_event<Pod>(R"({"type":"SNAPSHOT","object":7})")->type, WatchType::Unknown);
}

TEST(DecodeGroupVersions, PutsThePreferredVersionFirst) {
  const auto versions = decode_group_versions(R"({"kind":"APIGroup","name":"resource.k8s.io",
    "versions":[{"groupVersion":"resource.k8s.io/v1","version":"v1"},
                {"groupVersion":"resource.k8s.io/v1beta2","version":"v1beta2"}],
    "preferredVersion":{"groupVersion":"resource.k8s.io/v1beta2","version":"v1beta2"}})");
  ASSERT_TRUE(versions) << versions.error().message;
  EXPECT_THAT(*versions, ElementsAre("v1beta2", "v1"));
}

TEST(DecodeGroupVersions, RefusesAnotherAnswer) {
  EXPECT_FALSE(decode_group_versions(R"({"kind":"Status"})"));
  EXPECT_FALSE(decode_group_versions(R"([1])"));
}

TEST(TypeMetaIn, FindsKindAndVersionOrNothing) {
  EXPECT_EQ(type_meta_in(R"({"apiVersion":"v1","kind":"Pod"})")->kind, "Pod");
  EXPECT_FALSE(type_meta_in(R"({"apiVersion":"v1"})"));
}

}  // namespace
}  // namespace cdom::api
