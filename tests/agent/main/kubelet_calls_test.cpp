#include "agent/main/kubelet_calls.h"

#include <atomic>
#include <thread>

#include "agent/rig.h"

namespace cdom::program {
namespace {

using testing::ElementsAre;

class KubeletCallsTest : public testing::Test {
 protected:
  KubeletCallsTest() { rig_.settle(); }

  // Lets the agent work until the call has its answer.
  dra::ClaimAnswer ask(dra::Operation operation, const core::ClaimRef& claim) {
    std::optional<dra::ClaimAnswer> answer;
    calls_.post({operation,
                 {.ns = claim.ns, .name = claim.name, .uid = claim.uid},
                 [&](dra::ClaimAnswer given) { answer = std::move(given); },
                 {}});
    for (int i = 0; i < 20 && !answer; ++i) {
      rig_.settle();
      if (rig_.imex.daemon.running && !rig_.imex.daemon.answers) rig_.imex.become_ready();
    }
    return answer.value_or(dra::ClaimAnswer{.error = "no answer", .devices = {}});
  }

  agent::Rig rig_;
  KubeletCalls calls_{rig_.agent->mailbox()};
};

TEST_F(KubeletCallsTest, HandOutTheAgentsAnswers) {
  const core::ClaimRef claim = rig_.make_claim("a");
  rig_.write_list({claim.uid});
  const dra::ClaimAnswer prepared = ask(dra::Operation::Prepare, claim);
  EXPECT_EQ(prepared.error, "");
  EXPECT_THAT(prepared.devices,
              ElementsAre(dra::PreparedDevice{.requests = {"channel"},
                                              .pool = "n00",
                                              .device = "channel-0",
                                              .cdi_ids = {core::cdi_device_id(claim.uid)}}));
  EXPECT_EQ(ask(dra::Operation::Unprepare, claim), dra::ClaimAnswer{});
}

TEST_F(KubeletCallsTest, TellWhyTheAgentRefuses) {
  EXPECT_EQ(ask(dra::Operation::Prepare, {"team-a", "absent", "absent-uid"}).error,
            "error preparing devices: ResourceClaim team-a/absent does not exist");
}

// Tools look for both texts in one line of a pod's Events.
TEST_F(KubeletCallsTest, TellTheFieldOfAConfigurationThatThereIsNot) {
  // It goes into the JSON as it is.
  const core::ClaimRef claim = rig_.make_claim("a", R"(train-uid","mtu":"9000)");
  EXPECT_EQ(ask(dra::Operation::Prepare, claim).error,
            "error preparing devices: error decoding config parameters of ResourceClaim team-a/a: "
            "strict decoding error: unknown field \"mtu\"; delete the ResourceClaim, and create it "
            "again without the mistake");
}

// What the thread sanitizer sees: calls come, are answered, overdue and given up at the same time.
TEST(KubeletCalls, EachHasOneAnswerWhoeverEndsIt) {
  constexpr int kThreads = 4, kCalls = 200;
  const base::SystemClock clock;
  agent::Mailbox mailbox(clock, [] {}, {.most = 100, .patience = std::chrono::milliseconds(1)});
  KubeletCalls calls(mailbox);
  std::atomic<int> answers = 0;
  std::vector<std::jthread> kubelets;
  kubelets.reserve(kThreads);
  for (int thread = 0; thread < kThreads; ++thread) {
    kubelets.emplace_back([&, thread] {
      for (int i = 0; i < kCalls; ++i) {
        std::stop_source stop;
        const auto operation = i % 3 == 0 ? dra::Operation::Unprepare : dra::Operation::Prepare;
        calls.post({operation,
                    {.ns = "team-a", .name = "a", .uid = std::to_string(i % 7)},
                    [&](const dra::ClaimAnswer&) { ++answers; },
                    stop.get_token()});
        if ((i + thread) % 2 == 0) stop.request_stop();
      }
    });
  }
  while (answers < kThreads * kCalls) {
    core::NodeWorld world;
    mailbox.show(world);
    for (const auto& wanted : world.prepares) {
      mailbox.answer(agent::Operation::Prepare, wanted.claim.uid, {});
    }
    for (const auto& wanted : world.unprepares) {
      mailbox.answer(agent::Operation::Unprepare, wanted.claim.uid, {});
    }
    mailbox.end_overdue();
  }
  kubelets.clear();
  EXPECT_EQ(answers, kThreads * kCalls);
}

}  // namespace
}  // namespace cdom::program
