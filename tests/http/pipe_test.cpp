#include "http/pipe.h"

#include <gtest/gtest.h>

#include <thread>

namespace cdom::http {
namespace {

using namespace std::chrono_literals;
using base::ErrorKind;

TEST(Pipe, GivesAllBytesAndThenTheEnd) {
  Pipe pipe;
  pipe.set_head({204, {}, {}});
  EXPECT_TRUE(pipe.write("ab"));
  EXPECT_TRUE(pipe.write("c"));
  pipe.end();
  EXPECT_EQ(pipe.wait_for_head(0s)->value().status, 204);
  EXPECT_EQ(pipe.read(0s)->bytes, "abc");
  EXPECT_TRUE(pipe.read(0s)->is_end);
}

TEST(Pipe, WhatIsHandedOverComesInItsOrder) {
  Pipe pipe;
  std::string bytes = "one ";
  EXPECT_TRUE(pipe.hand_over(bytes));
  EXPECT_EQ(bytes, "");
  bytes = "two ";
  EXPECT_TRUE(pipe.hand_over(bytes));
  EXPECT_TRUE(pipe.write("three"));
  EXPECT_EQ(pipe.read(0s)->bytes, "one two three");
  bytes = std::string(Pipe::kBound, 'x');
  EXPECT_FALSE(pipe.hand_over(bytes));
  pipe.cancel();
  bytes = "dropped";
  EXPECT_TRUE(pipe.hand_over(bytes));
  EXPECT_EQ(bytes, "");
}

TEST(Pipe, AnErrorComesAfterTheBytesBeforeIt) {
  Pipe pipe;
  EXPECT_TRUE(pipe.write("ab"));
  pipe.fail({ErrorKind::Unavailable, "reset"});
  EXPECT_EQ(pipe.read(0s)->bytes, "ab");
  EXPECT_EQ(pipe.read(0s).error().message, "reset");
}

TEST(Pipe, AFullPipeCallsBackOnceTheReaderHasMadeRoom) {
  Pipe pipe;
  EXPECT_FALSE(pipe.write(std::string(Pipe::kBound, 'x')));
  int calls = 0;
  pipe.when_room([&] { ++calls; });
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(pipe.read(0s)->bytes.size(), Pipe::kBound);
  EXPECT_EQ(calls, 1);
  pipe.when_room([&] { ++calls; });
  EXPECT_EQ(calls, 2) << "there is room: at once";
}

TEST(Pipe, CancellingReleasesTheWriterAndTheReader) {
  Pipe pipe;
  EXPECT_FALSE(pipe.write(std::string(Pipe::kBound, 'x')));
  int calls = 0;
  pipe.when_room([&] { ++calls; });
  pipe.cancel();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(pipe.read(0s).error().kind, ErrorKind::Cancelled);
  EXPECT_TRUE(pipe.write("dropped"));
}

TEST(Pipe, SaysThatNoHeadHasComeInTime) {
  Pipe pipe;
  EXPECT_FALSE(pipe.wait_for_head(0s));
  pipe.fail({ErrorKind::Unavailable, "reset"});
  EXPECT_EQ(pipe.wait_for_head(0s)->error().message, "reset");
}

TEST(Pipe, TellsOfAllThatTheReaderCanHave) {
  int news = 0;
  Pipe pipe([&] { ++news; });
  EXPECT_TRUE(pipe.write("a"));
  EXPECT_EQ(news, 1);
  pipe.end();
  EXPECT_EQ(news, 2);
  Pipe failing([&] { ++news; });
  failing.fail({ErrorKind::Unavailable, "reset"});
  EXPECT_EQ(news, 3);
}

TEST(Pipe, AReaderWaitsForTheWriter) {
  Pipe pipe;
  std::jthread writer([&] {
    pipe.set_head({});
    EXPECT_TRUE(pipe.write("late"));
    pipe.end();
  });
  EXPECT_TRUE(pipe.wait_for_head(20s));
  EXPECT_EQ(*pipe.read_all(4), "late");
}

TEST(Pipe, GivesNoMoreThanTheReaderWants) {
  Pipe pipe;
  EXPECT_TRUE(pipe.write("four"));
  EXPECT_TRUE(pipe.write("+"));
  pipe.end();
  EXPECT_EQ(*pipe.read_all(4), std::nullopt);
}

}  // namespace
}  // namespace cdom::http
