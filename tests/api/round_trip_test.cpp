#include <gmock/gmock.h>

#include "api/samples.h"
#include "compute_domain/api/codec.h"
#include "compute_domain/base/text.h"

namespace cdom::api {
namespace {

using testing::HasSubstr;
using testing::Not;

template <class T>
class RoundTrip : public testing::Test {};
using Kinds = testing::Types<ComputeDomain, ComputeDomainClique, ComputeDomainNode, ResourceClaim,
                             ResourceClaimTemplate, ResourceSlice, DeviceClass, Node, Pod,
                             ConfigMap, Event, Job, Lease>;
TYPED_TEST_SUITE(RoundTrip, Kinds);

TYPED_TEST(RoundTrip, KeepsEveryFieldInEveryVersion) {
  for (const std::string_view version : kind_of<TypeParam>().versions) {
    auto object = sample<TypeParam>();
    if constexpr (requires { object.version; }) object.version = version;
    const std::string text = encode(object, version);
    const auto back = decode<TypeParam>(text);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(*back, object) << text;
  }
}

TYPED_TEST(RoundTrip, KeepsAnObjectWithoutAnything) {
  const std::string text = encode(TypeParam{}, kind_of<TypeParam>().versions.front());
  const auto back = decode<TypeParam>(text);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, TypeParam{}) << text;
}

TYPED_TEST(RoundTrip, KeepsObjectsInAList) {
  const Kind& kind = kind_of<TypeParam>();
  const std::string version(kind.versions.back());
  auto object = sample<TypeParam>();
  if constexpr (requires { object.version; }) object.version = version;
  const auto page = decode_page<TypeParam>(
      base::cat(R"({"kind":")", kind.kind, R"(List","apiVersion":")", api_version_of(kind, version),
                R"(","items":[)", encode(object, version), "]}"));
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->items, std::vector{object});
}

TEST(Encode, HasTheShapesOfItsVersion) {
  ResourceClaim claim;
  claim.spec.requests = {{"channel", "c", {}, false}};
  EXPECT_THAT(encode(claim, "v1"),
              HasSubstr(R"({"exactly":{"deviceClassName":"c"},"name":"channel"})"));
  EXPECT_THAT(encode(claim, "v1beta1"), HasSubstr(R"({"deviceClassName":"c","name":"channel"})"));

  ResourceSlice slice;
  slice.devices = {{"channel-0", {{"id", std::int64_t{0}}}}};
  EXPECT_THAT(encode(slice, "v1beta2"),
              HasSubstr(R"({"attributes":{"id":{"int":0}},"name":"channel-0"})"));
  EXPECT_THAT(encode(slice, "v1beta1"),
              HasSubstr(R"({"basic":{"attributes":{"id":{"int":0}}},"name":"channel-0"})"));
}

TEST(Encode, SaysKindAndVersion) {
  EXPECT_THAT(encode(ResourceClaim{}, "v1beta2"),
              HasSubstr(R"("apiVersion":"resource.k8s.io/v1beta2","kind":"ResourceClaim")"));
  EXPECT_THAT(encode(ConfigMap{}, "v1"), HasSubstr(R"("apiVersion":"v1","kind":"ConfigMap")"));
}

TEST(Encode, WritesASourceInAnAllocationOnly) {
  ResourceClaim claim;
  claim.spec.configs = {{{}, "d", "{}", false}};
  EXPECT_THAT(encode(claim, "v1"), Not(HasSubstr(R"("source")")));
  claim.allocation.emplace().configs = claim.spec.configs;
  EXPECT_THAT(encode(claim, "v1"), HasSubstr(R"("source":"FromClaim")"));
}

TEST(Encode, ReplacesWhatIsNoUtf8) {
  ConfigMap map;
  map.data["k"] =
      "a\xff"
      "b";
  EXPECT_EQ(decode<ConfigMap>(encode(map, "v1"))->data.at("k"), "a\uFFFDb");
}

