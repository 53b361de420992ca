#include "cli/spare_memory.h"

#include <gtest/gtest.h>

#include <chrono>

namespace cdom::cli {

namespace {

using std::chrono::seconds;

constexpr std::size_t kMiB = std::size_t{1} << 20U;

class SpareMemoryTest : public testing::Test {
 protected:
  void look_later() {
    clock_.advance(seconds(5));
    memory_.look();
  }

  base::ManualClock clock_;
  struct Use {
    std::size_t resident = 2 * kMiB - 1, allocated = 1 * kMiB;
  } use_;
  std::size_t pinned_ = 0;  // cannot be given back
  int times_ = 0, questions_ = 0;
  SpareMemory memory_{clock_,
                      {.resident = [this] { return use_.resident; },
                       .allocated =
                           [this] {
                             ++questions_;
                             return use_.allocated;
                           }},
                      [this] {
                        ++times_;
                        use_.resident = use_.allocated + pinned_;
                      }};
};

TEST_F(SpareMemoryTest, IsLeftWhereThereIsLittle) {
  look_later();
  EXPECT_EQ(times_, 0);
}

TEST_F(SpareMemoryTest, IsLeftWhereItIsInUse) {
  use_ = {.resident = 40 * kMiB, .allocated = 39 * kMiB + 1};
  look_later();
  EXPECT_EQ(times_, 0);
}

TEST_F(SpareMemoryTest, IsGivenBackAfterABurst) {
  use_.resident = 40 * kMiB;
  look_later();
  EXPECT_EQ(times_, 1);
  EXPECT_EQ(use_.resident, 1 * kMiB);
}

TEST_F(SpareMemoryTest, IsAskedForEverMoreSeldomWhereMuchOfItIsPinned) {
  pinned_ = 10 * kMiB;
  use_.resident = 40 * kMiB;
  look_later();
  EXPECT_EQ(times_, 1);
  look_later();
  EXPECT_EQ(times_, 2);
  for (int i = 0; i < 720; ++i) look_later();  // an hour
  EXPECT_GE(times_, 10);
  EXPECT_LE(times_, 15);

  const int before = times_;
  use_.resident += 2 * kMiB;
  look_later();
  EXPECT_EQ(times_, before + 1);
}

// As when the last of a crowd goes: small things, each alone on a page.
TEST_F(SpareMemoryTest, IsGivenBackAlsoWhereLittleHasHeldMuch) {
  pinned_ = 5 * kMiB;
  use_.resident = 12 * kMiB;
  look_later();
  EXPECT_EQ(use_.resident, 6 * kMiB);

  pinned_ = 0;
  use_.allocated -= 128U << 10U;
  look_later();
  EXPECT_EQ(use_.resident, use_.allocated);
}

TEST_F(SpareMemoryTest, IsGivenBackAlsoWhereALookFellIntoTheBurst) {
  use_ = {.resident = 12 * kMiB, .allocated = 10 * kMiB};
  look_later();
  EXPECT_EQ(times_, 1);

  use_.allocated = 1 * kMiB;
  look_later();
  EXPECT_EQ(times_, 2);
  EXPECT_EQ(use_.resident, 1 * kMiB);
}

TEST_F(SpareMemoryTest, IsNoneWhereNotAllOfWhatIsAllocatedIsResident) {
  use_ = {.resident = 1 * kMiB, .allocated = 10 * kMiB};
  look_later();
  EXPECT_EQ(times_, 0);
}

TEST_F(SpareMemoryTest, IsLookedAtAFewTimesAMinuteOnly) {
  look_later();
  use_.resident = 40 * kMiB;
  clock_.advance(seconds(4));
  memory_.look();
  EXPECT_EQ(times_, 0);
  clock_.advance(seconds(1));
  memory_.look();
  EXPECT_EQ(times_, 1);
}

// The allocator looks at all that is free to say how much is not.
TEST_F(SpareMemoryTest, OfAProcessAtRestIsAskedForEverMoreSeldom) {
  for (int i = 0; i < 120; ++i) look_later();  // ten minutes
  EXPECT_GE(questions_, 10);
  EXPECT_LE(questions_, 16);

  use_.resident = 40 * kMiB;
  look_later();
  EXPECT_EQ(times_, 1) << "one that has grown is looked at at once";
}

TEST_F(SpareMemoryTest, OfAProcessAtRestIsFoundWithinAMinute) {
  use_ = {.resident = 40 * kMiB, .allocated = 39 * kMiB + 1};
  for (int i = 0; i < 106; ++i) look_later();
  use_.allocated = 1 * kMiB;
  for (int i = 0; i < 12; ++i) look_later();
  EXPECT_EQ(times_, 1);
  EXPECT_EQ(use_.resident, 1 * kMiB);
}

TEST(MemoryUse, IsThisProcesss) { EXPECT_GT(own_memory_use().resident(), 0U); }

}  // namespace

}  // namespace cdom::cli
