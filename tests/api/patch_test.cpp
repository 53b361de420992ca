#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/samples.h"
#include "compute_domain/api/codec.h"

namespace cdom::api {
namespace {

using nlohmann::json;

const Precondition kIfIs{"u-1", "77"};

// The object that the server has after a merge patch (RFC 7386).
json merged(std::string_view object, std::string_view patch) {
  json result = json::parse(object);
  result.merge_patch(json::parse(patch));
  return result;
}

TEST(Patch, CarriesItsPrecondition) {
  const json patch = json::parse(finalizers_patch(kIfIs, {"a/b"}));
  EXPECT_EQ(patch, json::parse(R"({"metadata":{"uid":"u-1","resourceVersion":"77",
                                               "finalizers":["a/b"]}})"));
}

TEST(Patch, LeavesOutAPreconditionThatIsNotGiven) {
  const json patch = json::parse(finalizers_patch({"u-1", ""}, {}));
  EXPECT_EQ(patch, json::parse(R"({"metadata":{"uid":"u-1","finalizers":[]}})"));
}

TEST(MetadataPatch, NamesWhatChangesAndNothingElse) {
  const json patch = json::parse(metadata_patch(kIfIs, {{"a", "1"}, {"b", std::nullopt}}, {}));
  EXPECT_EQ(patch, json::parse(R"({"metadata":{"uid":"u-1","resourceVersion":"77",
                                               "labels":{"a":"1","b":null}}})"));
  EXPECT_EQ(json::parse(metadata_patch({}, {}, {{"c", "2"}})),
            json::parse(R"({"metadata":{"annotations":{"c":"2"}}})"));
}

TEST(StatusPatch, GivesTheWholeStatus) {
  ComputeDomain domain = sample<ComputeDomain>();
  const std::string before = encode(domain, "v1beta1");
  domain.status = ComputeDomainStatus{};  // every field back to its default
  const auto after =
      decode<ComputeDomain>(merged(before, status_patch(kIfIs, *domain.status)).dump());
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_EQ(*after, domain);
}

TEST(StatusPatch, GivesTheWholeReport) {
  ComputeDomainNode node = sample<ComputeDomainNode>();
  const std::string before = encode(node, "v1beta1");
  node.status = {};
  node.status.boot_id = "boot-2";
  const auto after =
      decode<ComputeDomainNode>(merged(before, status_patch(kIfIs, node.status)).dump());
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_EQ(*after, node);
}

// A merge patch merges an object in an object too: what is left out of it would stay.
TEST(StatusPatch, TakesBackWhatTheSummaryOfAReportSaid) {
  ComputeDomainNode node = sample<ComputeDomainNode>();
  node.status.summary = {.state = DaemonState::Failed,
                         .since = base::Time{},
                         .domains = "team-a/train",
                         .unreachable = "n2",
                         .message = "the IMEX daemon has ended"};
  const std::string before = encode(node, "v1beta1");
  node.status.summary = {.state = DaemonState::Ready, .domains = "team-a/train"};
  const auto after =
      decode<ComputeDomainNode>(merged(before, status_patch(kIfIs, node.status)).dump());
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_EQ(*after, node);
}

TEST(StalenessPatch, ChangesNothingElse) {
  ComputeDomainNode node = sample<ComputeDomainNode>();
  for (const std::optional<Staleness>& stale :
       {std::optional<Staleness>(), std::optional(Staleness{.reason = "NodeRebooted"})}) {
    const std::string before = encode(node, "v1beta1");
    node.stale = stale;
    const auto after =
        decode<ComputeDomainNode>(merged(before, staleness_patch(kIfIs, stale)).dump());
    ASSERT_TRUE(after) << after.error().message;
    EXPECT_EQ(*after, node);
  }
}

