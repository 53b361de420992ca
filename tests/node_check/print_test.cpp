#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "compute_domain/node_check/findings.h"

namespace cdom::node_check {
namespace {

TEST(NodeCheckTable, AlignsItsColumnsAndEndsWithAWordAboutTheNode) {
  const std::vector<Finding> findings{
      {"driver", "580.65.06", Verdict::Ok, ""},
      {"no other nvidia-imex", "runs: nvidia-imex -c /etc/nvidia-imex/config.cfg (pid 812)",
       Verdict::Fails, "systemctl disable --now nvidia-imex.service"},
      {"page size", "4 KiB …", Verdict::Warning, "64 KiB"}};
  EXPECT_EQ("\n" + table_of("n01", findings), R"(
REQUIREMENT            FOUND                                   VERDICT   REMEDY
driver                 580.65.06                               OK
no other nvidia-imex   runs: nvidia-imex -c                    FAILS     systemctl disable --now nvidia-imex.service
                       /etc/nvidia-imex/config.cfg (pid 812)
page size              4 KiB …                                 WARNING   64 KiB
n01: 1 FAILS: no other nvidia-imex; 1 WARNING: page size
)");
}

TEST(NodeCheckTable, SaysWhenAllIsWell) {
  EXPECT_THAT(table_of("", {{"driver", "580.65.06", Verdict::Ok, ""}}),
              testing::EndsWith("\nthis node: all requirements are met\n"));
}

TEST(NodeCheckJson, HasEachFindingInOrder) {
  const auto report =
      nlohmann::json::parse(json_of("n01", {{"driver", "none \xff", Verdict::Fails, "install it"},
                                            {"GPUs", "", Verdict::Unknown, ""}}));
  EXPECT_EQ(report["format"], 1);
  EXPECT_EQ(report["node"], "n01");
  ASSERT_EQ(report["findings"].size(), 2U);
  EXPECT_EQ(report["findings"][0]["remedy"], "install it");
  EXPECT_EQ(report["findings"][1]["requirement"], "GPUs");
}

// People read other words.
TEST(NodeCheckJson, HasTheVerdictsThatThePluginHas) {
  const auto report = nlohmann::json::parse(json_of("n01", {{"a", "", Verdict::Ok, ""},
                                                            {"b", "", Verdict::Warning, ""},
                                                            {"c", "", Verdict::Fails, ""},
                                                            {"d", "", Verdict::Unknown, ""}}));
  std::vector<std::string> verdicts;
  for (const auto& finding : report["findings"]) verdicts.push_back(finding["verdict"]);
  EXPECT_THAT(verdicts, testing::ElementsAre("ok", "warning", "fails", "unknown"));
}

TEST(NodeCheckJson, HasAKeyAndTheReasonOfAFinding) {
  const auto report = nlohmann::json::parse(json_of(
      "n01", {{"port 50000", "held", Verdict::Fails, "end it", "PortTaken", "Port", "50000"}}));
  const auto& finding = report["findings"][0];
  EXPECT_EQ(finding["check"], "Port");
  EXPECT_EQ(finding["name"], "50000");
  EXPECT_EQ(finding["reason"], "PortTaken");
}

}  // namespace
}  // namespace cdom::node_check
