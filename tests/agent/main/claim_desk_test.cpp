#include "agent/main/claim_desk.h"

#include <future>
#include <semaphore>

#include "agent/rig.h"

namespace cdom::program {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::chrono::seconds kCallPatience{20};

class ClaimDeskTest : public testing::Test {
 protected:
  ClaimDeskTest() { rig_.settle(); }

  static dra::Claim asked(const core::ClaimRef& claim) {
    return {.ns = claim.ns, .name = claim.name, .uid = claim.uid};
  }
  auto prepare(const core::ClaimRef& claim) {
    return std::async(std::launch::async,
                      [this, claim] { return desk_.prepare(asked(claim), stop_.get_token()); });
  }
  // Lets the agent work until the call has its answer.
  template <class Answer>
  void work_until(const std::future<Answer>& call) {
    while (call.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
      desk_.serve(*rig_.agent);
      rig_.settle();
      if (rig_.imex.daemon.running && !rig_.imex.daemon.answers) rig_.imex.become_ready();
    }
  }

  agent::Rig rig_;
  std::counting_semaphore<> calls_{0};
  std::stop_source stop_;
  ClaimDesk desk_{[this] { calls_.release(); }};
};

TEST_F(ClaimDeskTest, HandsOutTheAgentsAnswers) {
  const core::ClaimRef claim = rig_.make_claim("a");
  rig_.write_list({claim.uid});
  auto prepared = prepare(claim);
  work_until(prepared);
  const auto devices = prepared.get();
  ASSERT_TRUE(devices) << devices.error().message;
  EXPECT_THAT(*devices,
              ElementsAre(dra::PreparedDevice{.requests = {"channel"},
                                              .pool = "n00",
                                              .device = "channel-0",
                                              .cdi_ids = {core::cdi_device_id(claim.uid)}}));

  auto unprepared = std::async(std::launch::async,
                               [&] { return desk_.unprepare(asked(claim), stop_.get_token()); });
  work_until(unprepared);
  EXPECT_TRUE(unprepared.get());
}

TEST_F(ClaimDeskTest, TellsWhyTheAgentRefuses) {
  auto prepared = prepare({"team-a", "absent", "absent-uid"});
  work_until(prepared);
  EXPECT_EQ(prepared.get().error().message,
            "error preparing devices: ResourceClaim team-a/absent does not exist");
}

TEST_F(ClaimDeskTest, SaysWhatIsMissingWhenThePatienceIsOver) {
  ClaimDesk hasty([this] { calls_.release(); }, std::chrono::milliseconds(500));
  const core::ClaimRef claim = rig_.make_claim("a");
  auto prepared = std::async(std::launch::async,
                             [&] { return hasty.prepare(asked(claim), stop_.get_token()); });
  ASSERT_TRUE(calls_.try_acquire_for(kCallPatience));
  hasty.serve(*rig_.agent);
  rig_.settle();
  hasty.serve(*rig_.agent);
  const auto answer = prepared.get();
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message,
              HasSubstr("ResourceClaim team-a/a is not prepared after 500ms: no node list admits"));
}

TEST_F(ClaimDeskTest, EndsACallAtOnceThatNobodyWaitsFor) {
  const core::ClaimRef claim = rig_.make_claim("a");
  auto prepared = prepare(claim);
  ASSERT_TRUE(calls_.try_acquire_for(kCallPatience));
  desk_.serve(*rig_.agent);
  stop_.request_stop();
  ASSERT_EQ(prepared.wait_for(kCallPatience), std::future_status::ready);
  EXPECT_EQ(prepared.get().error().kind, base::ErrorKind::Cancelled);
  EXPECT_TRUE(calls_.try_acquire_for(kCallPatience)) << "the agent is told";
}

}  // namespace
}  // namespace cdom::program
