#include "cli/health/metrics_access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "cli/metrics_rig.h"

namespace cdom::cli {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Answer = MetricsAccess::Answer;

constexpr char kToken[] = "tokenreviews", kAccess[] = "subjectaccessreviews";

struct Access : ::testing::Test {
  MetricsRig rig;
  const std::string reader = rig.token_of("prometheus"), stranger = rig.token_of("stranger");
  MetricsAccess access{rig.client, rig.clock, "/metrics"};

  std::future<Answer> begin(const std::string& token) {
    const auto promise = std::make_shared<std::promise<Answer>>();
    access.ask(token, [promise](Answer answer) { promise->set_value(answer); });
    return promise->get_future();
  }
  Answer ask(const std::string& token) { return begin(token).get(); }
  // What was asked of the API server for this token now.
  std::vector<std::string> asked_for(const std::string& token) {
    const std::size_t before = rig.line.asked().size();
    ask(token);
    const std::vector<std::string> all = rig.line.asked();
    return {all.begin() + before, all.end()};
  }
};

TEST_F(Access, IsForAUserWithTheRight) {
  EXPECT_EQ(ask(reader), Answer::Allowed);
  EXPECT_EQ(ask(stranger), Answer::NotAllowed);
  EXPECT_EQ(ask("guess"), Answer::UnknownToken);
}

TEST_F(Access, AsksAgainOnlyWhenAnAnswerIsOld) {
  EXPECT_THAT(asked_for(reader), ElementsAre(kToken, kAccess));
  EXPECT_THAT(asked_for(reader), IsEmpty());
  rig.clock.advance(seconds(60));
  EXPECT_THAT(asked_for(reader), ElementsAre(kToken));
  rig.clock.advance(minutes(4));
  EXPECT_THAT(asked_for(reader), ElementsAre(kToken, kAccess));
}

TEST_F(Access, BelievesARefusalForAShorterTime) {
  EXPECT_THAT(asked_for(stranger), ElementsAre(kToken, kAccess));
  EXPECT_THAT(asked_for(stranger), IsEmpty());
  rig.clock.advance(seconds(30));
  EXPECT_THAT(asked_for(stranger), ElementsAre(kAccess));
  EXPECT_THAT(asked_for("guess"), ElementsAre(kToken));
  EXPECT_THAT(asked_for("guess"), IsEmpty());
  rig.clock.advance(seconds(60));
  EXPECT_THAT(asked_for("guess"), ElementsAre(kToken));
}

TEST_F(Access, BadTokensPushOutNoGoodOne) {
  ask(reader);
  for (int i = 0; i < 300; ++i) ask(std::to_string(i));
  EXPECT_THAT(asked_for(reader), IsEmpty());
  EXPECT_THAT(asked_for("0"), ElementsAre(kToken));  // what is remembered is bounded
}

TEST_F(Access, RemembersNothingOfAServerThatIsAway) {
  rig.line.cut(true);
  EXPECT_EQ(ask(reader), Answer::NotKnown);
  rig.line.cut(false);
  EXPECT_EQ(ask(reader), Answer::Allowed);
  rig.line.cut(true);
  EXPECT_EQ(ask(reader), Answer::Allowed);
}

TEST_F(Access, AFewMayWaitAndAskOnce) {
  rig.line.hang(true);
  std::vector<std::future<Answer>> waiting;
  waiting.push_back(begin(reader));
  rig.line.await_one_that_hangs();
  for (std::size_t i = 0; i < MetricsAccess::kMostWaiting; ++i) waiting.push_back(begin(reader));
  EXPECT_EQ(ask(reader), Answer::Busy);
  rig.line.hang(false);
  for (auto& each : waiting) EXPECT_EQ(each.get(), Answer::Allowed);
  EXPECT_THAT(rig.line.asked(), ElementsAre(kToken, kAccess));
}

TEST_F(Access, NobodyWaitsLongerThanAScraper) {
  rig.line.hang(true);
  auto first = begin(reader);
  rig.line.await_one_that_hangs();
  auto second = begin(stranger);
  rig.clock.advance(seconds(10));
  rig.line.hang(false);
  EXPECT_EQ(first.get(), Answer::Allowed);
  EXPECT_EQ(second.get(), Answer::NotKnown);
  EXPECT_THAT(rig.line.asked(), SizeIs(2));
}

TEST_F(Access, LogsNoToken) {
  testing::internal::CaptureStderr();
  ask(reader);
  ask("guess-of-somebody");
  rig.line.cut(true);
  ask(stranger);
  ask("another-guess");
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, ::testing::HasSubstr("cannot ask the API server who may read the metrics"));
  EXPECT_EQ(log.find("cannot ask"), log.rfind("cannot ask"));
  for (const std::string& token : {reader, stranger, std::string("guess")}) {
    EXPECT_THAT(log, ::testing::Not(::testing::HasSubstr(token)));
  }
}

}  // namespace
}  // namespace cdom::cli
