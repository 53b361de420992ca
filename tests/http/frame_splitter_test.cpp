#include "http/client/stream/frame_splitter.h"

#include <gtest/gtest.h>

#include <vector>

namespace cdom::http {
namespace {

using namespace std::string_literals;

std::vector<std::string> frames_of(const std::string& bytes, std::size_t piece) {
  FrameSplitter splitter;
  std::vector<std::string> frames;
  for (std::size_t i = 0; i < bytes.size(); i += piece) {
    splitter.add(std::string_view(bytes).substr(i, piece));
    while (auto frame = splitter.next()) frames.emplace_back(*frame);
  }
  return frames;
}

TEST(FrameSplitter, GivesTheSameFramesHoweverTheyAreCut) {
  const std::string bytes = "\0\0\0\3one\0\0\0\0\0\0\1\2"s + std::string(258, 'x') + "\0\0\0\2a\n"s;
  const std::vector<std::string> frames{"one", "", std::string(258, 'x'), "a\n"};
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    EXPECT_EQ(frames_of(bytes, piece), frames) << "pieces of " << piece;
  }
}

TEST(FrameSplitter, KeepsAnUnfinishedFrame) {
  FrameSplitter splitter;
  splitter.add("\0\0\0\1a\0\0\0\3b"s);
  EXPECT_EQ(splitter.next(), "a");
  EXPECT_EQ(splitter.next(), std::nullopt);
  EXPECT_EQ(splitter.carried(), 7U);
  EXPECT_EQ(splitter.rest(), "\0\0\0\3b"s);
  EXPECT_EQ(splitter.carried(), 0U);
}

TEST(FrameSplitter, KnowsHowLongAFrameIsBeforeItComes) {
  FrameSplitter splitter;
  splitter.add("\xFF\xFF\xFF");
  EXPECT_EQ(splitter.next(), std::nullopt);
  EXPECT_EQ(splitter.carried(), 3U);
  splitter.add("\xFF and little more");
  EXPECT_EQ(splitter.next(), std::nullopt);
  EXPECT_EQ(splitter.carried(), 0x1'0000'0003U);
}

}  // namespace
}  // namespace cdom::http
