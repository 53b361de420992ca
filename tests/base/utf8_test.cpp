#include "compute_domain/base/utf8.h"

#include <gtest/gtest.h>

#include "compute_domain/base/text.h"

namespace cdom::base {
namespace {

TEST(Utf8, TellsHowManyBytesACharacterHas) {
  EXPECT_EQ(character_size("ab"), 1U);
  EXPECT_EQ(character_size("\u00e4b"), 2U);
  EXPECT_EQ(character_size("\u20ac"), 3U);
  EXPECT_EQ(character_size("\U0001F600"), 4U);
  EXPECT_EQ(character_size("\xED\x9F\xBF"), 3U);      // the last before the surrogates
  EXPECT_EQ(character_size("\xF4\x8F\xBF\xBF"), 4U);  // the last of all
}

TEST(Utf8, KnowsWhatIsNoCharacter) {
  for (const char* bytes :
       {"\x80", "\xC3", "\xE2\x82", "\xE2\x28\xAC", "\xC0\xAF", "\xE0\x9F\xBF", "\xED\xA0\x80",
        "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80"}) {
    EXPECT_EQ(character_size(bytes), 0U) << hex64(static_cast<unsigned char>(bytes[0]));
  }
}

TEST(Utf8, CountsCharactersAndNotBytes) {
  EXPECT_EQ(count_characters(""), 0U);
  EXPECT_EQ(count_characters("a\u00e4\u20ac\U0001F600"), 4U);
}

TEST(Utf8, WritesTheCharacterOfANumber) {
  std::string out;
  for (const std::uint32_t number : {0x61U, 0xe4U, 0x20acU, 0x1F600U}) append_utf8(out, number);
  EXPECT_EQ(out, "a\u00e4\u20ac\U0001F600");
}

TEST(Utf8, IsNotCutWithinACharacter) {
  EXPECT_EQ(shortened("\u20ac\u20ac\u20ac", 9), "\u20ac\u20ac\u20ac");
  EXPECT_EQ(shortened("\u20ac\u20ac\u20ac", 8), "\u20ac…");
  EXPECT_EQ(shortened("\u20ac\u20ac\u20ac", 8, "..."), "\u20ac...");
  EXPECT_LT(shortened(std::string(100'000, 'a'), 8).capacity(), 100U) << "nor their memory";
}

}  // namespace
}  // namespace cdom::base
