#include "dra/callers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace cdom::dra {

namespace {

using base::Descriptor;

const std::string kWords = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

class CallersTest : public testing::Test {
 protected:
  // The client's end of a new connection.
  Descriptor connect() {
    std::array<int, 2> ends{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    callers_->add(Descriptor(ends[0]), serve_);
    return Descriptor(ends[1]);
  }
  Descriptor connect_and_say(const std::string& words) {
    Descriptor client = connect();
    say(client, words);
    return client;
  }
  static void say(const Descriptor& client, const std::string& words) {
    EXPECT_EQ(send(client.get(), words.data(), words.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(words.size()));
  }
  static std::string heard_by(const Descriptor& end) {
    std::array<char, 100> text{};
    const ssize_t count = recv(end.get(), text.data(), text.size(), MSG_DONTWAIT);
    return count < 0 ? "nothing" : std::string(text.data(), static_cast<std::size_t>(count));
  }
  static bool is_ended(const Descriptor& client) { return heard_by(client).empty(); }

  base::ManualClock clock_;
  base::Result<Callers> callers_ = Callers::open(clock_);
  std::vector<Descriptor> served_;
  const Callers::Serve serve_ = [this](Descriptor c) { served_.push_back(std::move(c)); };
};

TEST_F(CallersTest, ServesAClientThatHasSaidWhatEveryClientOfHttp2SaysFirst) {
  const Descriptor client = connect();
  callers_->attend();
  EXPECT_EQ(served_.size(), 0U);

  say(client, kWords + "and more");
  callers_->attend();
  ASSERT_EQ(served_.size(), 1U);
  EXPECT_EQ(heard_by(served_[0]), kWords + "and more");
  EXPECT_EQ(callers_->silent(), 0U);
}

TEST_F(CallersTest, WaitsForTheRestOfWordsThatComeInPieces) {
  const Descriptor client = connect();
  for (const char letter : kWords) {
    EXPECT_EQ(served_.size(), 0U);
    say(client, std::string(1, letter));
    callers_->attend();
  }
  EXPECT_EQ(served_.size(), 1U);
}

TEST_F(CallersTest, EndsAConnectionOfAnotherProtocol) {
  const Descriptor client = connect_and_say("GET / HTTP/1.1\r\n");
  callers_->attend();
  EXPECT_EQ(served_.size(), 0U);
  EXPECT_EQ(callers_->silent(), 0U);
}

TEST_F(CallersTest, ForgetsClientsThatAreGone) {
  Descriptor silent = connect(), stopped = connect_and_say(kWords.substr(0, 5));
  Descriptor served = connect_and_say(kWords);
  callers_->attend();
  EXPECT_EQ(callers_->silent(), 2U);
  EXPECT_EQ(callers_->served(), 1U);

  silent.reset();
  stopped.reset();
  served.reset();
  callers_->attend();
  EXPECT_EQ(callers_->silent(), 0U);
  EXPECT_EQ(callers_->served(), 0U);
}

TEST_F(CallersTest, LetsAConnectionGoThatIsEndedByWhoServesIt) {
  const Descriptor client = connect_and_say(kWords);
  callers_->attend();
  ASSERT_EQ(served_.size(), 1U);
  EXPECT_EQ(heard_by(served_[0]), kWords);

  shutdown(served_[0].get(), SHUT_RDWR);  // as gRPC does before it closes
  served_.clear();
  callers_->attend();
  EXPECT_EQ(callers_->served(), 0U);
  EXPECT_TRUE(is_ended(client));
}

TEST_F(CallersTest, DoesNotServeAClientThatIsGone) {
  connect_and_say(kWords).reset();
  const Descriptor half = connect_and_say(kWords);
  shutdown(half.get(), SHUT_WR);  // it hears an answer still
  callers_->attend();
  EXPECT_EQ(served_.size(), 1U);
  EXPECT_EQ(callers_->silent(), 0U);
}

TEST_F(CallersTest, ServesAClientThatSpeaksAfterManyOthers) {
  const Descriptor late = connect();
  std::vector<Descriptor> crowd;
  while (crowd.size() < Callers::kMost) {
    crowd.push_back(connect_and_say(kWords));
    callers_->attend();
  }
  say(late, kWords);
  callers_->attend();
  EXPECT_FALSE(is_ended(late));
  EXPECT_TRUE(is_ended(crowd[0]));
}

TEST_F(CallersTest, EndsTheOldestOfTooManyThatSayNothing) {
  const Descriptor oldest = connect();
  std::vector<Descriptor> crowd;
  while (crowd.size() < Callers::kMost - 1) crowd.push_back(connect());
  EXPECT_FALSE(is_ended(oldest));

  crowd.push_back(connect());
  EXPECT_TRUE(is_ended(oldest));
  EXPECT_FALSE(is_ended(crowd.front()));
  EXPECT_EQ(callers_->silent(), Callers::kMost);
}

TEST_F(CallersTest, ServesTheOldestOfTooManyWhenItHasSpokenMeanwhile) {
  const Descriptor oldest = connect_and_say(kWords);
  std::vector<Descriptor> crowd;
  while (crowd.size() < Callers::kMost) crowd.push_back(connect());

  EXPECT_EQ(served_.size(), 1U);
  EXPECT_FALSE(is_ended(oldest));
}

TEST_F(CallersTest, EndsTheOldestOfTooManyThatAreServed) {
  std::vector<Descriptor> crowd;
  while (crowd.size() < Callers::kMost + 1) {
    crowd.push_back(connect_and_say(kWords));
    callers_->attend();
  }
  EXPECT_EQ(callers_->served(), Callers::kMost);
  EXPECT_TRUE(is_ended(crowd[0]));
  EXPECT_FALSE(is_ended(crowd[1]));
  EXPECT_EQ(heard_by(served_[0]), kWords);
  EXPECT_TRUE(is_ended(served_[0]));
  EXPECT_EQ(served_.size(), crowd.size());
}

TEST_F(CallersTest, IsBehindWhileManyThatHaveEndedAreHeldByWhoServesThem) {
  std::vector<Descriptor> crowd;
  for (std::size_t i = 0; i < Callers::kMost; ++i) crowd.push_back(connect_and_say(kWords));
  callers_->attend();
  EXPECT_EQ(served_.size(), Callers::kMost);
  EXPECT_FALSE(callers_->is_behind());

  crowd.clear();
  callers_->attend();
  EXPECT_TRUE(callers_->is_behind());

  served_.erase(served_.begin(), served_.begin() + Callers::kMost * 4 / 5);
  EXPECT_FALSE(callers_->is_behind());
}

TEST_F(CallersTest, IsBehindAlsoWithThoseThatItHasEnded) {
  std::vector<Descriptor> crowd;
  while (crowd.size() < 2 * Callers::kMost && !callers_->is_behind()) {
    crowd.push_back(connect_and_say(kWords));
    callers_->attend();
  }
  EXPECT_TRUE(callers_->is_behind());
  EXPECT_EQ(callers_->served(), Callers::kMost);
  EXPECT_LT(served_.size(), Callers::kMost * 3 / 2);

  served_.clear();
  EXPECT_FALSE(callers_->is_behind());
}

TEST_F(CallersTest, WaitsOnlyAMomentForAServerThatIsHeldUp) {
  std::vector<Descriptor> crowd;
  for (std::size_t i = 0; i < Callers::kMost; ++i) crowd.push_back(connect_and_say(kWords));
  callers_->attend();
  crowd.clear();
  callers_->attend();
  EXPECT_TRUE(callers_->is_behind());

  clock_.advance(std::chrono::seconds(2));
  EXPECT_FALSE(callers_->is_behind());
}

}  // namespace

}  // namespace cdom::dra
