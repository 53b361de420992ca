#include "cli/health/process_metrics.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <sstream>
#include <vector>

#include "compute_domain/base/text.h"

namespace cdom::cli {
namespace {

using testing::HasSubstr;

class ProcessMetricsTest : public testing::Test {
 protected:
  double value_of(const std::string& name) {
    std::istringstream text(metrics_.render());
    for (std::string line; std::getline(text, line);) {
      if (line.starts_with(name + " ")) return std::stod(line.substr(name.size()));
    }
    ADD_FAILURE() << name << " is not there";
    return 0;
  }

  base::SystemClock clock_;
  ProcessMetrics metrics_{clock_};
};

TEST_F(ProcessMetricsTest, NameTheVersion) {
  EXPECT_THAT(metrics_.render(), HasSubstr(base::cat("compute_domain_build_info{version=\"",
                                                     CDOM_VERSION, "\"} 1\n")));
}

TEST_F(ProcessMetricsTest, HaveTheTypesThatPrometheusExpects) {
  EXPECT_THAT(metrics_.render(), HasSubstr("# TYPE process_cpu_seconds_total counter\n"));
  EXPECT_THAT(metrics_.render(), HasSubstr("# TYPE process_resident_memory_bytes gauge\n"));
}

TEST_F(ProcessMetricsTest, CountWhatTheProcessUses) {
  const double cpu = value_of("process_cpu_seconds_total");
  const double memory = value_of("process_resident_memory_bytes");
  std::vector<char> used(std::size_t{64} << 20U);
  for (int round = 1; round < 1000 && value_of("process_cpu_seconds_total") < cpu + 0.02; ++round) {
    std::memset(used.data(), round, used.size());
  }
  EXPECT_GE(value_of("process_cpu_seconds_total"), cpu + 0.02);
  EXPECT_GE(value_of("process_resident_memory_bytes"), memory + double(std::size_t{32} << 20U));
  EXPECT_GE(value_of("process_virtual_memory_bytes"), value_of("process_resident_memory_bytes"));
}

TEST_F(ProcessMetricsTest, CountOpenDescriptors) {
  const double before = value_of("process_open_fds");
  const int one = open("/dev/null", O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(value_of("process_open_fds"), before + 1);
  close(one);
  EXPECT_GT(value_of("process_max_fds"), before);
}

TEST_F(ProcessMetricsTest, KnowWhenTheProcessHasStarted) {
  const std::chrono::duration<double> now = clock_.now().time_since_epoch();
  const double started = value_of("process_start_time_seconds");
  EXPECT_LE(started, now.count() + 1);
  EXPECT_GE(started, now.count() - 3600);
}

// A start that moves looks like a restart.
TEST(ProcessMetrics, HaveOneStartThoughTheWallClockIsSet) {
  base::ManualClock clock;
  ProcessMetrics metrics(clock);
  const auto start_in = [](const std::string& text) {
    const std::size_t at = text.find("\nprocess_start_time_seconds ");
    return at == std::string::npos ? "" : text.substr(at + 1, text.find('\n', at + 1) - at);
  };
  const std::string start = start_in(metrics.render());
  EXPECT_FALSE(start.empty());
  clock.advance(std::chrono::hours(1));
  EXPECT_EQ(start_in(metrics.render()), start);
}

}  // namespace
}  // namespace cdom::cli
