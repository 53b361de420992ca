// Which keys wake themselves up for nothing.
#include "controller/idle_looks.h"

#include <gtest/gtest.h>

namespace cdom::controller {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): for durations

const Key kVictim = workloads_key("victim");

TEST(IdleLooks, FindTheKeyThatComesBackTwiceByItsOwnWishForNothing) {
  IdleLooks looks;
  EXPECT_FALSE(looks.note(kVictim, false, 20ms, 0ms));
  EXPECT_FALSE(looks.note(kVictim, false, 20ms, 20ms));
  EXPECT_TRUE(looks.note(kVictim, false, 20ms, 40ms));
}

TEST(IdleLooks, LetAKeyWaitAsOftenAsChangesBringIt) {
  IdleLooks looks;
  for (base::Duration now{}; now < 1s; now += 10ms) {
    EXPECT_FALSE(looks.note(kVictim, false, 20ms, now));
  }
}

TEST(IdleLooks, BeginAgainAfterAnActionOrALongWait) {
  IdleLooks looks;
  for (base::Duration now{}; now < 1s; now += 60ms) {
    EXPECT_FALSE(looks.note(kVictim, false, 20ms, now));
    EXPECT_FALSE(looks.note(kVictim, false, 20ms, now + 20ms));
    EXPECT_FALSE(looks.note(kVictim, now < 500ms, now < 500ms ? 20ms : 101ms, now + 40ms));
  }
}

}  // namespace
}  // namespace cdom::controller
