// Whatever goes wrong between the API server and the informer: no crash, no lost update, no hot
// loop, and it converges when the server is back.
#include <gtest/gtest.h>

#include "compute_domain/base/random.h"
#include "kube/informer_rig.h"

namespace cdom::kube {
namespace {

using namespace std::chrono_literals;

// One thing that the world or the network does.
void play(FakeServer& server, base::Random& random) {
  const std::string name = base::cat("c", random.below(6));
  switch (random.below(12)) {
    case 0:
      return server.break_watches();
    case 1:
      return server.end_watches();
    case 2:
      return server.truncate_watches();
    case 3:
      server.compact();
      return server.break_watches();
    case 4:
      return server.script(std::nullopt);
    case 5:
      return server.script_status(500, "InternalError");
    case 6:
      return server.script_status(429, "TooManyRequests", {{"Retry-After", "2"}});
    case 7:
      return server.script_status(410, "Expired");
    case 8:
      return server.script(http::Response{200, {}, R"({"kind":"ConfigMapList","items":[{"me)"});
    case 9:
      return server.remove(name);
    default:
      return server.put(name, base::cat(random.below(1000)));
  }
}

TEST(InformerFaults, ConvergesWhateverHappenedOnTheWay) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(base::cat("seed ", seed));
    InformerRig rig(seed);
    base::Random random(seed);
    if (random.chance(0.5)) rig.server.report_expired_as_event();
    for (int i = 0; i < 60; ++i) {
      play(rig.server, random);
      for (std::uint64_t steps = random.below(4); steps > 0; --steps) (void)rig.step();
      rig.clock.advance(std::chrono::milliseconds(random.below(2000)));
    }
    rig.settle();
    ASSERT_EQ(rig.stored(), rig.server.objects());
    ASSERT_EQ(rig.replayed, rig.server.objects()) << "a change was not told";
  }
}

TEST(InformerFaults, NoFaultMakesItAskWithoutPause) {
  const auto away = [](FakeServer& server) { server.script(std::nullopt); };
  const auto expired = [](FakeServer& server) { server.script_status(410, "Expired"); };
  const auto failing = [](FakeServer& server) { server.script_status(500, "InternalError"); };
  const auto ending = [](FakeServer& server) { server.end_watches(); };
  const auto breaking = [](FakeServer& server) { server.break_watches(); };
  for (const auto& fault :
       std::vector<std::function<void(FakeServer&)>>{away, expired, failing, ending, breaking}) {
    InformerRig rig;
    const base::Duration start = rig.clock.elapsed();
    while (rig.clock.elapsed() - start < 10min) {
      fault(rig.server);
      if (rig.step() == WatchLoop::Step::Idle) rig.clock.advance(100ms);
    }
    // 0.8 s doubling to 30 s, half of it at least, a list and a watch per attempt.
    EXPECT_LT(rig.server.requests().size(), 100U);
    EXPECT_GT(rig.server.requests().size(), 10U);
  }
}

}  // namespace
}  // namespace cdom::kube
