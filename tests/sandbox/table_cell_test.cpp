#include "sandbox/apiserver/printing/table_cell.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace cdom::sandbox {
namespace {

using nlohmann::json;
using std::chrono::seconds;

TEST(HumanDuration, RoundsAsKubectlDoes) {
  const std::pair<std::int64_t, const char*> cases[] = {{-5, "<invalid>"},
                                                        {-1, "0s"},
                                                        {0, "0s"},
                                                        {119, "119s"},
                                                        {120, "2m"},
                                                        {150, "2m30s"},
                                                        {600, "10m"},
                                                        {179 * 60, "179m"},
                                                        {180 * 60, "3h"},
                                                        {312 * 60, "5h12m"},
                                                        {8 * 3600, "8h"},
                                                        {47 * 3600, "47h"},
                                                        {76 * 3600, "3d4h"},
                                                        {192 * 3600, "8d"},
                                                        {2 * 365LL * 86400, "2y"},
                                                        {(2 * 365LL + 3) * 86400, "2y3d"},
                                                        {9 * 365LL * 86400, "9y"}};
  for (const auto& [age, text] : cases) EXPECT_EQ(human_duration(seconds(age)), text);
}

json cell(const json& value, std::string_view type) {
  const base::Time now = *base::parse_rfc3339("2026-01-06T00:00:00Z");
  return cell_of({{"x", value}}, JsonPath::parse(".x").value(), type, now);
}

TEST(TableCell, RendersByTheColumnsType) {
  EXPECT_EQ(cell("16/18", "string"), "16/18");
  EXPECT_EQ(cell(3, "string"), "3");
  EXPECT_EQ(cell({{"a", 1}}, "string"), "{\"a\":1}");
  EXPECT_EQ(cell(3, "integer"), 3);
  EXPECT_EQ(cell("x", "integer"), nullptr);
  EXPECT_EQ(cell(true, "boolean"), true);
  EXPECT_EQ(cell("2026-01-01T00:00:00Z", "date"), "5d");
  EXPECT_EQ(cell("soon", "date"), "<invalid>");
}

TEST(TableCell, IsNullWithoutValue) {
  const base::Time now{};
  EXPECT_EQ(cell_of(json::object(), JsonPath::parse(".x").value(), "string", now), nullptr);
  EXPECT_EQ(cell(nullptr, "date"), nullptr);
  EXPECT_EQ(age_of(nullptr, now), "<unknown>");
}

}  // namespace
}  // namespace cdom::sandbox
