#include "dra/wire_text.h"

#include <gtest/gtest.h>

namespace cdom::dra {

namespace {

TEST(WireText, KeepsWhatIsUtf8) {
  EXPECT_EQ(wire_text("a\u00e9\u20ac\U0001F600"), "a\u00e9\u20ac\U0001F600");
  EXPECT_EQ(wire_text(""), "");
}

TEST(WireText, ReplacesEveryByteThatIsNone) {
  EXPECT_EQ(wire_text("a\xff-\xc3"), "a\uFFFD-\uFFFD");
  // Too long a form, a surrogate, past the last character, cut off.
  EXPECT_EQ(wire_text("\xc0\x80"), "\uFFFD\uFFFD");
  EXPECT_EQ(wire_text("\xe0\x80\x80"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(wire_text("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(wire_text("\xf4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(wire_text("\xe2\x82"), "\uFFFD\uFFFD");
}

TEST(WireText, CountsCharactersNotBytes) {
  EXPECT_EQ(wire_text("\u20ac\u20ac\u20ac", 2), "\u20ac\u20ac");
}

}  // namespace

}  // namespace cdom::dra
