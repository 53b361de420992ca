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
  MemoryUse use_{.resident = 2 * kMiB - 1, .allocated = 1 * kMiB};
  std::size_t pinned_ = 0;  // cannot be given back
  int times_ = 0;
  SpareMemory memory_{clock_, [this] { return use_; },
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

TEST(MemoryUse, IsThisProcesss) { EXPECT_GT(memory_use().resident, 0U); }

}  // namespace

}  // namespace cdom::cli
