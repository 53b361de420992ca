// With a shell that prints what compute-domain-imex would find.
#include "imex/host/node_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <filesystem>

#include "base/directory.h"
#include "compute_domain/base/files.h"
#include "imex/rig.h"

namespace cdom::imex {
namespace {

using base::NodeLack;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kOneLack[] = "lack reason=CdiNotRead message=CDI:%20off\nlooked\n";
const NodeLack kNoCdi{"CdiNotRead", "CDI: off"};

// Prints the file `found`, once there is no file `held`, and says in the file `asked` with which
// arguments it was run.
std::vector<std::string> command_in(const base::Directory& dir) {
  return {"/bin/sh", "-c",
          "echo \"$0${1:+ $1}\" > " + dir.at("asked") + "; while [ -e " + dir.at("held") +
              " ]; do sleep 0.01; done; while read -r line; do echo \"$line\"; done < " +
              dir.at("found")};
}

class NodeWatchTest : public testing::Test {
 protected:
  NodeWatchTest() { dir_.write("found", "looked\n"); }
  // Until the process that looks has ended, and the one that is to confirm it; whether they brought
  // news.
  bool hears_news() {
    if (looks_once()) return true;
    if (watch_.next_due() != clock_.elapsed() + seconds(3)) return false;
    clock_.advance(seconds(3));
    return looks_once();
  }
  bool looks_once() {
    const base::SystemClock clock;
    const base::Duration end = clock.elapsed() + seconds(10);
    while (clock.elapsed() < end) {
      if (watch_.step()) return true;
      const Child* process = watch_.process().child();
      if (process == nullptr) return false;
      pollfd exit{.fd = process->exit_descriptor(), .events = POLLIN, .revents = 0};
      poll(&exit, 1, 1'000);
    }
    return false;
  }
  [[nodiscard]] std::string asked() const {
    const auto text = base::read_file(dir_.at("asked"));
    return text ? *text : "";
  }

  const base::Directory dir_;
  base::ManualClock clock_;
  NodeWatch watch_{{.command = command_in(dir_)}, clock_};
};

TEST_F(NodeWatchTest, LooksWhenAnAgentComesAndLessAndLessOftenWhileNothingChanges) {
  EXPECT_FALSE(hears_news());
  EXPECT_EQ(watch_.next_due(), std::nullopt);
  EXPECT_EQ(asked(), "") << "there is nobody to be told";
  EXPECT_FALSE(watch_.lacks());
  watch_.look_for("/etc/cdi");
  ASSERT_TRUE(hears_news());
  EXPECT_EQ(asked(), "--cdi-root=/etc/cdi --agents=0\n");
  EXPECT_THAT(*watch_.lacks(), IsEmpty());
  for (const int seconds_to_next : {10, 20, 40, 80, 160, 300, 300}) {
    EXPECT_EQ(watch_.next_due(), clock_.elapsed() + seconds(seconds_to_next));
    clock_.advance(seconds(seconds_to_next));
    EXPECT_FALSE(hears_news());
  }
  dir_.write("found", kOneLack);
  clock_.advance(minutes(5));
  ASSERT_TRUE(hears_news());
  EXPECT_THAT(*watch_.lacks(), ElementsAre(kNoCdi));
  EXPECT_EQ(watch_.next_due(), clock_.elapsed() + seconds(10)) << "somebody may be mending it";
}

TEST_F(NodeWatchTest, LooksAtOnceForAnAgentThatComesAnew) {
  watch_.look_for("");
  EXPECT_TRUE(hears_news());
  clock_.advance(seconds(1));
  dir_.write("found", kOneLack);
  watch_.look_for("/etc/cdi");
  ASSERT_TRUE(hears_news());
  EXPECT_EQ(asked(), "--cdi-root=/etc/cdi --agents=0\n");
}

TEST_F(NodeWatchTest, OfALookThatDoesNotEndKeepsWhatWasKnown) {
  dir_.write("found", kOneLack);
  watch_.look_for("");
  ASSERT_TRUE(hears_news());
  for (const char* cut : {"", "lack reason=OtherPlugin message=x\n"}) {
    dir_.write("found", cut);
    clock_.advance(minutes(5));
    EXPECT_FALSE(hears_news()) << cut;
    EXPECT_THAT(*watch_.lacks(), ElementsAre(kNoCdi)) << cut;
  }
}

TEST_F(NodeWatchTest, NewsIsWhatTwoLooksHaveFound) {
  watch_.look_for("");
  EXPECT_FALSE(looks_once()) << "also that nothing is: its predecessor may have told of something";
  EXPECT_FALSE(watch_.lacks());
  clock_.advance(seconds(3));
  ASSERT_TRUE(looks_once());
  // An agent that comes listens before it is connected.
  clock_.advance(minutes(5));
  dir_.write("found", kOneLack);
  EXPECT_FALSE(looks_once());
  EXPECT_EQ(watch_.next_due(), clock_.elapsed() + seconds(3));
  clock_.advance(seconds(3));
  dir_.write("found", "looked\n");
  EXPECT_FALSE(looks_once());
  EXPECT_THAT(*watch_.lacks(), IsEmpty());
  clock_.advance(minutes(5));
  dir_.write("found", kOneLack);
  EXPECT_FALSE(looks_once());
  clock_.advance(seconds(3));
  EXPECT_TRUE(looks_once());
  EXPECT_THAT(*watch_.lacks(), ElementsAre(kNoCdi));
  // And so is its end.
  clock_.advance(minutes(5));
  dir_.write("found", "looked\n");
  EXPECT_FALSE(looks_once());
  EXPECT_THAT(*watch_.lacks(), ElementsAre(kNoCdi));
}

TEST_F(NodeWatchTest, LogsALackOnceAndItsEnd) {
  const auto log_of = [&](const std::string& found) {
    dir_.write("found", found);
    clock_.advance(minutes(5));
    testing::internal::CaptureStderr();
    EXPECT_TRUE(hears_news());
    return testing::internal::GetCapturedStderr();
  };
  watch_.look_for("");
  EXPECT_THAT(log_of(kOneLack), HasSubstr("reason=CdiNotRead"));
  const std::string more = log_of("lack reason=PortTaken message=x\n" + std::string(kOneLack));
  EXPECT_THAT(more, HasSubstr("reason=PortTaken"));
  EXPECT_THAT(more, Not(HasSubstr("CdiNotRead"))) << "it was told";
  const std::string none = log_of("looked\n");
  EXPECT_THAT(none, HasSubstr("no longer lacks this reason=CdiNotRead"));
  EXPECT_THAT(none, HasSubstr("no longer lacks this reason=PortTaken"));
}

TEST_F(NodeWatchTest, ALookBesideWhichAnAgentComesOrGoesCountsNot) {
  watch_.see_agents(1);
  watch_.look_for("");
  ASSERT_TRUE(hears_news());
  EXPECT_EQ(asked(), "--agents=1\n");
  dir_.write("found", kOneLack);
  for (const int agents : {2, 1, 2}) {
    clock_.advance(minutes(5));
    dir_.write("held", "");
    EXPECT_FALSE(watch_.step());
    watch_.see_agents(agents);
    std::filesystem::remove(dir_.at("held"));
    EXPECT_FALSE(looks_once()) << agents;
  }
  clock_.advance(seconds(3));
  EXPECT_FALSE(looks_once()) << "the first";
  clock_.advance(seconds(3));
  EXPECT_TRUE(looks_once());
}

// NVML says it, which the look does not ask; and its answer may come after the first look.
TEST_F(NodeWatchTest, TellsTheLookThatPersistenceModeIsOnAndLooksAnewWhenThatChanges) {
  watch_.look_for("");
  ASSERT_TRUE(hears_news());
  watch_.see_persistence(true);
  EXPECT_EQ(watch_.next_due(), clock_.elapsed());
  EXPECT_FALSE(looks_once());
  EXPECT_EQ(asked(), "--agents=0 --persistent\n");
  watch_.see_persistence(true);
  EXPECT_EQ(watch_.next_due(), clock_.elapsed() + seconds(20));
  watch_.see_persistence(false);
  EXPECT_EQ(watch_.next_due(), clock_.elapsed());
  EXPECT_FALSE(looks_once());
  EXPECT_EQ(asked(), "--agents=0\n");
}

TEST_F(NodeWatchTest, ALookThatBeganBeforeNvmlsAnswerCountsNot) {
  dir_.write("found", kOneLack);
  watch_.look_for("");
  EXPECT_FALSE(looks_once());
  clock_.advance(seconds(3));
  dir_.write("held", "");
  EXPECT_FALSE(watch_.step()) << "the one that would confirm it has begun";
  watch_.see_persistence(true);
  std::filesystem::remove(dir_.at("held"));
  // The next one begins when that one has died.
  for (int i = 0; i < 1000 && asked() != "--agents=0 --persistent\n"; ++i) {
    clock_.advance(seconds(1));
    EXPECT_FALSE(looks_once());
    poll(nullptr, 0, 10);
  }
  EXPECT_FALSE(watch_.lacks()) << "it is the first that knows";
  clock_.advance(seconds(3));
  EXPECT_TRUE(looks_once());
}

TEST(NodeWatch, KillsALookThatHangsAndKeepsWhatWasKnown) {
  const base::Directory dir;
  base::ManualClock clock;
  NodeWatch watch({.command = {"/bin/sh", "-c", "exec sleep 600"}}, clock);
  watch.look_for("");
  EXPECT_FALSE(watch.step());
  ASSERT_NE(watch.process().child(), nullptr);
  clock.advance(seconds(31));
  testing::internal::CaptureStderr();
  EXPECT_FALSE(watch.step());
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("did not end in time"));
  EXPECT_EQ(watch.process().child(), nullptr);
  EXPECT_FALSE(watch.lacks());
  EXPECT_GT(*watch.next_due(), clock.elapsed());
}

TEST(NodeWatch, LooksNoMoreOnceItHasEnded) {
  base::ManualClock clock;
  NodeWatch watch({.command = {"/bin/sh", "-c", "exec sleep 600"}}, clock);
  watch.look_for("");
  EXPECT_FALSE(watch.step());
  watch.end();
  EXPECT_EQ(watch.process().child(), nullptr);
  EXPECT_EQ(watch.next_due(), std::nullopt) << "whoever waits for it would not wait";
  clock.advance(minutes(5));
  EXPECT_FALSE(watch.step());
}

TEST(NodeWatch, WithoutACommandNobodyLooks) {
  const base::ManualClock clock;
  NodeWatch watch({}, clock);
  watch.look_for("");
  EXPECT_FALSE(watch.step());
  EXPECT_EQ(watch.next_due(), std::nullopt);
}

TEST(ImexSupervisor, TellsItsAgentsWhatTheNodeLacks) {
  Rig rig(0, 1);
  rig.nodes.push_back(std::make_unique<Node>(0));
  Node& node = rig.node(0);
  node.dir.write("found", kOneLack);
  node.options.check_command = command_in(node.dir);
  ASSERT_TRUE(node.open());
  node.connect();
  EXPECT_TRUE(rig.until([&] { return node.agent->state && node.agent->state->lacks; }));
  EXPECT_THAT(*node.agent->state->lacks, ElementsAre(kNoCdi));
  EXPECT_TRUE(node.agent->state->looks);
  EXPECT_EQ(*base::read_file(node.dir.at("asked")), "--agents=1\n");
}

TEST(ImexSupervisor, CountsNobodyAsAnAgentWhoOnlyLooks) {
  Rig rig(0, 1);
  rig.nodes.push_back(std::make_unique<Node>(0));
  Node& node = rig.node(0);
  node.dir.write("found", kOneLack);
  node.options.check_command = command_in(node.dir);
  ASSERT_TRUE(node.open());
  TestAgent onlooker(node.options.socket_path);
  onlooker.send(encode(1, Request(Watch{.cdi_root = "/other", .is_agent = false})));
  EXPECT_TRUE(rig.until([&] {
    onlooker.read();
    return onlooker.state && onlooker.state->lacks;
  })) << "it hears what agents hear";
  EXPECT_EQ(*base::read_file(node.dir.at("asked")), "--agents=1\n");
}

}  // namespace
}  // namespace cdom::imex
