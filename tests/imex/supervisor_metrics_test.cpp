#include "imex/supervisor_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include "compute_domain/base/text.h"
#include "imex/rig.h"
#include "nvidia/driver.h"

namespace cdom::imex {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kMixedView[] = R"({"nodes": {"0": {"status": "READY", "connections": {
  "1": {"status": "CONNECTED"}, "2": {"status": "RECOVERING"}, "3": {"status": "NEVER_CONNECTED"}}}}})";

// Of four slots: this node's, two that are nodes', and one that nobody has.
struct Counted {
  base::ManualClock clock;
  base::Registry registry;
  DaemonKeeper keeper{clock, base::Random(1)};
  SupervisorMetrics metrics{&registry, clock};

  void start() {
    keeper.set_hosts({"10.0.0.1\ta\n10.0.0.2\tb\n10.0.0.3\tc\n127.0.0.2\td\n", "r1"});
    ASSERT_TRUE(keeper.want({"g", 0, "a\nb\nc\nd\n", "hash", "10.0.0.1"}));
    ASSERT_TRUE(keeper.next());
    keeper.started();
    metrics.started();
    metrics.see(keeper);
  }
  // The next question, with this answer.
  AskTool::Question answer(ToolAnswer::Outcome outcome, const std::string& text) {
    clock.advance(std::max(*keeper.next_due() - clock.elapsed(), base::Duration::zero()));
    const AskTool::Question question = std::get<AskTool>(*keeper.next()).question;
    keeper.answered({outcome, text});
    metrics.answered(question, outcome, keeper);
    metrics.see(keeper);
    return question;
  }
  std::string text() const { return registry.render(); }
};

std::size_t series_in(const std::string& text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    count += text[at] == '#' ? 0 : 1;
  }
  return count;
}

TEST(SupervisorMetrics, HaveAllButTheTimesFromTheStart) {
  Counted counted;
  counted.metrics.see(counted.keeper);
  EXPECT_THAT(counted.text(),
              AllOf(HasSubstr("compute_domain_imex_state{state=\"Stopped\"} 1\n"),
                    HasSubstr("compute_domain_imex_state{state=\"Ready\"} 0\n"),
                    HasSubstr("compute_domain_imex_peers{state=\"Connected\"} 0\n"),
                    HasSubstr("compute_domain_imex_deaths_total 0\n"),
                    HasSubstr("compute_domain_imex_starts_total{outcome=\"Started\"} 0\n"),
                    HasSubstr("compute_domain_imex_questions_total{outcome=\"Silence\","
                              "question=\"View\"} 0\n"),
                    Not(HasSubstr("timestamp")), Not(HasSubstr("fabric"))));
}

TEST(SupervisorMetrics, TellTheStateAndThePeersThatAreAwaited) {
  Counted counted;
  counted.start();
  EXPECT_THAT(counted.text(), AllOf(HasSubstr("state{state=\"Starting\"} 1\n"),
                                    HasSubstr("peers{state=\"NotKnown\"} 2\n")));
  EXPECT_EQ(counted.answer(ToolAnswer::Outcome::Answer, "READY\n"), AskTool::Question::State);
  EXPECT_EQ(counted.answer(ToolAnswer::Outcome::Answer, kMixedView), AskTool::Question::View);
  EXPECT_THAT(counted.text(), AllOf(HasSubstr("state{state=\"Ready\"} 1\n"),
                                    HasSubstr("state{state=\"Starting\"} 0\n"),
                                    HasSubstr("peers{state=\"Connected\"} 1\n"),
                                    HasSubstr("peers{state=\"Recovering\"} 1\n"),
                                    HasSubstr("peers{state=\"NotKnown\"} 0\n"),
                                    // The fourth slot is nobody's.
                                    HasSubstr("peers{state=\"NeverConnected\"} 0\n")));
}