TEST(StatusPatch, LeavesForeignFieldsAlone) {
  const json after = merged(R"({"status":{"status":"Ready","foreign":1}})",
                            status_patch(kIfIs, ComputeDomainStatus{}));
  EXPECT_EQ(after["status"]["foreign"], 1);
  EXPECT_EQ(after["status"]["status"], "NotReady");
}

TEST(ConfigMapPatch, SetsOurLabelsAndTheDataAsAWhole) {
  ConfigMap current;
  current.data = {{"nodes", "old"}, {"stray", "x"}};
  ConfigMap desired;
  desired.meta.labels = {{"ours", "1"}};
  desired.data = {{"nodes", "new"}};
  const json after = merged(
      R"({"metadata":{"labels":{"foreign":"2","ours":"0"}},"data":{"nodes":"old","stray":"x"}})",
      config_map_patch({}, current, desired));
  EXPECT_EQ(after, json::parse(R"({"metadata":{"labels":{"foreign":"2","ours":"1"}},
                                   "data":{"nodes":"new"}})"));
}

TEST(EventCountPatch, SetsCountTimeAndMessage) {
  const auto time = base::parse_rfc3339("2026-01-02T03:04:05Z").value();
  EXPECT_EQ(json::parse(event_count_patch(3, time, "again")),
            json::parse(R"({"count":3,"lastTimestamp":"2026-01-02T03:04:05Z","message":"again"})"));
}

TEST(SlicePatch, HasTheSpecInTheShapeOfTheVersion) {
  ResourceSlice slice;
  slice.devices = {{"channel-0", {{"id", std::int64_t{0}}}}};
  const json patch = json::parse(slice_patch(kIfIs, slice, "v1beta1"));
  EXPECT_EQ(patch["metadata"]["resourceVersion"], "77");
  EXPECT_TRUE(patch["spec"]["devices"][0].contains("basic"));
  EXPECT_EQ(patch.size(), 2U);
}

TEST(CliquePatch, HasOurLabelsAndAllDaemons) {
  ComputeDomainClique clique;
  clique.meta.labels = {{"ours", "1"}};
  EXPECT_EQ(json::parse(clique_patch(kIfIs, clique))["daemons"], json::array());
  clique.daemons = {{"n1", "10.0.0.1", "a.1", 0, true}};
  const json patch = json::parse(clique_patch(kIfIs, clique));
  EXPECT_EQ(patch["metadata"]["resourceVersion"], "77");
  EXPECT_EQ(patch["metadata"]["labels"], json::parse(R"({"ours": "1"})"));
  EXPECT_EQ(patch["daemons"], json::parse(R"([{"nodeName": "n1", "ipAddress": "10.0.0.1",
      "cliqueID": "a.1", "index": 0, "status": "Ready"}])"));
  EXPECT_EQ(patch.size(), 2U);
  EXPECT_FALSE(patch["metadata"].contains("ownerReferences")) << "stay as they are";
  clique.meta.owners = {{.api_version = "v1", .kind = "ConfigMap", .name = "o", .uid = "u"}};
  const json owned = json::parse(clique_patch(kIfIs, clique));
  EXPECT_EQ(owned["metadata"]["ownerReferences"][0]["uid"], "u");
}

TEST(LeaseUpdate, IsTheWholeLeaseWithMicroseconds) {
  const json body = json::parse(encode_lease_update(sample<Lease>()));
  EXPECT_EQ(body["metadata"]["resourceVersion"], "77");
  EXPECT_EQ(body["spec"]["renewTime"], "2026-01-02T03:04:05.000006Z");
}

TEST(DeleteOptions, HavePreconditionsAndBackgroundPropagation) {
  EXPECT_EQ(json::parse(delete_options(kIfIs)),
            json::parse(R"({"apiVersion":"v1","kind":"DeleteOptions",
                            "propagationPolicy":"Background",
                            "preconditions":{"uid":"u-1","resourceVersion":"77"}})"));
}

}  // namespace
}  // namespace cdom::api
