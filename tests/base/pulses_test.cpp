#include "compute_domain/base/pulses.h"

#include <gtest/gtest.h>

namespace cdom::base {
namespace {

using std::chrono::seconds;

TEST(Pulses, NamesTheThreadThatIsStuckAndSinceWhen) {
  ManualClock clock;
  Pulses pulses(clock, seconds(60));
  Pulses::Pulse& kubelet = pulses.add("kubelet");
  Pulses::Pulse& server = pulses.add("server");
  clock.advance(seconds(60));
  EXPECT_EQ(pulses.stuck(), "");
  kubelet.beat();
  clock.advance(seconds(5));
  EXPECT_EQ(pulses.stuck(), "thread server has been stuck for 65s");
  server.beat();
  EXPECT_EQ(pulses.stuck(), "");
}

TEST(Pulses, AThreadThatRestsIsNotStuck) {
  ManualClock clock;
  Pulses pulses(clock, seconds(60));
  pulses.add("worker").rest();
  clock.advance(std::chrono::hours(10));
  EXPECT_EQ(pulses.stuck(), "");
}

}  // namespace
}  // namespace cdom::base
