#include "imex/daemon/relay.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "compute_domain/base/descriptor.h"

namespace cdom::imex {
namespace {

class Pipe {
 public:
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) throw std::logic_error("no pipe");
    reader = base::Descriptor(ends[0]);
    writer = base::Descriptor(ends[1]);
  }
  void print(std::string_view text) const {
    ASSERT_EQ(write(writer.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  [[nodiscard]] std::string text() const {
    std::string text;
    char block[4096];
    for (ssize_t got = 0; (got = read(reader.get(), block, sizeof block)) > 0;) {
      text.append(block, static_cast<std::size_t>(got));
    }
    return text;
  }
  base::Descriptor reader, writer;
};

class RelayTest : public ::testing::Test {
 protected:
  RelayTest() { relay.begin(); }
  Pipe daemon, log;
  Relay relay{log.writer.get()};
};

TEST_F(RelayTest, GivesOnWhatComesUnchangedAndAtOnce) {
  daemon.print("one\n\x1b[31mtwo\n");
  EXPECT_EQ(relay.take(daemon.reader.get(), {}), 2U);
  EXPECT_EQ(log.text(), "one\n\x1b[31mtwo\n");
  daemon.print("half a li");
  EXPECT_EQ(relay.take(daemon.reader.get(), {}), 0U) << "no line has ended";
  EXPECT_EQ(log.text(), "half a li");
  EXPECT_EQ(relay.take(daemon.reader.get(), {}), 0U) << "nothing has come";
  EXPECT_FALSE(relay.has_backlog());
  EXPECT_EQ(relay.last_words({}), "half a li");
}

TEST_F(RelayTest, SeesTheEndOfTheOutput) {
  EXPECT_TRUE(relay.has_output());
  daemon.print("good");
  daemon.print("bye\n");
  daemon.writer.reset();
  EXPECT_EQ(relay.take(daemon.reader.get(), {}), 1U);
  EXPECT_FALSE(relay.has_output());
  EXPECT_EQ(relay.last_words({}), "goodbye");
  relay.begin();
  EXPECT_EQ(relay.last_words({}), "") << "of another daemon";
}

// A log that nobody reads: the daemon must be able to print for ever.
TEST_F(RelayTest, ALogThatIsNotReadHoldsNobodyUp) {
  const std::string line = std::string(99, 'x') + "\n";
  std::size_t printed = 0;
  for (int i = 0; i < 10'000; ++i) {
    daemon.print(line);
    printed += line.size();
    relay.take(daemon.reader.get(), {});
  }
  daemon.print("the last line\n");
  relay.take(daemon.reader.get(), {});
  EXPECT_TRUE(relay.has_backlog());
  EXPECT_EQ(relay.last_words({}), "the last line");

  std::string read;
  while (relay.has_backlog()) {
    read += log.text();
    relay.give();
  }
  read += log.text();
  EXPECT_LT(read.size(), printed);
  EXPECT_EQ(read.size() % line.size(), 0U) << "whole lines";
  daemon.print("goes on\n");
  relay.take(daemon.reader.get(), {});
  EXPECT_EQ(log.text(), "goes on\n");
}

TEST_F(RelayTest, TakesABoundedPartOfWhatNeverEnds) {
  const base::Descriptor endless(open("/dev/zero", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(relay.take(endless.get(), {}), 0U) << "and no line";
  EXPECT_TRUE(relay.has_output());
}

}  // namespace
}  // namespace cdom::imex
