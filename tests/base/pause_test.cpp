#include "compute_domain/base/pause.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace cdom::base {
namespace {

TEST(Pause, EndsWithItsTime) {
  EXPECT_TRUE(pause({}, std::chrono::milliseconds(1)));
  EXPECT_TRUE(pause({}, std::chrono::milliseconds(-1)));
}

TEST(Pause, EndsWhenItIsToStop) {
  std::stop_source source;
  const std::jthread stops([&source] { source.request_stop(); });
  EXPECT_FALSE(pause(source.get_token(), std::chrono::hours(1)));
  EXPECT_FALSE(pause(source.get_token(), std::chrono::hours(1))) << "it has been stopped before";
}

}  // namespace
}  // namespace cdom::base
