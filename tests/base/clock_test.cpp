#include "compute_domain/base/clock.h"

#include <gtest/gtest.h>

namespace cdom::base {
namespace {

using namespace std::chrono_literals;

TEST(Clock, ManualTimeMovesOnlyWhenTold) {
  ManualClock clock;
  const Time start = clock.now();
  clock.advance(1500ms);
  EXPECT_EQ(clock.now() - start, 1500ms);
  EXPECT_EQ(clock.elapsed(), 1500ms);
  EXPECT_EQ(to_rfc3339(clock.now()), "2026-01-01T00:00:01Z");
  EXPECT_EQ(to_rfc3339_micro(clock.now()), "2026-01-01T00:00:01.500000Z");
}

TEST(Clock, ReadsBackWhatItWrites) {
  const auto time = parse_rfc3339("2026-02-28T23:59:59.000006Z");
  ASSERT_TRUE(time);
  EXPECT_EQ(to_rfc3339_micro(*time), "2026-02-28T23:59:59.000006Z");
}

TEST(Clock, RefusesWhatIsNoTime) {
  for (const char* text :
       {"", "2026-02-30T00:00:00Z", "2026-01-01", "2026-01-01T00:00:00", "2026-01-01T00:00:00+01",
        "2026-01-01T00:00:00+01:00Z", "2026-01-01T25:00:00Z", "2026-01-01T00:00:00.Z",
        "2026-01-01T00:00:00Zx"}) {
    EXPECT_FALSE(parse_rfc3339(text)) << text;
  }
}

TEST(Clock, ReadsWhatElseOfRfc3339OthersWrite) {
  for (const char* text :
       {"2026-01-02T03:04:05.000006Z", "2026-01-02T03:04:05.000006+00:00",
        "2026-01-02T04:34:05.000006+01:30", "2026-01-01T19:04:05.000006-08:00",
        "2026-01-02t03:04:05,000006z", "2026-01-02T03:04:05.00000600000000000Z"}) {
    const auto time = parse_rfc3339(text);
    ASSERT_TRUE(time) << text;
    EXPECT_EQ(to_rfc3339_micro(*time), "2026-01-02T03:04:05.000006Z") << text;
  }
}

TEST(Clock, BoundsTimesToWhatItCanSay) {
  EXPECT_EQ(to_rfc3339(parse_rfc3339("0001-01-01T00:00:00Z").value()), "1678-01-01T00:00:00Z");
  EXPECT_EQ(to_rfc3339(parse_rfc3339("9999-12-31T23:59:59Z").value()), "2261-12-31T00:00:00Z");
}

TEST(Clock, PrintsShortDurationsAsKubectlDoes) {
  EXPECT_EQ(short_duration(350ms), "350ms");
  EXPECT_EQ(short_duration(119s), "119s");
  EXPECT_EQ(short_duration(10min), "10m");
  EXPECT_EQ(short_duration(47h), "47h");
  EXPECT_EQ(short_duration(72h), "3d");
}

TEST(Clock, TellsTheEarlierOfTwoMoments) {
  constexpr Duration kSoon = std::chrono::seconds(1), kLater = std::chrono::seconds(2);
  EXPECT_EQ(earlier(kLater, kSoon), kSoon);
  EXPECT_EQ(earlier(kSoon, kLater), kSoon);
  EXPECT_EQ(earlier(std::nullopt, kLater), kLater);
  EXPECT_EQ(earlier(kLater, std::nullopt), kLater);
  EXPECT_EQ(earlier(std::nullopt, std::nullopt), std::nullopt);
}

}  // namespace
}  // namespace cdom::base