TEST(Allocation, IsOfANodeOnlyWhenItsSelectorNamesJustOne) {
  const auto node_of = [](std::string_view terms) {
    const auto claim = decode<ResourceClaim>(base::cat(
        R"({"status":{"allocation":{"nodeSelector":{"nodeSelectorTerms":)", terms, "}}}}"));
    return claim ? claim->allocation->node : claim.error().message;
  };
  EXPECT_EQ(
      node_of(R"([{"matchFields":[{"key":"metadata.name","operator":"In","values":["n"]}]}])"),
      "n");
  EXPECT_EQ(
      node_of(R"([{"matchFields":[{"key":"metadata.name","operator":"In","values":["n","m"]}]}])"),
      "");
  EXPECT_EQ(
      node_of(R"([{"matchFields":[{"key":"metadata.name","operator":"NotIn","values":["n"]}]}])"),
      "");
  EXPECT_EQ(node_of(R"([{"matchExpressions":[{"key":"clique","operator":"In","values":["n"]}]}])"),
            "");
  EXPECT_EQ(node_of("[]"), "");
}

TEST(Requests, MayOfferAlternativesThatAreNotRead) {
  const auto claim = decode<ResourceClaim>(R"({"apiVersion":"resource.k8s.io/v1beta1",
    "kind":"ResourceClaim","spec":{"devices":{"requests":[
      {"name":"nic","firstAvailable":[{"name":"fast","deviceClassName":"c"}]}]}}})");
  ASSERT_TRUE(claim) << claim.error().message;
  EXPECT_EQ(claim->spec.requests, (std::vector<DeviceRequest>{{"nic", "", {}, false}}));
}

TEST(NodeSelectors, NameOneNodeOrOneCliqueOrSomethingElse) {
  const auto slice = [](const std::string& selector) {
    const auto decoded = decode<ResourceSlice>(R"({"spec":{"nodeSelector":)" + selector + "}}");
    return decoded ? decoded->clique : decoded.error().message;
  };
  EXPECT_EQ(slice(R"({"nodeSelectorTerms":[{"matchExpressions":[
      {"key":"nvidia.com/gpu.clique","operator":"In","values":["u.1"]}]}]})"),
            "u.1");
  EXPECT_EQ(slice(R"({"nodeSelectorTerms":[{"matchExpressions":[
      {"key":"zone","operator":"In","values":["u.1"]}]}]})"),
            "");
  EXPECT_EQ(slice(R"({"nodeSelectorTerms":[{"matchExpressions":[
      {"key":"nvidia.com/gpu.clique","operator":"In","values":["u.1"]}],
      "matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}]}]})"),
            "");

  const auto claim = decode<ResourceClaim>(R"({"status":{"allocation":{"nodeSelector":
      {"nodeSelectorTerms":[{"matchExpressions":[
          {"key":"nvidia.com/gpu.clique","operator":"In","values":["u.1"]}]}]}}}})");
  ASSERT_TRUE(claim) << claim.error().message;
  EXPECT_EQ(claim->allocation->node, "");

  ResourceSlice shared;
  shared.clique = "u.1";
  EXPECT_EQ(decode<ResourceSlice>(encode(shared, "v1"))->clique, "u.1");
  EXPECT_THAT(encode(ResourceSlice{}, "v1"), Not(HasSubstr("nodeSelector")));
}

TEST(Attributes, ReadVersionsAsTextAndLetOtherTypesPass) {
  const auto slice = decode<ResourceSlice>(R"({"spec":{"devices":[{"name":"d","attributes":{
    "fw":{"version":"1.4.0"},"many":{"ints":[1,2]}}}]}})");
  ASSERT_TRUE(slice) << slice.error().message;
  EXPECT_EQ(std::get<std::string>(slice->devices[0].attributes.at("fw")), "1.4.0");
}

}  // namespace
}  // namespace cdom::api
