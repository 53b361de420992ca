// One object of a page that cannot be decoded: it alone is missing, and has a name.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "api/samples.h"
#include "compute_domain/api/codec.h"
#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"

namespace cdom::api {
namespace {

using base::cat;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string page_of(std::string_view kind, std::string_view api_version,
                    const std::vector<std::string>& items) {
  return cat(R"({"kind":")", kind, R"(List","apiVersion":")", api_version,
             R"(","metadata":{"resourceVersion":"7"},"items":[)", base::join(items, ","), "]}");
}

template <class T>
class OddObject : public testing::Test {};
using Kinds = testing::Types<ComputeDomain, ComputeDomainClique, ComputeDomainNode, ResourceClaim,
                             ResourceClaimTemplate, ResourceSlice, DeviceClass, Node, Pod,
                             ConfigMap, Event, Job, Lease>;
TYPED_TEST_SUITE(OddObject, Kinds);

TYPED_TEST(OddObject, HarmsNoOtherOfItsPage) {
  const Kind& kind = kind_of<TypeParam>();
  const auto version = kind.versions.front();
  const std::string good = encode(sample<TypeParam>(), version);
  const std::string deep = std::string(20'000, '[') + std::string(20'000, ']');
  const std::vector<std::string> odd = {
      "7",
      "null",
      "[]",
      R"("x")",
      R"({"metadata":7})",
      R"({"kind":"Other","metadata":{"name":"n"}})",
      R"({"apiVersion":"other/v9"})",
      R"({"metadata":{"labels":{"a":1e999}}})",
      cat(R"({"metadata":{"labels":{"a":)", deep, "}}}"),
      R"({"metadata":{"name":"n","creationTimestamp":"yesterday"}})"};
  for (const std::string& each : odd) {
    const auto page = decode_page<TypeParam>(
        page_of(kind.kind, api_version_of(kind, version), {good, each, good}));
    ASSERT_TRUE(page) << each << ": " << page.error().message;
    EXPECT_THAT(page->unreadable, SizeIs(1)) << each;
    ASSERT_THAT(page->items, SizeIs(2)) << each;
    EXPECT_EQ(page->items[0], page->items[1]);
    const auto event =
        decode_watch_event<TypeParam>(cat(R"({"type":"MODIFIED","object":)", each, "}"));
    ASSERT_TRUE(event) << each << ": " << event.error().message;
    EXPECT_EQ(event->type, WatchType::Modified);
    EXPECT_TRUE(event->unreadable) << each;
  }
}

TEST(OddObject, HasItsNameAndWhatIsWrongWithIt) {
  const std::string text =
      R"({"kind":"ComputeDomain","metadata":{"name":"train","namespace":"team-a","uid":"u",)"
      R"("resourceVersion":"9","labels":{"a":"b"}},"spec":{"numNodes":"2"}})";
  const Unreadable expected{
      {"team-a", "train"},
      "u",
      "9",
      "ComputeDomain team-a/train: spec.numNodes: must be an integer, is string"};
  const auto page =
      decode_page<ComputeDomain>(page_of("ComputeDomain", "resource.nvidia.com/v1beta1", {text}));
  ASSERT_TRUE(page);
  EXPECT_THAT(page->unreadable, testing::ElementsAre(expected));
  EXPECT_EQ(page->resource_version, "7");
  const auto event =
      decode_watch_event<ComputeDomain>(cat(R"({"type":"DELETED","object":)", text, "}"));
  ASSERT_TRUE(event);
  EXPECT_EQ(event->type, WatchType::Deleted);
  EXPECT_EQ(event->unreadable, expected);
  EXPECT_EQ(name_of(event->object.meta), expected.name);
  EXPECT_EQ(event->object.meta.resource_version, "9");
}

// A person with the right to edit one namespace can write these, and an API server takes them.
TEST(OpaqueParameters, OfAnyDriverNeverMakeAClaimUnreadable) {
  const std::string deep = std::string(9'000, '[') + std::string(9'000, ']');
  for (const std::string& odd :
       {R"({"a":)" + deep + "}", std::string(R"({"a":"\ud800"})"), std::string("{\"a\":\"\xff\"}"),
        std::string(R"({"a":1e999})"), std::string(R"({"a":1,"a":2})"), std::string("7")}) {
    for (const char* driver : {"gpu.example.com", kDriver}) {
      const std::string config = cat(R"([{"opaque":{"driver":")", driver, R"(","parameters":)", odd,
                                     R"(},"source":"FromClaim"}])");
      const auto claim =
          decode<ResourceClaim>(cat(R"({"metadata":{"name":"c"},"spec":{"devices":{"config":)",
                                    config, R"(}},"status":{"allocation":{"devices":{"config":)",
                                    config, R"(}},"devices":[{"data":)", odd, "}]}}"));
      ASSERT_TRUE(claim) << claim.error().message;
      EXPECT_EQ(claim->spec.configs.at(0).parameters, odd);
      EXPECT_EQ(claim->allocation->configs.at(0).parameters, odd);
      EXPECT_EQ(config_words_in(odd).domain_uid, std::nullopt);
      (void)decode_channel_config(odd);
    }
  }
}

TEST(OpaqueParameters, AreNeverLongerThanTheirText) {
  const std::string value(1'000, 'x');
  std::string parameters = R"({"domainID":"u")";
  for (int i = 0; i < 300; ++i) parameters += cat(R"(,"a":")", value, '"');
  parameters += '}';
  const auto claim =
      decode<ResourceClaim>(cat(R"({"spec":{"devices":{"config":[{"opaque":{"driver":")", kDriver,
                                R"(","parameters":)", parameters, "}}]}}}"));
  ASSERT_TRUE(claim) << claim.error().message;
  EXPECT_EQ(claim->spec.configs.at(0).parameters.size(), parameters.size());
}

