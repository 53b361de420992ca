#include "dra/health_streams.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace cdom::dra {

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<DeviceHealth> channel(Health health) {
  return {{.pool = "node-1", .device = "channel-0", .health = health, .message = ""}};
}

// Notes what it is told; writes end when the test says so.
class NotingStream : public HealthStream {
 public:
  void write(const HealthMessage& message) override { messages.push_back(message); }
  void finish() override { ++finished; }

  [[nodiscard]] std::vector<Health> told() const {
    std::vector<Health> all;
    for (const HealthMessage& message : messages) all.push_back(message.devices.front().health);
    return all;
  }

  std::vector<HealthMessage> messages;
  int finished = 0;
};

class HealthStreamsTest : public testing::Test {
 protected:
  base::ManualClock clock_;
  HealthStreams streams_{clock_};
  NotingStream stream_;
};

TEST_F(HealthStreamsTest, TellNothingBeforeThereIsSomething) {
  streams_.open(stream_);
  streams_.repeat();
  EXPECT_THAT(stream_.messages, IsEmpty());
}

TEST_F(HealthStreamsTest, TellEachChangeAndNothingElse) {
  streams_.open(stream_);
  streams_.set(channel(Health::Healthy));
  streams_.written(stream_, true);
  streams_.set(channel(Health::Healthy));
  streams_.set(channel(Health::Unhealthy));

  EXPECT_THAT(stream_.told(), ElementsAre(Health::Healthy, Health::Unhealthy));
}

TEST_F(HealthStreamsTest, RepeatAsOfTheTimeOfTheRepetition) {
  streams_.set(channel(Health::Healthy));
  streams_.open(stream_);
  streams_.written(stream_, true);
  clock_.advance(std::chrono::seconds(10));
  streams_.repeat();

  ASSERT_EQ(stream_.messages.size(), 2U);
  EXPECT_EQ(stream_.messages[1].as_of - stream_.messages[0].as_of, std::chrono::seconds(10));
}

TEST_F(HealthStreamsTest, TellTheNewestToOneThatIsSlow) {
  streams_.open(stream_);
  streams_.set(channel(Health::Healthy));
  streams_.set(channel(Health::Unhealthy));
  streams_.set(channel(Health::Unknown));
  EXPECT_THAT(stream_.told(), ElementsAre(Health::Healthy));
  streams_.written(stream_, true);

  EXPECT_THAT(stream_.told(), ElementsAre(Health::Healthy, Health::Unknown));
}

TEST_F(HealthStreamsTest, FinishAStreamWhoseReaderIsGoneOnceAndWhenItIsIdle) {
  streams_.open(stream_);
  streams_.set(channel(Health::Healthy));
  streams_.gone(stream_);
  EXPECT_EQ(stream_.finished, 0);
  streams_.written(stream_, false);
  EXPECT_EQ(stream_.finished, 1);
  streams_.set(channel(Health::Unhealthy));
  streams_.end();

  EXPECT_EQ(stream_.finished, 1);
  EXPECT_THAT(stream_.told(), ElementsAre(Health::Healthy));
}

TEST_F(HealthStreamsTest, FinishAllAtTheEndAndThoseThatComeLater) {
  NotingStream late;
  streams_.open(stream_);
  streams_.end();
  streams_.open(late);

  EXPECT_EQ(stream_.finished, 1);
  EXPECT_EQ(late.finished, 1);
}

TEST_F(HealthStreamsTest, ForgetAStreamThatIsClosed) {
  streams_.open(stream_);
  streams_.gone(stream_);
  streams_.closed(stream_);
  streams_.set(channel(Health::Healthy));

  EXPECT_THAT(stream_.messages, IsEmpty());
}

// A stream whose writes end at once, and which is closed as soon as it may be.
class QuickStream : public HealthStream {
 public:
  explicit QuickStream(HealthStreams& streams) : streams_(streams) {}
  void write(const HealthMessage& /*message*/) override { streams_.written(*this, true); }
  void finish() override {
    streams_.closed(*this);
    delete this;
  }

 private:
  HealthStreams& streams_;
};

TEST_F(HealthStreamsTest, MayBeUsedByManyThreads) {
  std::vector<std::jthread> threads;
  threads.reserve(3);
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        auto* const stream = new QuickStream(streams_);
        streams_.open(*stream);
        streams_.set(channel(round % 2 == 0 ? Health::Healthy : Health::Unhealthy));
        streams_.gone(*stream);
      }
    });
  }
  threads.clear();
  streams_.end();
}

}  // namespace

}  // namespace cdom::dra
