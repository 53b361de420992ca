#include "dra/claim_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <barrier>
#include <future>

#include "dra/fake_driver.h"

namespace cdom::dra {

namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class ClaimRequest : public testing::Test {
 protected:
  std::future<ClaimAnswers> start(Operation operation, const std::vector<Claim>& claims,
                                  const std::stop_token& stop = {}) {
    auto answers = std::make_shared<std::promise<ClaimAnswers>>();
    post_request(driver_, operation, claims, stop,
                 [answers](ClaimAnswers all) { answers->set_value(std::move(all)); });
    return answers->get_future();
  }
  ClaimAnswers prepare(const std::vector<Claim>& claims) {
    return start(Operation::Prepare, claims).get();
  }
  FakeDriver driver_;
  std::promise<void> entered_;
};

TEST_F(ClaimRequest, AnswersEachClaim) {
  const Claim a = claim_named("a"), b = claim_named("b");
  const ClaimAnswers answers = prepare({a, b});

  EXPECT_EQ(answers, (ClaimAnswers{{a.uid, {.error = "", .devices = {channel_of(a)}}},
                                   {b.uid, {.error = "", .devices = {channel_of(b)}}}}));
}

TEST_F(ClaimRequest, AnswersForNoClaim) { EXPECT_THAT(prepare({}), IsEmpty()); }

TEST_F(ClaimRequest, TellsOneClaimsErrorAndPreparesTheOthers) {
  driver_.on_prepare([](const Claim& claim, const std::stop_token&) -> FakeDriver::Prepared {
    if (claim.name == "bad") return base::invalid("domain \"train\" is unknown; apply it");
    return std::vector{channel_of(claim)};
  });
  ClaimAnswers answers = prepare({claim_named("bad"), claim_named("good")});

  EXPECT_EQ(answers["uid-of-bad"].error, "domain \"train\" is unknown; apply it");
  EXPECT_EQ(answers["uid-of-good"].error, "");
}

TEST_F(ClaimRequest, RunsItsClaimsSideBySide) {
  std::barrier all_there(3);
  driver_.on_prepare([&](const Claim&, const std::stop_token&) -> FakeDriver::Prepared {
    all_there.arrive_and_wait();
    return std::vector<PreparedDevice>();
  });

  EXPECT_THAT(prepare({claim_named("a"), claim_named("b"), claim_named("c")}), SizeIs(3));
}

TEST_F(ClaimRequest, StopsTheDriver) {
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

TEST_F(ClaimRequest, CallsOnceForAClaimThatIsNamedTwice) {
  EXPECT_THAT(prepare({claim_named("a"), claim_named("a")}), SizeIs(1));
  EXPECT_THAT(driver_.notes(), ElementsAre("prepare uid-of-a"));
}

TEST_F(ClaimRequest, RefusesTwoClaimsOfOneUid) {
  Claim other = claim_named("a");
  other.name = "b";
  ClaimAnswers answers = prepare({claim_named("a"), other});

  EXPECT_THAT(answers["uid-of-a"].error,
              AllOf(HasSubstr("team-a/a"), HasSubstr("team-a/b"), HasSubstr("cannot both have")));
  EXPECT_THAT(driver_.notes(), IsEmpty());
}

TEST_F(ClaimRequest, RefusesClaimsThatCannotBeAndPreparesTheOthers) {
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

TEST_F(ClaimRequest, RefusesNamesThatWouldBeAnotherPathInTheApiServer) {
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

TEST_F(ClaimRequest, UnpreparesWithTheUidAlone) {
  ClaimAnswers answers = start(Operation::Unprepare, {{.ns = "", .name = "", .uid = "u-1"}}).get();

  EXPECT_EQ(answers["u-1"].error, "");
  EXPECT_THAT(driver_.notes(), ElementsAre("unprepare u-1"));
}

}  // namespace

}  // namespace cdom::dra
