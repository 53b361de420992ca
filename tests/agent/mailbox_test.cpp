#include "compute_domain/agent/mailbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace cdom::agent {
namespace {

using std::chrono::seconds;
using testing::_;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class MailboxTest : public testing::Test {
 protected:
  // The reply is noted as "a: error".
  void post(Operation operation, const std::string& name, std::stop_token stop = {},
            const std::string& ns = "team-a") {
    mailbox_.post({operation,
                   {ns, name, name + "-uid"},
                   [this, name](const CallAnswer& answer) {
                     replies_.push_back(name + ": " + answer.error);
                     took_ = answer.took;
                   },
                   std::move(stop)});
  }
  void prepare(const std::string& name, std::stop_token stop = {}) {
    post(Operation::Prepare, name, std::move(stop));
  }
  void prepare_in(const std::string& ns, const std::string& name) {
    post(Operation::Prepare, name, {}, ns);
  }
  void unprepare(const std::string& name, std::stop_token stop = {}) {
    post(Operation::Unprepare, name, std::move(stop));
  }
  auto answer(Operation operation, const std::string& name, const std::string& error = "") {
    return mailbox_.answer(operation, name + "-uid", {.error = error});
  }
  // "+a" for a prepare, "-a" for an unprepare.
  std::vector<std::string> seen() {
    core::NodeWorld world;
    mailbox_.show(world);
    std::vector<std::string> all;
    for (const auto& wanted : world.prepares) all.push_back("+" + wanted.claim.name);
    for (const auto& wanted : world.unprepares) all.push_back("-" + wanted.claim.name);
    return all;
  }

  base::ManualClock clock_;
  int news_ = 0;
  Mailbox mailbox_{clock_, [this] { ++news_; }, {.most = 4, .patience = seconds(42)}};
  std::vector<std::string> replies_;
  std::optional<base::Duration> took_;
};

TEST_F(MailboxTest, ShowsEachCallUntilItIsAnswered) {
  prepare("a");
  unprepare("b");
  EXPECT_EQ(news_, 2);
  EXPECT_THAT(seen(), ElementsAre("+a", "-b"));
  clock_.advance(seconds(3));
  EXPECT_EQ(answer(Operation::Prepare, "a", "no slot"), seconds(3));
  EXPECT_THAT(seen(), ElementsAre("-b"));
  EXPECT_THAT(replies_, ElementsAre("a: no slot"));
  EXPECT_EQ(took_, seconds(3));
  EXPECT_EQ(answer(Operation::Prepare, "a"), std::nullopt);
}

// As when kubelet starts again while a plan is carried out.
TEST_F(MailboxTest, GivesNoAnswerToACallThatTheDecisionHasNotSeen) {
  std::stop_source stop;
  prepare("a", stop.get_token());
  EXPECT_THAT(seen(), ElementsAre("+a"));
  stop.request_stop();
  prepare("a");
  EXPECT_EQ(answer(Operation::Prepare, "a", "not ready after 40 s"), std::nullopt);
  EXPECT_THAT(replies_, SizeIs(1));
  EXPECT_THAT(seen(), ElementsAre("+a"));
  EXPECT_TRUE(answer(Operation::Prepare, "a"));
  EXPECT_THAT(replies_, ElementsAre(HasSubstr("given up"), "a: "));
}

TEST_F(MailboxTest, ShowsTheCallsForOneClaimInTheOrderOfTheirArrival) {
  prepare("a");
  unprepare("a");
  prepare("a");
  EXPECT_THAT(seen(), ElementsAre("+a"));
  EXPECT_EQ(answer(Operation::Unprepare, "a"), std::nullopt) << "it has not had its turn";
  clock_.advance(seconds(1));
  const std::uint64_t before = mailbox_.revision();
  answer(Operation::Prepare, "a");
  EXPECT_NE(mailbox_.revision(), before);
  EXPECT_THAT(seen(), ElementsAre("-a"));
  clock_.advance(seconds(1));
  EXPECT_EQ(answer(Operation::Unprepare, "a"), seconds(1)) << "it waits from its turn on";
  EXPECT_THAT(seen(), ElementsAre("+a"));
}

TEST_F(MailboxTest, RefusesMoreThanItHolds) {
  for (const char* name : {"a", "b", "c", "c"}) prepare(name);
  prepare("e");
  EXPECT_THAT(replies_, ElementsAre("e: ResourceClaim \"team-a/e\": 4 other calls are in progress "
                                    "on this node; kubelet tries again"));
  EXPECT_EQ(took_, std::nullopt);
  (void)seen();
  answer(Operation::Prepare, "a");
  prepare("e");
  EXPECT_THAT(seen(), ElementsAre("+b", "+c", "+e"));
}

TEST_F(MailboxTest, HasRoomForUnpreparesBesideAllItsPrepares) {
  for (const char* name : {"a", "b", "c", "d"}) prepare(name);
  for (const char* name : {"e", "f", "g", "h"}) unprepare(name);
  EXPECT_THAT(replies_, IsEmpty());
  unprepare("i");
  prepare("j");
  EXPECT_THAT(replies_, ElementsAre(HasSubstr("i: ResourceClaim \"team-a/i\": 4 other calls"),
                                    HasSubstr("j: ResourceClaim \"team-a/j\": 4 other calls")));
  (void)seen();
  answer(Operation::Unprepare, "e");
  prepare("j");
  EXPECT_THAT(replies_, SizeIs(4)) << "that is room for an unprepare";
  unprepare("i");
  EXPECT_THAT(seen(), ElementsAre("+a", "+b", "+c", "+d", "-f", "-g", "-h", "-i"));
}

TEST_F(MailboxTest, LetsTheNewestOfTheNamespaceWithTheMostPreparesMakeRoomForOthers) {
  prepare_in("team-b", "x");
  for (const char* name : {"c", "b", "a"}) prepare(name);
  unprepare("d");
  clock_.advance(seconds(1));
  const int before = news_;
  prepare_in("team-b", "y");
  EXPECT_GT(news_, before);
  EXPECT_THAT(replies_, ElementsAre("a: ResourceClaim \"team-a/a\": 4 other calls are in progress "
                                    "on this node; kubelet tries again"));
  EXPECT_EQ(took_, seconds(1));
  EXPECT_THAT(seen(), ElementsAre("+b", "+c", "+x", "+y", "-d"));
  EXPECT_EQ(answer(Operation::Prepare, "a"), std::nullopt);
  prepare_in("team-c", "z");
  EXPECT_THAT(replies_, ElementsAre(_, HasSubstr("team-a/b"))) << "of as many, by name";
  EXPECT_THAT(seen(), ElementsAre("+c", "+x", "+y", "+z", "-d"));
}

// Or each would take the other's place in turn.
TEST_F(MailboxTest, RefusesAPrepareOfANamespaceThatHasOneFewer) {
  for (const char* name : {"a", "b"}) prepare(name);
  prepare_in("team-b", "x");
  prepare_in("team-c", "y");
  prepare_in("team-b", "z");
  EXPECT_THAT(replies_, ElementsAre(HasSubstr("z: ResourceClaim \"team-b/z\"")));
  EXPECT_THAT(seen(), ElementsAre("+a", "+b", "+x", "+y"));
}

TEST_F(MailboxTest, GivesTheNextCallForAClaimItsTurnWhenTheFirstMakesRoom) {
  prepare("b");
  prepare("a");
  unprepare("a");
  prepare_in("team-b", "x");
  prepare_in("team-b", "y");
  prepare_in("team-c", "z");
  EXPECT_THAT(replies_, ElementsAre(HasSubstr("a: ResourceClaim \"team-a/a\": 4 other calls")));
  EXPECT_THAT(seen(), ElementsAre("+b", "+x", "+y", "+z", "-a"));
}

TEST_F(MailboxTest, SaysWhatIsMissingWhenThePatienceIsOver) {
  prepare("a");
  clock_.advance(seconds(2));
  unprepare("b");
  mailbox_.set_reasons({{"a-uid", "no node list admits it"}});
  EXPECT_EQ(mailbox_.next_end(), clock_.elapsed() + seconds(40));
  clock_.advance(seconds(39));
  mailbox_.end_overdue();
  EXPECT_THAT(replies_, IsEmpty());
  clock_.advance(seconds(1));
  const int before = news_;
  mailbox_.end_overdue();
  EXPECT_GT(news_, before);
  EXPECT_THAT(replies_, ElementsAre("a: ResourceClaim team-a/a is not prepared after 42s: no node "
                                    "list admits it"));
  EXPECT_EQ(took_, seconds(42));
  EXPECT_THAT(seen(), ElementsAre("-b"));
}

TEST_F(MailboxTest, EndsACallAtOnceThatNobodyWaitsFor) {
  std::stop_source stop;
  unprepare("a", stop.get_token());
  prepare("a");
  const int before = news_;
  stop.request_stop();
  EXPECT_THAT(replies_, ElementsAre("a: ResourceClaim team-a/a is not unprepared, the call was "
                                    "given up: the agent is busy"));
  EXPECT_GT(news_, before);
  EXPECT_THAT(seen(), ElementsAre("+a"));
}

TEST_F(MailboxTest, GivesUpACallThatIsStoppedBeforeItsTurn) {
  std::stop_source stop;
  prepare("a");
  unprepare("a", stop.get_token());
  stop.request_stop();
  EXPECT_THAT(replies_, ElementsAre(HasSubstr("given up before an earlier call for it had ended")));
  EXPECT_EQ(took_, std::nullopt);
  EXPECT_THAT(seen(), ElementsAre("+a"));
  answer(Operation::Prepare, "a");
  EXPECT_THAT(seen(), IsEmpty());
}

TEST_F(MailboxTest, AnswersACallThatIsStoppedWhenItComes) {
  std::stop_source stop;
  stop.request_stop();
  prepare("a", stop.get_token());
  EXPECT_THAT(replies_, ElementsAre(HasSubstr("the call was given up")));
  EXPECT_THAT(seen(), IsEmpty());
}

}  // namespace
}  // namespace cdom::agent
