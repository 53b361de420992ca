#include "compute_domain/base/ranges.h"

#include <gmock/gmock.h>

namespace cdom::base {
namespace {

using ::testing::IsEmpty;

TEST(Ranges, ComeBackFromTheirText) {
  const std::set<std::int64_t> numbers{0, 1, 2, 7, 9, 10, kRangesEnd - 1};
  EXPECT_EQ(ranges_text(numbers), "0-2,7,9-10,65535");
  EXPECT_EQ(parse_ranges("0-2,7,9-10,65535"), numbers);
}

TEST(Ranges, AreNoneOfATextThatIsNoSuchList) {
  for (const char* text : {"", ",", "1,", "-", "1-", "-1", "2-1", "1-2-3", "one", "1 ", "65536"}) {
    EXPECT_THAT(parse_ranges(text), IsEmpty()) << text;
  }
}

// A node may report any text of 8 KB, and each of its ranges might stand for all numbers.
TEST(Ranges, StandForEachNumberOnceAtMost) {
  for (const char* text : {"0-65535,0-65535", "3,3", "5,4", "0-2,2-3"}) {
    EXPECT_THAT(parse_ranges(text), IsEmpty()) << text;
  }
}

}  // namespace
}  // namespace cdom::base
