#include "compute_domain/plugin/matrix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugin/views.h"

namespace cdom::plugin {
namespace {

using namespace plugin::testing;  // NOLINT(google-build-using-namespace): the words of a view
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using enum Reach;

MatrixReport matrix_of(const ClusterView& view) {
  const auto report = matrix(view, {"team-a", "train"});
  return report ? *report : MatrixReport{};
}

TEST(Matrix, ShowsThatAllReachAll) {
  const MatrixReport report = matrix_of(settled_view());
  ASSERT_EQ(report.groups.size(), 1U);
  EXPECT_THAT(report.groups[0].nodes, ElementsAre("n1", "n2"));
  EXPECT_THAT(report.groups[0].cells,
              ElementsAre(ElementsAre(Self, Connected), ElementsAre(Connected, Self)));
}

TEST(Matrix, ShowsWhatEachNodeItselfReports) {
  core::World world = settled_world(3);
  api::ImexGroupReport& first = core::testing::group_report(world, "n1");
  first.connected = "0,2";
  first.unreachable = {"n2"};
  core::testing::group_report(world, "n2").connected = "1";
  core::testing::group_report(world, "n3").state = api::DaemonState::Recovering;
  const MatrixReport report = matrix_of(view_of(world));
  EXPECT_THAT(report.groups.at(0).cells, ElementsAre(ElementsAre(Self, Unreachable, Connected),
                                                     ElementsAre(NotReported, Self, NotReported),
                                                     ElementsAre(NotReady, NotReady, Self)));
  EXPECT_THAT(text_of(report), HasSubstr("n1     1   .   X   +"));
  EXPECT_THAT(json_of(report), HasSubstr("\"n2\": \"unreachable\""));
}

TEST(Matrix, BelievesNoReportFromBeforeAReboot) {
  ClusterView view = settled_view();
  view.nodes.front().boot_id = "boot-2";
  const MatrixReport report = matrix_of(view);
  EXPECT_THAT(report.groups.at(0).cells.at(0), ElementsAre(Self, NotReported));
  EXPECT_THAT(text_of(report), HasSubstr("? not reported, or the report is not believed"));
}

TEST(Matrix, DoesNotSayOfANodeWithoutAReportThatItsDaemonIsNotReady) {
  ClusterView view = settled_view();
  std::erase_if(view.reports, [](const auto& report) { return report.meta.name == "n1"; });
  const MatrixReport report = matrix_of(view);
  for (const ReachGroup& group : report.groups) {
    for (const auto& row : group.cells)
      EXPECT_THAT(row, ::testing::Not(::testing::Contains(NotReady)));
  }
}

TEST(Matrix, IsOfADomainThatThereIs) {
  const auto report = matrix(settled_view(), {"team-a", "other"});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, base::ErrorKind::NotFound);
}

TEST(Matrix, SaysThatNoNodeHasAPod) {
  ClusterView view = installed();
  view.domains = {domain("train").wants(2)};
  EXPECT_THAT(text_of(matrix_of(view)), HasSubstr("no node has a pod of it"));
}

}  // namespace
}  // namespace cdom::plugin
