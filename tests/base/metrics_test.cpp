#include "compute_domain/base/metrics.h"

#include <gtest/gtest.h>

namespace cdom::base {
namespace {

TEST(Metrics, RendersThePrometheusTextFormat) {
  Registry registry;
  registry.counter("requests_total", "Requests.", {{"code", "200"}}).add(2);
  registry.gauge("depth", "Keys waiting.").set(3);
  Histogram& seconds = registry.histogram("seconds", "Latency.", {0.1, 1});
  seconds.observe(0.05);
  seconds.observe(0.5);
  seconds.observe(5);

  EXPECT_EQ(registry.render(),
            "# HELP depth Keys waiting.\n# TYPE depth gauge\ndepth 3\n"
            "# HELP requests_total Requests.\n# TYPE requests_total counter\n"
            "requests_total{code=\"200\"} 2\n"
            "# HELP seconds Latency.\n# TYPE seconds histogram\n"
            "seconds_bucket{le=\"0.1\"} 1\nseconds_bucket{le=\"1\"} 2\n"
            "seconds_bucket{le=\"+Inf\"} 3\nseconds_sum 5.55\nseconds_count 3\n");
}

TEST(Metrics, GivesTheSameInstrumentForTheSameLabels) {
  Registry registry;
  registry.counter("n", "N.", {{"a", "1"}}).add();
  EXPECT_EQ(registry.counter("n", "N.", {{"a", "1"}}).value(), 1);
  EXPECT_EQ(registry.counter("n", "N.", {{"a", "2"}}).value(), 0);
}

TEST(Metrics, RefusesANameUsedAsTwoTypes) {
  Registry registry;
  registry.counter("n", "N.");
  EXPECT_THROW(registry.gauge("n", "N."), std::logic_error);
}

// Seconds since the epoch, which a scraper subtracts from its own.
TEST(Metrics, KeepTheFractionsOfLargeNumbers) {
  Registry metrics;
  metrics.gauge("start_seconds", "A start.").set(1795620123.25);
  EXPECT_NE(metrics.render().find("start_seconds 1795620123.25\n"), std::string::npos);
}

}  // namespace
}  // namespace cdom::base