TEST(ForeignTime, WithAnOffsetIsReadable) {
  const auto domain = decode<ComputeDomain>(
      R"({"status":{"status":"Ready","conditions":[{"type":"Theirs","status":"True",)"
      R"("lastTransitionTime":"2026-01-02T03:04:05.5+00:00"}]}})");
  ASSERT_TRUE(domain) << domain.error().message;
  const auto report =
      decode<ComputeDomainNode>(R"({"status":{"groups":[{"group":"g","slot":0,"state":"Ready",)"
                                R"("since":"2026-01-02T03:04:05+01:00"}]}})");
  ASSERT_TRUE(report) << report.error().message;
}

TEST(ForeignCondition, IsWrittenBackAsItWas) {
  const std::string theirs =
      R"({"type":"Theirs","status":"Perhaps","lastTransitionTime":"2026-01-02T03:04:05.123456+01:00",)"
      R"("severity":"low","message":7})";
  auto domain =
      decode<ComputeDomain>(cat(R"({"status":{"status":"Ready","conditions":[)", theirs, "]}}"));
  ASSERT_TRUE(domain) << domain.error().message;
  std::vector<Condition>& conditions = domain->status->conditions;
  ASSERT_THAT(conditions, SizeIs(1));
  EXPECT_EQ(conditions[0].type, "Theirs");
  const auto patch = nlohmann::json::parse(status_patch({}, *domain->status));
  EXPECT_EQ(patch["status"]["conditions"][0], nlohmann::json::parse(theirs));

  conditions[0] = {.type = "Ours", .status = ConditionStatus::True, .reason = "R", .message = "m"};
  const auto ours = nlohmann::json::parse(status_patch({}, *domain->status));
  EXPECT_EQ(ours["status"]["conditions"][0]["type"], "Ours");
  EXPECT_EQ(ours["status"]["conditions"][0].size(), 5U);
}

TEST(Page, OfAVersionThatIsNotReadIsRefusedAsAWhole) {
  const auto page = decode_page<ConfigMap>(page_of("ConfigMap", "v9", {"{}"}));
  ASSERT_FALSE(page);
  EXPECT_THAT(page.error().message, HasSubstr("apiVersion: must be v1 for a ConfigMap"));
}

TEST(Claim, IsReadOfEachVersionWithNothingThatIsNotNeeded) {
  for (const auto version : kind_of<ResourceClaim>().versions) {
    const auto claim = decode<ResourceClaim>(encode(sample<ResourceClaim>(), version));
    ASSERT_TRUE(claim) << claim.error().message;
    EXPECT_EQ(claim->spec, sample<ResourceClaim>().spec) << version;
    const auto slice = decode<ResourceSlice>(encode(sample<ResourceSlice>(), version));
    ASSERT_TRUE(slice) << slice.error().message;
    EXPECT_EQ(slice->devices, sample<ResourceSlice>().devices) << version;
  }
}

TEST(UnreadableObject, IsToldInWholeCharactersHoweverLongItsTextIs) {
  for (const char* before : {"", "a"}) {
    std::string time = before, key = before;
    for (int i = 0; i < 1'000; ++i) time += "é";
    for (int i = 0; i < 1'000; ++i) key += "é";
    const auto page = decode_page<ResourceClaim>(
        page_of("ResourceClaim", "resource.k8s.io/v1",
                {cat(R"({"metadata":{"name":"a","creationTimestamp":")", time, R"("}})"),
                 cat(R"({"metadata":{"name":"b","labels":{")", key, R"(":1}}})")}));
    ASSERT_TRUE(page) << page.error().message;
    ASSERT_THAT(page->unreadable, SizeIs(2));
    for (const Unreadable& object : page->unreadable) {
      EXPECT_LT(object.problem.size(), 700U);
      EXPECT_NO_THROW((void)nlohmann::json(object.problem).dump()) << object.problem;
    }
  }
}

}  // namespace
}  // namespace cdom::api
