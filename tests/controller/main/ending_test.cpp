#include "controller/main/ending.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cdom::program {
namespace {

using testing::HasSubstr;

TEST(Ending, OfASignalIsNoFault) {
  std::stop_source signals;
  const Ending ending(signals.get_token());
  EXPECT_FALSE(ending.token().stop_requested());
  signals.request_stop();
  EXPECT_TRUE(ending.token().stop_requested());
  EXPECT_EQ(ending.fault(), "");
}

TEST(Ending, SaysWhatCameFirst) {
  std::stop_source signals;
  Ending ending(signals.get_token());
  ending.predecessor_found("deployment nvidia/controller");
  EXPECT_TRUE(ending.token().stop_requested());
  ending.leadership_lost();
  EXPECT_THAT(ending.fault(), HasSubstr("at work (deployment nvidia/controller)"));
  EXPECT_FALSE(signals.stop_requested());
}

TEST(Ending, OfLeadershipIsAFault) {
  Ending ending{std::stop_token()};
  ending.leadership_lost();
  EXPECT_TRUE(ending.token().stop_requested());
  EXPECT_THAT(ending.fault(), HasSubstr("another process may lead now"));
}

}  // namespace
}  // namespace cdom::program
