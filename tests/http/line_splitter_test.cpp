#include "http/client/stream/line_splitter.h"

#include <gtest/gtest.h>

#include <vector>

namespace cdom::http {
namespace {

std::vector<std::string> lines_of(const std::vector<std::string>& pieces) {
  LineSplitter splitter;
  std::vector<std::string> lines;
  for (const auto& piece : pieces) {
    splitter.add(piece);
    while (auto line = splitter.next()) lines.emplace_back(*line);
  }
  return lines;
}

TEST(LineSplitter, GivesTheSameLinesHoweverTheTextIsCut) {
  const std::string text = "one\n\ntwo\r\nthree\n";
  const std::vector<std::string> lines{"one", "", "two", "three"};
  for (std::size_t size = 1; size <= text.size(); ++size) {
    std::vector<std::string> pieces;
    for (std::size_t i = 0; i < text.size(); i += size) pieces.push_back(text.substr(i, size));
    EXPECT_EQ(lines_of(pieces), lines) << "pieces of " << size;
  }
}

TEST(LineSplitter, KeepsAnUnfinishedLine) {
  LineSplitter splitter;
  splitter.add("a\nbc");
  EXPECT_EQ(splitter.next(), "a");
  EXPECT_EQ(splitter.next(), std::nullopt);
  EXPECT_EQ(splitter.carried(), 2u);
  EXPECT_EQ(splitter.rest(), "bc");
  EXPECT_EQ(splitter.carried(), 0u);
}

}  // namespace
}  // namespace cdom::http
