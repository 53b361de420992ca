#include "compute_domain/base/sorted_chunks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace cdom::base {
namespace {

using testing::ElementsAre;

// In chunks with marks and in such without.
class Numbers {
 public:
  void add(int number) {
    chunks_.insert(place_of(number), number);
    marked_.insert(marked_place_of(number), number, kMarkOf);
  }
  void remove(int number) {
    chunks_.erase(place_of(number));
    marked_.erase(marked_place_of(number), kMarkOf);
  }
  [[nodiscard]] bool contains(int number) const {
    const auto place = place_of(number);
    const bool contains = place != chunks_.end() && *place == number;
    const auto marked = marked_place_of(number);
    EXPECT_EQ(marked != marked_.end() && *marked == number, contains) << number;
    return contains;
  }
  [[nodiscard]] std::size_t size() const { return chunks_.size(); }
  [[nodiscard]] std::vector<int> all() const {
    std::vector<int> out;
    for (const int number : chunks_) out.push_back(number);
    EXPECT_TRUE(std::ranges::equal(marked_values(), out));
    return out;
  }

 private:
  [[nodiscard]] SortedChunks<int>::Place place_of(int number) const {
    return chunks_.first_not([number](int other) { return other < number; });
  }

  // The mark of 7 is "7".
  static constexpr auto kMarkOf = [](int number) { return std::to_string(number); };
  using Marked = SortedChunks<int, std::string>;
  [[nodiscard]] Marked::Place marked_place_of(int number) const {
    return marked_.first_not(
        [number](int other) { return other < number; },
        [number](const std::string& mark) { return std::stoi(mark) < number; });
  }
  [[nodiscard]] std::vector<int> marked_values() const {
    std::vector<int> out;
    for (const int number : marked_) out.push_back(number);
    return out;
  }

  SortedChunks<int> chunks_;
  Marked marked_;
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

TEST(SortedChunks, IsAsItWasWhenAMarkCannotBeMade) {
  SortedChunks<int, std::string> chunks;
  const auto mark = [](int number) { return std::to_string(number); };
  const auto fails = [](int number) -> std::string {
    if (number == 256) throw std::bad_alloc();
    return std::to_string(number);
  };
  for (int number = 0; number < 256; ++number) chunks.insert(chunks.end(), number, mark);
  EXPECT_THROW(chunks.insert(chunks.end(), 256, fails), std::bad_alloc);
  EXPECT_EQ(chunks.size(), 256U);
  int count = 0;
  for (auto it = chunks.begin(); it != chunks.end() && count < 1000; ++it) ++count;
  EXPECT_EQ(count, 256);
}

}  // namespace
}  // namespace cdom::base
