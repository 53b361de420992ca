#include "dra/claim_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <barrier>
#include <future>
#include <stdexcept>

#include "dra/fake_driver.h"

namespace cdom::dra {

namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class ClaimCallsTest : public testing::Test {
 protected:
  std::future<ClaimAnswers> start(Operation operation, const std::vector<Claim>& claims,
                                  const std::stop_token& stop = {}) {
    auto answers = std::make_shared<std::promise<ClaimAnswers>>();
    calls_.start(operation, claims, stop,
                 [answers](ClaimAnswers all) { answers->set_value(std::move(all)); });
    return answers->get_future();
  }
  ClaimAnswers prepare(const std::vector<Claim>& claims) {
    return start(Operation::Prepare, claims).get();
  }
  // A prepare waits for open().
  void hold_prepares() {
    driver_.on_prepare([this](const Claim& claim, const std::stop_token&) -> FakeDriver::Prepared {
      entered_.set_value();
      gate_.get_future().wait();
      driver_.note("prepared " + claim.uid);
      return std::vector{channel_of(claim)};
    });
  }
  void open() { gate_.set_value(); }

  FakeDriver driver_;
  std::promise<void> entered_, gate_;
  ClaimCalls calls_{driver_, 4};
};

TEST_F(ClaimCallsTest, AnswerEachClaim) {
  const Claim a = claim_named("a"), b = claim_named("b");
  const ClaimAnswers answers = prepare({a, b});

  EXPECT_EQ(answers, (ClaimAnswers{{a.uid, {.error = "", .devices = {channel_of(a)}}},
                                   {b.uid, {.error = "", .devices = {channel_of(b)}}}}));
}

TEST_F(ClaimCallsTest, AnswerARequestForNothing) { EXPECT_THAT(prepare({}), IsEmpty()); }

TEST_F(ClaimCallsTest, TellOneClaimsErrorAndPrepareTheOthers) {
  driver_.on_prepare([](const Claim& claim, const std::stop_token&) -> FakeDriver::Prepared {
    if (claim.name == "bad") return base::invalid("domain \"train\" is unknown; apply it");
    return std::vector{channel_of(claim)};
  });
  ClaimAnswers answers = prepare({claim_named("bad"), claim_named("good")});

  EXPECT_EQ(answers["uid-of-bad"].error, "domain \"train\" is unknown; apply it");
  EXPECT_EQ(answers["uid-of-good"].error, "");
}

TEST_F(ClaimCallsTest, RunTheClaimsOfARequestSideBySide) {
  std::barrier all_there(3);
  driver_.on_prepare([&](const Claim&, const std::stop_token&) -> FakeDriver::Prepared {
    all_there.arrive_and_wait();
    return std::vector<PreparedDevice>();
  });

  EXPECT_THAT(prepare({claim_named("a"), claim_named("b"), claim_named("c")}), SizeIs(3));
}

TEST_F(ClaimCallsTest, RunTheCallsForOneClaimInTheOrderOfTheirArrival) {
  hold_prepares();
  auto prepared = start(Operation::Prepare, {claim_named("a")});
  entered_.get_future().wait();
  auto unprepared = start(Operation::Unprepare, {claim_named("a")});
  open();
  prepared.get();
  unprepared.get();

  EXPECT_THAT(driver_.notes(),
              ElementsAre("prepare uid-of-a", "prepared uid-of-a", "unprepare uid-of-a"));
}

TEST_F(ClaimCallsTest, LetNoOtherClaimWaitForOneThatTakesLong) {
  hold_prepares();
  auto slow = start(Operation::Prepare, {claim_named("slow")});
  EXPECT_EQ(start(Operation::Unprepare, {claim_named("other")}).get()["uid-of-other"].error, "");
  open();
  slow.get();
}

TEST_F(ClaimCallsTest, GiveUpACallThatIsStoppedBeforeItsTurn) {
  hold_prepares();
  auto first = start(Operation::Prepare, {claim_named("a")});
  entered_.get_future().wait();
  std::stop_source stop;
  auto second = start(Operation::Unprepare, {claim_named("a")}, stop.get_token());
  stop.request_stop();

  EXPECT_THAT(second.get()["uid-of-a"].error, HasSubstr("an earlier call for it"));
  open();
  first.get();
  EXPECT_THAT(driver_.notes(), ElementsAre("prepare uid-of-a", "prepared uid-of-a"));
}

TEST_F(ClaimCallsTest, StopTheDriver) {
  driver_.on_prepare([&](const Claim&, const std::stop_token& stop) -> FakeDriver::Prepared {
    std::promise<void> stopped;
    const std::stop_callback on_stop(stop, [&] { stopped.set_value(); });
    entered_.set_value();
    stopped.get_future().wait();
    return base::Error{base::ErrorKind::Cancelled, "cancelled"};
  });
  std::stop_source stop;
  auto answers = start(Operation::Prepare, {claim_named("a")}, stop.get_token());
  entered_.get_future().wait();
  stop.request_stop();

  EXPECT_EQ(answers.get()["uid-of-a"].error, "cancelled");
}

TEST_F(ClaimCallsTest, CallOnceForAClaimThatIsNamedTwice) {
  EXPECT_THAT(prepare({claim_named("a"), claim_named("a")}), SizeIs(1));
  EXPECT_THAT(driver_.notes(), ElementsAre("prepare uid-of-a"));
}

TEST_F(ClaimCallsTest, RefuseTwoClaimsOfOneUid) {
  Claim other = claim_named("a");
  other.name = "b";
  ClaimAnswers answers = prepare({claim_named("a"), other});

  EXPECT_THAT(answers["uid-of-a"].error,
              AllOf(HasSubstr("team-a/a"), HasSubstr("team-a/b"), HasSubstr("cannot both have")));
  EXPECT_THAT(driver_.notes(), IsEmpty());
}

TEST_F(ClaimCallsTest, RefuseClaimsThatCannotBeAndPrepareTheOthers) {
  const std::string path = "../../etc/cdi";
  ClaimAnswers answers = prepare({{.ns = "team-a", .name = "no-uid", .uid = ""},
                                  {.ns = "team-a", .name = "path", .uid = path},
                                  {.ns = "", .name = "no-ns", .uid = "u-1"},
                                  {.ns = "team-a", .name = "", .uid = "u-2"},
                                  claim_named("good")});

  EXPECT_THAT(answers[""].error, AllOf(HasSubstr("team-a/no-uid"), HasSubstr("no UID")));
  EXPECT_THAT(answers[path].error, AllOf(HasSubstr("team-a/path"), HasSubstr("is not a UID")));
  EXPECT_THAT(answers["u-1"].error, HasSubstr("no namespace"));
  EXPECT_THAT(answers["u-2"].error, HasSubstr("no name"));
  EXPECT_EQ(answers["uid-of-good"].error, "");
  EXPECT_THAT(driver_.notes(), ElementsAre("prepare uid-of-good"));
}

TEST_F(ClaimCallsTest, RefuseNamesThatWouldBeAnotherPathInTheApiServer) {
  ClaimAnswers answers = prepare({{.ns = "team-a", .name = "a?watch=true", .uid = "u-1"},
                                  {.ns = "team-a", .name = "../pods/a", .uid = "u-2"},
                                  {.ns = "team-a/x", .name = "a", .uid = "u-3"},
                                  {.ns = "team-a", .name = std::string(254, 'n'), .uid = "u-4"}});

  EXPECT_THAT(answers["u-1"].error, AllOf(HasSubstr("team-a/a?watch"), HasSubstr("no object")));
  EXPECT_THAT(answers["u-2"].error, HasSubstr("no object"));
  EXPECT_THAT(answers["u-3"].error, HasSubstr("no object"));
  EXPECT_THAT(answers["u-4"].error, HasSubstr("no object"));
  EXPECT_THAT(driver_.notes(), IsEmpty());
}

TEST_F(ClaimCallsTest, UnprepareWithTheUidAlone) {
  ClaimAnswers answers = start(Operation::Unprepare, {{.ns = "", .name = "", .uid = "u-1"}}).get();

  EXPECT_EQ(answers["u-1"].error, "");
  EXPECT_THAT(driver_.notes(), ElementsAre("unprepare u-1"));
}

TEST_F(ClaimCallsTest, RefuseMoreCallsThanTheyMayRun) {
  std::promise<void> gate;
  std::shared_future<void> opened = gate.get_future().share();
  driver_.on_prepare([opened](const Claim&, const std::stop_token&) -> FakeDriver::Prepared {
    opened.wait();
    return std::vector<PreparedDevice>();
  });
  auto four = start(Operation::Prepare,
                    {claim_named("a"), claim_named("b"), claim_named("c"), claim_named("d")});

  EXPECT_THAT(prepare({claim_named("e")})["uid-of-e"].error, HasSubstr("4 other calls"));
  gate.set_value();
  EXPECT_THAT(four.get(), SizeIs(4));
}

TEST_F(ClaimCallsTest, TellABrokenInvariantAsTheClaimsError) {
  driver_.on_prepare([](const Claim&, const std::stop_token&) -> FakeDriver::Prepared {
    throw std::logic_error("no such slot");
  });

  EXPECT_THAT(prepare({claim_named("a")})["uid-of-a"].error,
              AllOf(HasSubstr("team-a/a"), HasSubstr("no such slot")));
}

TEST_F(ClaimCallsTest, NameTheClaimWhenTheDriverHasNoWords) {
  driver_.on_unprepare([](const Claim&, const std::stop_token&) -> base::Result<void> {
    return base::Error{base::ErrorKind::Unavailable, ""};
  });
  ClaimAnswers answers = start(Operation::Unprepare, {claim_named("a")}).get();

  EXPECT_THAT(answers["uid-of-a"].error, AllOf(HasSubstr("team-a/a"), HasSubstr("Unavailable")));
}

}  // namespace

}  // namespace cdom::dra
