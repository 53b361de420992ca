#include "compute_domain/base/shared_bytes.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <thread>

namespace cdom::base {
namespace {

TEST(SharedBytes, AreThereOrNot) {
  EXPECT_FALSE(SharedBytes());
  EXPECT_EQ(SharedBytes().view(), "");
  EXPECT_TRUE(SharedBytes(""));
  EXPECT_EQ(SharedBytes("").view(), "");
}

TEST(SharedBytes, LiveAsLongAsAnyCopy) {
  SharedBytes first(std::string(100, 'a'));
  SharedBytes second = first;
  EXPECT_EQ(first.view().data(), second.view().data());
  first = SharedBytes("b");
  EXPECT_EQ(first.view(), "b");
  EXPECT_EQ(second.view(), std::string(100, 'a'));
  SharedBytes third = std::move(second);
  EXPECT_FALSE(second);  // NOLINT(bugprone-use-after-move): what it is then
  second = third;
  third = {};
  EXPECT_EQ(second.view(), std::string(100, 'a'));
}

TEST(SharedBytes, AreCopiedByManyThreads) {
  const SharedBytes bytes("of all");
  std::array<std::jthread, 4> threads;
  for (std::jthread& thread : threads) {
    thread = std::jthread([&bytes] {
      SharedBytes copy;
      for (int n = 0; n < 10'000; ++n) {
        copy = bytes;
        if (copy.view() != "of all") std::abort();
        copy = {};
      }
    });
  }
}

}  // namespace
}  // namespace cdom::base
