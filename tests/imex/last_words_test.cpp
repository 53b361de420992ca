#include "imex/daemon/last_words.h"

#include <gtest/gtest.h>

namespace cdom::imex {
namespace {

std::string last_words(std::initializer_list<std::string_view> pieces) {
  LastWords words;
  for (const std::string_view piece : pieces) words.hear(piece, {});
  return words.text({});
}

TEST(LastWords, AreTheLastLineWithSomethingInIt) {
  EXPECT_EQ(last_words({"starting\nno device /dev/nvidia3\n\n  \r\n"}), "no device /dev/nvidia3");
  EXPECT_EQ(last_words({"starting\nno de", "vice"}), "no device") << "also without a line break";
  EXPECT_EQ(last_words({}), "");
  EXPECT_EQ(last_words({"\n \n"}), "");
}

TEST(LastWords, AreForPeople) {
  EXPECT_EQ(last_words({"\x1b[31mno\tdevice\x07\r\n"}), "[31mno device");
  EXPECT_EQ(last_words({"caf\xc3\xa9 \xff\n"}), "caf?? ?") << "never half a character";
}

TEST(LastWords, AreBounded) {
  LastWords words;
  for (int i = 0; i < 1000; ++i) words.hear(std::string(1000, 'x'), {});
  EXPECT_EQ(words.text({}), std::string(300, 'x'));
}

TEST(LastWords, AreNotWhatGoesWell) {
  const std::string routine =
      "[Mar 27 2025 15:47:10] [INFO] [tid 39] Connection established to node 0\n";
  EXPECT_EQ(last_words({routine}), "");
  EXPECT_EQ(last_words({"[Mar 27 2025 15:47:10] [ERROR] [tid 39] no GPU\n", routine}),
            "[ERROR] no GPU");
}

TEST(LastWords, AreOfTheLastMinute) {
  LastWords words;
  words.hear("[Mar 27 2025 15:47:10] [ERROR] [tid 39] no GPU\n", std::chrono::hours(1));
  EXPECT_EQ(words.text(std::chrono::hours(1) + std::chrono::minutes(1)), "[ERROR] no GPU");
  EXPECT_EQ(words.text(std::chrono::hours(1) + std::chrono::seconds(61)), "");
  words.hear("killed", std::chrono::hours(2));
  EXPECT_EQ(words.text(std::chrono::hours(2)), "killed");
}

TEST(LastWords, LeaveOutWhatDiffersEachTime) {
  EXPECT_EQ(last_words({"[Mar 03 2025 17:26:19] [ERROR] [tid 38] cannot bind [::1] port 50000\n"}),
            "[ERROR] cannot bind [::1] port 50000");
  EXPECT_EQ(last_words({"[fe80::1] is not there\n"}), "[fe80::1] is not there");
  EXPECT_EQ(last_words({"[Mar 03 2025 17:26:19]\n"}), "[Mar 03 2025 17:26:19]");
}

}  // namespace
}  // namespace cdom::imex
