#include "compute_domain/base/sorted_chunks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

namespace cdom::base {
namespace {

using testing::ElementsAre;

class Numbers {
 public:
  void add(int number) { chunks_.insert(place_of(number), number); }
  void remove(int number) { chunks_.erase(place_of(number)); }
  [[nodiscard]] bool contains(int number) const {
    const auto place = place_of(number);
    return place != chunks_.end() && *place == number;
  }
  [[nodiscard]] std::size_t size() const { return chunks_.size(); }
  [[nodiscard]] std::vector<int> all() const {
    std::vector<int> out;
    for (const int number : chunks_) out.push_back(number);
    return out;
  }

 private:
  [[nodiscard]] SortedChunks<int>::Place place_of(int number) const {
    return chunks_.first_not([number](int other) { return other < number; });
  }

  SortedChunks<int> chunks_;
};

TEST(SortedChunks, KeepsItsValuesInOrder) {
  Numbers numbers;
  for (const int number : {5, 1, 9, 3}) numbers.add(number);
  EXPECT_THAT(numbers.all(), ElementsAre(1, 3, 5, 9));
  numbers.remove(3);
  EXPECT_THAT(numbers.all(), ElementsAre(1, 5, 9));
  EXPECT_TRUE(numbers.contains(5));
  EXPECT_FALSE(numbers.contains(3));
  EXPECT_FALSE(numbers.contains(10));
}

TEST(SortedChunks, IsEmptyAgainOnceEachValueIsRemoved) {
  Numbers numbers;
  for (int number = 0; number < 1000; ++number) numbers.add(number);
  for (int number = 999; number >= 0; --number) numbers.remove(number);
  EXPECT_EQ(numbers.size(), 0U);
  EXPECT_THAT(numbers.all(), ElementsAre());
  numbers.add(7);
  EXPECT_THAT(numbers.all(), ElementsAre(7));
}

// Whatever is added and removed, in whatever order: it has what a std::set has.
TEST(SortedChunks, HasWhatASetHas) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    // More are added than removed in the first half, and the other way round in the second.
    constexpr unsigned kSteps = 6000;
    Numbers numbers;
    std::set<int> set;
    for (unsigned step = 0; step < kSteps; ++step) {
      const int number = static_cast<int>(random() % 3000);
      const bool adds = random() % 4 != 0;
      if (adds == (step < kSteps / 2)) {
        if (set.insert(number).second) numbers.add(number);
      } else if (set.erase(number) != 0) {
        numbers.remove(number);
      }
      ASSERT_EQ(numbers.size(), set.size());
      ASSERT_EQ(numbers.contains(number), set.contains(number));
    }
    ASSERT_EQ(numbers.all(), std::vector<int>(set.begin(), set.end()));
  }
}

}  // namespace
}  // namespace cdom::base