TEST(SupervisorMetrics, TellWhenItWasReadyAndCountWhatTheToolAnswers) {
  Counted counted;
  counted.start();
  counted.answer(ToolAnswer::Outcome::Refusal, "connection refused");
  EXPECT_THAT(counted.text(), Not(HasSubstr("last_ready")));
  counted.answer(ToolAnswer::Outcome::Answer, "READY\n");
  counted.answer(ToolAnswer::Outcome::Answer, kMixedView);
  const std::string ready = counted.text();
  ASSERT_THAT(ready, HasSubstr("compute_domain_imex_last_ready_timestamp_seconds "));
  const auto last_ready = [](const std::string& text) {
    const auto at = text.find("\ncompute_domain_imex_last_ready_timestamp_seconds ");
    return text.substr(at, text.find('\n', at + 1) - at);
  };
  // A daemon that hangs is not READY again, however often it is asked.
  for (int i = 0; i < 3; ++i) counted.answer(ToolAnswer::Outcome::Silence, "");
  const std::string hung = counted.text();
  EXPECT_EQ(last_ready(hung), last_ready(ready));
  EXPECT_THAT(hung,
              AllOf(HasSubstr("state{state=\"Failed\"} 1\n"),
                    HasSubstr("questions_total{outcome=\"Answer\",question=\"View\"} 1\n"),
                    HasSubstr("questions_total{outcome=\"Refusal\",question=\"State\"} 1\n")));
  counted.answer(ToolAnswer::Outcome::Answer, "READY\n");
  EXPECT_NE(last_ready(counted.text()), last_ready(ready));
}

TEST(SupervisorMetrics, CountDeathsAndNotEndsThatWereAskedFor) {
  Counted counted;
  counted.start();
  counted.keeper.ended("was ended by SIGKILL");
  counted.metrics.see(counted.keeper);
  EXPECT_THAT(counted.text(),
              AllOf(HasSubstr("deaths_total 1\n"), HasSubstr("peers{state=\"NotKnown\"} 0\n"),
                    HasSubstr("state{state=\"Failed\"} 1\n")));
  counted.metrics.failed_to_start();
  counted.start();
  counted.keeper.stop();
  counted.keeper.ended("exited with code 0");
  counted.metrics.see(counted.keeper);
  EXPECT_THAT(counted.text(), AllOf(HasSubstr("deaths_total 1\n"),
                                    HasSubstr("starts_total{outcome=\"Started\"} 2\n"),
                                    HasSubstr("starts_total{outcome=\"Failed\"} 1\n"),
                                    HasSubstr("state{state=\"Stopped\"} 1\n")));
}

// As an agent: what an unreadable fabric has said of its health before stands.
TEST(SupervisorMetrics, TellWhatIsWrongWithTheFabricByTheLastAnswer) {
  Counted counted;
  nvidia::GpuFacts gpu{.state = nvidia::FabricState::Completed, .cluster_uuid = "c"};
  const auto answer = [&](const std::string& error) {
    counted.metrics.see(nvidia::verdict_of({.gpus = {gpu}, .error = error}, {}));
    const std::string text = counted.text();
    return std::pair(text.find("fabric_error{reason=\"FabricUnreadable\"} 1\n") < text.size(),
                     text.find("fabric_error{reason=\"FabricUnhealthy\"} 1\n") < text.size());
  };
  EXPECT_EQ(answer(""), std::pair(false, false));
  EXPECT_THAT(
      counted.text(),
      AllOf(HasSubstr("compute_domain_imex_fabric_error{reason=\"FabricUnhealthy\"} 0\n"),
            HasSubstr("compute_domain_imex_fabric_error{reason=\"FabricUnreadable\"} 0\n")));
  gpu.health = nvidia::FabricHealth::Unhealthy;
  EXPECT_EQ(answer(""), std::pair(false, true));
  EXPECT_EQ(answer("NVML does not answer"), std::pair(true, true));
  EXPECT_EQ(answer(""), std::pair(false, true));
  gpu.health = nvidia::FabricHealth::Healthy;
  EXPECT_EQ(answer(""), std::pair(false, false));
  gpu.error = "GPU is lost";
  EXPECT_EQ(answer(""), std::pair(true, false));
}

TEST(SupervisorMetrics, HaveASeriesForEachKnownValueAndNoMore) {
  Counted counted;
  counted.start();
  counted.answer(ToolAnswer::Outcome::Answer, "READY\n");
  counted.answer(ToolAnswer::Outcome::Answer,
                 R"({"nodes": {"0": {"status": "READY", "connections": {
    "1": {"status": "OF_A_LATER_VERSION"}, "2": {"status": "CONNECTED"}}}}})");
  EXPECT_EQ(series_in(counted.text()), 27U) << counted.text();
  counted.metrics.see(nvidia::FabricVerdict{});
  EXPECT_EQ(series_in(counted.text()), 29U) << counted.text();
}

