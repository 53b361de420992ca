#include "compute_domain/plugin/printable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugin/text/text_table.h"

namespace cdom::plugin {
namespace {

TEST(Printable, LeavesNothingThatATerminalObeys) {
  EXPECT_EQ(printable("a\x1b[2Jb\r\nc\td\x7f"), "a [2Jb  c d ");
  EXPECT_EQ(printable("a\xC2\x9B"
                      "2Jb"),
            "a 2Jb")
      << "U+009B is ESC [ in one";
  EXPECT_EQ(printable("nod\xE2\x80\xAE"
                      "1r"),
            "nod 1r")
      << "U+202E: from right to left";
  EXPECT_EQ(printable("\x9B"
                      "2J \xFF\xFE \xC3"),
            " 2J     ")
      << "bytes of no character";
}

TEST(Printable, LeavesPeoplesWordsAsTheyAre) {
  for (const char* text : {"", "plain", "Zürich → 東京 🚀", "a\u00A0b"}) {
    EXPECT_EQ(printable(text), text);
  }
  EXPECT_EQ(printable("two\nlines\n", true), "two\nlines\n");
  EXPECT_EQ(printable("two\nlines\n"), "two lines ");
}

TEST(Printable, IsWhatATableAndAParagraphHave) {
  TextTable table({"A", "B"});
  table.add({"x\x1b[1A", "y\nz"});
  EXPECT_EQ(table.text(), "A       B\nx [1A   y z\n");
  EXPECT_EQ(wrapped("x\x1b[1A y", 80, ""), "x [1A y");
}

}  // namespace
}  // namespace cdom::plugin
