#include "plugin/page/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cdom::plugin::page {
namespace {

std::string shown(std::string_view text) {
  Html html;
  html << Text{text, 1000};
  return std::move(html).take();
}

TEST(Html, EscapesWhatWouldEndATextOrAnAttribute) {
  EXPECT_EQ(shown("<b>&amp;</b>"), "&lt;b&gt;&amp;amp;&lt;/b&gt;");
  EXPECT_EQ(shown("\" onload='x'"), "&quot; onload=&#39;x&#39;");
}

TEST(Html, HasNoControlCharacter) {
  EXPECT_EQ(shown(std::string_view("a\0b\n\x7F", 5)), "a b  ");
  EXPECT_EQ(shown("\xC2\x85"), "\xEF\xBF\xBD");
}

TEST(Html, DoesNotLetTextTurnTheOrderOfWhatFollows) {
  EXPECT_EQ(shown("a\xE2\x80\xAE"
                  "b"),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(shown("\xE2\x81\xA6"), "\xEF\xBF\xBD");
  EXPECT_EQ(shown("…"), "…");
}

TEST(Html, IsUtf8WhateverComes) {
  EXPECT_EQ(shown("Ä\xC3"), "Ä\xEF\xBF\xBD");
  // "<" in more bytes than it needs, which a lenient reader would take for one.
  EXPECT_EQ(shown("\xC0\xBC"), "\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(shown("\xE0\x80\xBC"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(shown("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(shown("\xF4\x90\x80\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(shown("\xF0\x9F\x98\x80"), "\xF0\x9F\x98\x80");
}

TEST(Html, ShortensBeforeItEscapes) {
  Html html;
  html << Text{"<<<<<<<<<<", 6};
  EXPECT_EQ(std::move(html).take(), "&lt;&lt;&lt;…");
}

TEST(Html, WritesNumbersForPeopleAndForCoordinates) {
  Html html;
  html.count(5004) << " " << 5004;
  html << " ";
  html.decimal(12.5) << " ";
  html.decimal(100) << " ";
  html.decimal(1.0 / 3);
  html << " ";
  html.count(1'234'567);
  EXPECT_EQ(std::move(html).take(), "5,004 5004 12.5 100 0.33 1,234,567");
}

std::string shown_names(const std::vector<std::string>& names, std::size_t most) {
  return names_html(names, most).take();
}

TEST(Html, CountsTheNamesThatFindNoRoom) {
  EXPECT_EQ(shown_names({}, 3), "");
  EXPECT_EQ(shown_names({"a", "b"}, 2), "a, b");
  EXPECT_EQ(shown_names({"a", "b", "<"}, 1), "a and 2 more");
  const std::string text = shown_names(std::vector<std::string>(50, std::string(40, 'n')), 20);
  EXPECT_TRUE(text.ends_with(" and 41 more")) << text;
  // One is there, however long it is.
  EXPECT_TRUE(
      shown_names(std::vector<std::string>(2, std::string(900, 'n')), 2).ends_with("… and 1 more"));
}

}  // namespace
}  // namespace cdom::plugin::page
