// What a report may hold: the CRD says it, and the codec holds what an older CRD let pass to it.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "api/repository.h"
#include "compute_domain/api/codec.h"
#include "compute_domain/api/compute_domain_node.h"

namespace cdom::api {
namespace {

using Json = nlohmann::json;
using ::testing::IsEmpty;
using ::testing::SizeIs;

ComputeDomainNode read_back(const ComputeDomainNode& report) {
  return decode<ComputeDomainNode>(encode(report, "v1beta1")).value();
}

ComputeDomainNode report_with(ImexGroupReport group) {
  ComputeDomainNode report;
  report.meta.name = "n1";
  report.status.boot_id = "boot-1";
  group.group = "g";
  report.status.groups = {std::move(group)};
  return report;
}

TEST(ReportBounds, NumbersBeyondReasonAreCutToThem) {
  ImexGroupReport group;
  group.slot = 70'000;
  group.term = group.releases = INT64_MAX;
  const auto read = read_back(report_with(group)).status.groups.at(0);
  EXPECT_EQ(read.slot, -1);
  EXPECT_EQ(read.term, ReportBounds::kCount);
  EXPECT_EQ(read.releases, ReportBounds::kCount);
}

TEST(ReportBounds, ListsAndTextsAreCut) {
  ImexGroupReport group;
  group.claims.assign(5'000, "c");
  group.unreachable.assign(5'000, "n");
  group.message = std::string(100'000, 'm');
  group.channels = std::string(100'000, '1');
  group.instance = std::string(1'000, 'i');
  const auto read = read_back(report_with(group)).status.groups.at(0);
  EXPECT_THAT(read.claims, SizeIs(ReportBounds::kOfAGroup));
  EXPECT_THAT(read.unreachable, SizeIs(ReportBounds::kOfAGroup));
  EXPECT_LE(read.message.size(), ReportBounds::kMessage);
  EXPECT_EQ(read.channels, "");
  EXPECT_EQ(read.instance, "");
}

TEST(ReportBounds, AreNotMultipliedByTheNumberOfGroups) {
  ComputeDomainNode report = report_with({});
  ImexGroupReport group = report.status.groups.at(0);
  group.claims.assign(ReportBounds::kOfAGroup, std::string(63, 'c'));
  group.unreachable.assign(ReportBounds::kOfAGroup, std::string(253, 'n'));
  group.claim_channels.assign(ReportBounds::kOfAGroup, {std::string(63, 'c'), 7});
  group.connected = group.channels = std::string(ReportBounds::kRanges, '1');
  report.status.groups.assign(200, group);
  EXPECT_LT(encode(read_back(report), "v1beta1").size(), 300'000U);
}

TEST(ReportBounds, OfTooManyGroupsThoseThatHaveNotStoppedAreKept) {
  ComputeDomainNode report = report_with({});
  report.status.groups.clear();
  for (int i = 0; i < 5'000; ++i) {
    report.status.groups.push_back(
        {.group = std::to_string(10'000 + i),
         .state = i == 4'000 ? DaemonState::Ready : DaemonState::Stopped});
  }
  const auto read = read_back(report).status;
  EXPECT_THAT(read.groups, SizeIs(ReportBounds::kGroups));
  EXPECT_NE(find_group(read, "14000"), nullptr);
}

TEST(ReportBounds, ACliqueThatIsNoLabelValueIsNotKnown) {
  ComputeDomainNode report = report_with({});
  report.status.clique = "a b";
  EXPECT_EQ(clique_of(read_back(report).status), std::nullopt);
}

TEST(ReportBounds, AreThoseOfTheCrd) {
  const auto crd = objects_in("crds/computedomainnodes.yaml").at(0);
  const Json& status =
      crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"]["properties"];
  const Json& groups = status["groups"];
  const Json& group = groups["items"]["properties"];
  EXPECT_EQ(groups["maxItems"], ReportBounds::kGroups);
  for (const char* list : {"claims", "lostClaims", "unreachable", "domains", "claimChannels"}) {
    EXPECT_EQ(group[list]["maxItems"], ReportBounds::kOfAGroup) << list;
  }
  EXPECT_EQ(group["message"]["maxLength"], ReportBounds::kMessage);
  EXPECT_EQ(group["domains"]["items"]["maxLength"], ReportBounds::kDomain);
  for (const char* text : {"domains", "unreachable", "message"}) {
    EXPECT_EQ(status["summary"]["properties"][text]["maxLength"], ReportBounds::kMessage) << text;
  }
  EXPECT_EQ(group["channels"]["maxLength"], ReportBounds::kRanges);
  EXPECT_EQ(group["slot"]["maximum"], ReportBounds::kSlot);
  EXPECT_EQ(group["term"]["maximum"], ReportBounds::kCount);
  EXPECT_EQ(group["releases"]["maximum"], ReportBounds::kCount);
  EXPECT_EQ(group["restarts"]["maximum"], ReportBounds::kCount);
  for (const char* failure : {"lastFailure", "lastLoss"}) {
    EXPECT_EQ(group[failure]["properties"]["message"]["maxLength"], ReportBounds::kMessage)
        << failure;
  }
  EXPECT_EQ(status["address"]["maxLength"], ReportBounds::kAddress);
  EXPECT_EQ(status["clique"]["maxLength"], ReportBounds::kId);
  EXPECT_EQ(status["bootID"]["maxLength"], ReportBounds::kId);
}

}  // namespace
}  // namespace cdom::api