// The text of a scrape of many series, which takes a while, has what was counted meanwhile.
TEST(SupervisorMetrics, AreCountedAlsoWhileAScrapeGoesOn) {
  Counted counted;
  counted.start();
  counted.answer(ToolAnswer::Outcome::Answer, "READY\n");
  for (int i = 0; i < 200'000; ++i) {
    counted.registry.counter("a_that_comes_first", "", {{"number", std::to_string(i)}});
  }
  int starts = 1, deaths = 0;
  std::string text;
  const auto has_all = [&] {
    const std::string started = base::cat("starts_total{outcome=\"Started\"} ", starts, "\n");
    const std::string failed = base::cat("starts_total{outcome=\"Failed\"} ", deaths, "\n");
    return text.find(started) != std::string::npos && text.find(failed) != std::string::npos &&
           text.find(base::cat("deaths_total ", deaths, "\n")) != std::string::npos;
  };
  // A machine that is busy may be late once, and not each time.
  for (int i = 0; i < 5 && (i == 0 || !has_all()); ++i) {
    std::atomic<bool> has_begun = false;
    std::jthread scraper([&] {
      has_begun = true;
      text = counted.text();
    });
    while (!has_begun) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    counted.keeper.ended("was ended by SIGKILL");
    counted.metrics.failed_to_start();
    counted.keeper.started();
    counted.metrics.started();
    counted.metrics.see(counted.keeper);
    ++starts, ++deaths;
    scraper.join();
  }
  EXPECT_TRUE(has_all()) << text.substr(text.find("# HELP compute"));
}

TEST(SupervisorMetrics, AreThoseOfARealSupervisor) {
  Rig rig(0, 1);
  base::Registry registry;  // outlives the supervisor
  rig.nodes.push_back(std::make_unique<Node>(0));
  rig.node(0).options.metrics = &registry;
  ASSERT_TRUE(rig.node(0).open());
  rig.start(0);
  ASSERT_TRUE(rig.until_phase(0, DaemonPhase::Ready));
  EXPECT_THAT(registry.render(), AllOf(HasSubstr("state{state=\"Ready\"} 1\n"),
                                       HasSubstr("starts_total{outcome=\"Started\"} 1\n"),
                                       HasSubstr("last_start_timestamp_seconds "),
                                       HasSubstr("last_ready_timestamp_seconds ")));
  kill(daemon_pids().at(0), SIGKILL);
  EXPECT_TRUE(rig.until([&] {
    return registry.render().find("starts_total{outcome=\"Started\"} 2\n") != std::string::npos;
  }));
  EXPECT_THAT(registry.render(), HasSubstr("deaths_total 1\n"));
  rig.node(0).close();
}

// Strict and legacy: a GPU that has not joined its fabric.
TEST(SupervisorMetrics, JudgeTheFabricOfARealSupervisorByItsMode) {
  const nvidia::Driver driver(R"({"gpus": [{"state": 2}]})");
  for (const auto mode : {nvidia::FabricMode::Strict, nvidia::FabricMode::Legacy}) {
    Rig rig(0, 1);
    base::Registry registry;
    rig.nodes.push_back(std::make_unique<Node>(0));
    Node& node = rig.node(0);
    node.options.metrics = &registry;
    node.options.fabric_mode = mode;
    node.options.fabric_command = {CDOM_IMEX_PROGRAM, "fabric", "--lines",
                                   "--driver-root=" + driver.options().driver_root};
    ASSERT_TRUE(node.open());
    EXPECT_THAT(registry.render(), Not(HasSubstr("fabric_error")));
    EXPECT_TRUE(rig.until([&] {
      return registry.render().find(base::cat("fabric_error{reason=\"FabricUnreadable\"} ",
                                              mode == nvidia::FabricMode::Strict ? 1 : 0, "\n")) !=
             std::string::npos;
    }));
    node.close();
  }
}

TEST(SupervisorMetrics, CountAStartThatFails) {
  Rig rig(0, 1);
  base::Registry registry;
  rig.nodes.push_back(std::make_unique<Node>(0));
  rig.node(0).options.metrics = &registry;
  ASSERT_TRUE(rig.node(0).open());
  std::filesystem::remove(rig.node(0).dir.at("root/usr/bin/nvidia-imex"));
  EXPECT_TRUE(rig.ask(rig.node(0), rig.want(0)));
  EXPECT_THAT(registry.render(), AllOf(HasSubstr("starts_total{outcome=\"Failed\"} 1\n"),
                                       HasSubstr("starts_total{outcome=\"Started\"} 0\n")));
  rig.node(0).close();
}

}  // namespace
}  // namespace cdom::imex
