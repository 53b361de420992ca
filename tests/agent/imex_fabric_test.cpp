// The fabric over the real supervisor's socket; the process that asks NVML is a text.
#include "compute_domain/agent/imex_fabric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <functional>
#include <stdexcept>
#include <thread>

#include "imex/host/fabric_line.h"
#include "imex/rig.h"

namespace cdom::agent {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kCluster[] = "6f0a3c52-1c7e-4b1f-9d53-0c2f6c2b7a10";
constexpr char kClique7[] = "6f0a3c52-1c7e-4b1f-9d53-0c2f6c2b7a10.7";

FabricFacts in_clique(std::uint32_t clique) {
  FabricFacts facts{.source = "text", .driver_version = "580.65.06"};
  facts.gpus = {{.uuid = "GPU-0",
                 .state = FabricState::Completed,
                 .cluster_uuid = kCluster,
                 .clique_id = clique,
                 .health = FabricHealth::Healthy}};
  return facts;
}

class ImexFabricTest : public testing::Test {
 protected:
  ImexFabricTest() { node_.options.fabric_command = {"/bin/cat", node_.dir.at("facts")}; }

  // A supervisor that reads these, in place of an earlier one.
  void open_supervisor(const FabricFacts& facts) {
    close_supervisor();
    node_.dir.write("facts", imex::encode_line(imex::line_of(facts)));
    if (const auto opened = node_.open(); !opened) throw std::logic_error(opened.error().message);
    thread_ = std::jthread([this](const std::stop_token& stop) { node_.supervisor->run(stop); });
  }
  void close_supervisor() {
    thread_ = {};
    node_.close();
  }
  core::FabricReading read_until(const std::function<bool(const core::FabricReading&)>& holds) {
    const base::SystemClock clock;
    const base::Duration end = clock.elapsed() + imex::kPatience;
    core::FabricReading reading = fabric_.read();
    while (!holds(reading) && clock.elapsed() < end) {
      pollfd news{.fd = client_.descriptor(), .events = POLLIN, .revents = 0};
      poll(&news, 1, 20);
      reading = fabric_.read();
    }
    return reading;
  }
  // Another than the last that this returned.
  core::FabricReading next_reading() {
    return last_ = read_until([this](const core::FabricReading& now) { return !(now == last_); });
  }

  imex::Node node_{0};
  ImexClient client_{node_.options.socket_path, "agent", node_.clock, {}, imex::kPatience};
  base::ManualClock clock_;
  ImexFabric fabric_{client_, FabricMode::Strict, clock_};
  core::FabricReading last_;
  std::jthread thread_;
};

TEST_F(ImexFabricTest, IsWhatTheSupervisorTells) {
  open_supervisor(in_clique(7));
  EXPECT_EQ(next_reading(), (core::FabricReading{kClique7, {}}));
}

TEST_F(ImexFabricTest, OfASupervisorThatIsAwayIsWhatItSaidLast) {
  open_supervisor(in_clique(7));
  EXPECT_EQ(next_reading().clique, kClique7);
  close_supervisor();
  clock_.advance(std::chrono::hours(1));
  EXPECT_EQ(fabric_.read().clique, kClique7);
}

TEST_F(ImexFabricTest, OfASupervisorThatNeverCameIsUnknownAndSaysSoAfterAWhile) {
  EXPECT_EQ(fabric_.read(), core::FabricReading());
  clock_.advance(seconds(15));
  EXPECT_THAT(fabric_.read().error, HasSubstr("compute-domain-imex"));
}

TEST_F(ImexFabricTest, OfAnOlderSupervisorIsUnknownAndSaysWhatToDo) {
  node_.options.fabric_command = {};
  open_supervisor({});
  EXPECT_EQ(read_until([&](const auto&) { return client_.descriptor() >= 0; }),
            core::FabricReading());
  clock_.advance(seconds(15));
  EXPECT_THAT(fabric_.read().error, AllOf(HasSubstr("older than the agent"), HasSubstr("drain")));
  // Or it may not ask.
  EXPECT_TRUE(client_.pause_driver(true));
  EXPECT_THAT(fabric_.read().error, HasSubstr("while the GPU driver is being replaced"));
}

TEST_F(ImexFabricTest, ACliqueIsNotLostByFactsWithoutOne) {
  open_supervisor(in_clique(7));
  EXPECT_EQ(next_reading().clique, kClique7);
  FabricFacts without = in_clique(7);
  without.gpus.clear();
  open_supervisor(without);
  const core::FabricReading reading = next_reading();
  EXPECT_EQ(reading.clique, std::nullopt);
  EXPECT_THAT(reading.error, AllOf(HasSubstr(kClique7), HasSubstr("restart the agent")));
  open_supervisor(in_clique(7));
  EXPECT_EQ(next_reading(), (core::FabricReading{kClique7, {}}));
}

TEST_F(ImexFabricTest, WhatIsWrongBesideStaysWhileTheDriverDoesNotAnswer) {
  FabricFacts old = in_clique(7);
  old.driver_version = "560.35.03";
  open_supervisor(old);
  const auto faults = next_reading().faults;
  EXPECT_EQ(faults.size(), 1U);
  FabricFacts silent;
  silent.error = "NVML has not answered for 10s";
  open_supervisor(silent);
  const core::FabricReading reading = next_reading();
  EXPECT_EQ(reading.error, silent.error);
  EXPECT_EQ(reading.faults, faults);
}

}  // namespace
}  // namespace cdom::agent
