#include "compute_domain/base/alike_bytes.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

#include "compute_domain/base/text.h"

namespace cdom::base {
namespace {

using Pieces = std::map<AlikeBytes::Number, std::string>;

AlikeBytes of(const Pieces& pieces) {
  AlikeBytes bytes;
  for (const auto& [number, piece] : pieces) bytes.set(number, piece);
  return bytes;
}

void expect_these(const AlikeBytes& bytes, const Pieces& pieces, AlikeBytes::Number up_to = 100) {
  for (AlikeBytes::Number number = 0; number < up_to; ++number) {
    const auto it = pieces.find(number);
    const SharedBytes found = bytes.at(number);
    ASSERT_EQ(static_cast<bool>(found), it != pieces.end()) << number;
    if (!found) continue;
    ASSERT_EQ(found.view(), it->second) << number;
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{20},
                                    it->second.size(), it->second.size() + 1}) {
      std::string begin = "other";
      bytes.read_begin(number, count, begin);
      ASSERT_EQ(begin, it->second.substr(0, count)) << number;
    }
  }
}

TEST(AlikeBytes, GiveEachPieceBackAsItWas) {
  expect_these({}, {});
  const std::string alike = "node gb200-rack-17-node-3 of clique 4f6e1c1a.17, ready";
  expect_these(of({{0, ""}, {1, "a"}, {2, "ab"}, {3, "abc"}, {4, "abcd"}}),
               {{0, ""}, {1, "a"}, {2, "ab"}, {3, "abc"}, {4, "abcd"}});
  const Pieces pieces{{0, alike},
                      {1, alike + "!"},
                      {2, "node gb200-rack-18-node-3 of clique 4f6e1c1a.18, not ready"},
                      {3, alike.substr(1)},
                      {5, std::string(1000, 'a')},
                      {6, alike + alike + alike},
                      {31, "at the end of a page"},
                      {32, "at the beginning of one"},
                      {99, std::string("\0\xff\0", 3)}};
  expect_these(of(pieces), pieces);
}

TEST(AlikeBytes, GiveLongPiecesBackAsTheyWere) {
  std::mt19937 random(7);
  Pieces pieces;
  for (const std::size_t length : {2'047, 2'048, 2'049, 4'095, 4'200, 57'900, 60'001, 300'000}) {
    std::string& same = pieces[static_cast<AlikeBytes::Number>(pieces.size())];
    same = std::string(length, 'x');
    std::string& noise = pieces[static_cast<AlikeBytes::Number>(pieces.size())];
    for (std::size_t i = 0; i < length; ++i) noise.push_back(static_cast<char>(random()));
  }
  expect_these(of(pieces), pieces);
}

TEST(AlikeBytes, FollowAnyChanges) {
  std::mt19937 random(11);
  AlikeBytes bytes;
  Pieces pieces;
  const auto text = [&] {
    std::string out;
    for (auto words = random() % 40; words > 0; --words) {
      out += cat("rack-", random() % 5, random() % 9 == 0 ? std::string(random() % 700, 'y') : " ");
    }
    return out;
  };
  for (int round = 0; round < 6'000; ++round) {
    const auto number = static_cast<AlikeBytes::Number>(random() % 70);
    if (random() % 4 == 0) {
      bytes.clear(number);
      pieces.erase(number);
    } else {
      bytes.set(number, pieces[number] = text());
    }
    if (round % 50 != 0) continue;
    ASSERT_NO_FATAL_FAILURE(expect_these(bytes, pieces));
  }
  for (AlikeBytes::Number number = 0; number < 70; ++number) bytes.clear(number);
  EXPECT_EQ(bytes.taken(), 0U);
}

TEST(AlikeBytes, ACopyShowsWhatWasThere) {
  AlikeBytes bytes = of({{0, "a"}, {1, std::string(5'000, 'b') + "c"}, {2, "d"}});
  const AlikeBytes copy = bytes;
  bytes.set(0, "other");
  bytes.clear(1);
  bytes.set(40, "new");
  expect_these(copy, {{0, "a"}, {1, std::string(5'000, 'b') + "c"}, {2, "d"}});
  expect_these(bytes, {{0, "other"}, {2, "d"}, {40, "new"}});
}

std::string node(int number) {
  return cat("gb200-rack-", number / 18, "-node-", number % 18, " has an address, 10.1.",
             number / 18, ".", number % 18, ", is of a clique, 4f6e1c1a-0000-4000-8000-00000000.",
             number / 18, ", and does all that it should");
}

TEST(AlikeBytes, TakeLittleForWhatIsAlike) {
  AlikeBytes bytes;
  std::size_t length = 0;
  for (AlikeBytes::Number number = 0; number < 320; ++number) {
    bytes.set(number, node(static_cast<int>(number)));
    length += node(static_cast<int>(number)).size();
  }
  EXPECT_LT(bytes.taken(), length / 3);
}

TEST(AlikeBytes, TakeLittleAlsoWhenTheFirstOneWasOfAnotherKind) {
  AlikeBytes first, last;
  first.set(0, std::string(100, '?'));
  for (AlikeBytes::Number number = 1; number < 32; ++number) {
    first.set(number, node(static_cast<int>(number)));
    last.set(number, node(static_cast<int>(number)));
  }
  EXPECT_LT(first.taken(), last.taken() * 3 / 2);
}

}  // namespace
}  // namespace cdom::base
