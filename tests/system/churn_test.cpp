// Domains that come and go on the same nodes: nothing may grow, whatever their number.
// CDOM_SYSTEM_DOMAINS sets it.
#include <gmock/gmock.h>
#include <malloc.h>

#include <algorithm>
#include <cstdlib>

#include "compute_domain/base/text.h"
#include "system/rig.h"

namespace cdom::system_test {
namespace {

using base::cat;
using namespace std::chrono_literals;
using ::testing::IsEmpty;

constexpr int kChurnNodes = 8;  // and as many domains at a time
// Half of them fill all that is remembered of earlier ones.
constexpr int kFewestToMeasure = 800;

int wanted_domains() {
  const char* value = std::getenv("CDOM_SYSTEM_DOMAINS");  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? 800 : std::stoi(value);
}

// A domain per node; each is seen Ready, and gone.
void come_and_go(Rig& rig, int first) {
  for (int i = first; i < first + kChurnNodes; ++i) {
    rig.apply(domain_yaml(cat("d", i), 1));
    rig.apply(pod_yaml(cat("d", i, "-0"), cat("d", i)));
  }
  // Looking at them costs more than running them, so it is not done after every step.
  rig.run_for(5s);
  const auto domains = rig.domains();
  ASSERT_TRUE(std::ranges::all_of(
      domains,
      [](const api::ComputeDomain& domain) { return domain.status && domain.status->ready; }))
      << "domains from d" << first;
  for (int i = first; i < first + kChurnNodes; ++i) {
    rig.remove(cat("/api/v1/namespaces/default/pods/d", i, "-0"));
    rig.remove(cat("/apis/resource.nvidia.com/v1beta1/namespaces/default/computedomains/d", i));
  }
  rig.run_for(10s);
  ASSERT_THAT(rig.domains(), IsEmpty()) << "domains from d" << first;
}

// Nothing under a sanitizer, which has a heap of its own.
std::size_t bytes_in_use() { return mallinfo2().uordblks; }

TEST(Churn, LeavesNothingBehindOnTheSameNodesHoweverManyDomains) {
  // The Events of some 160 domains are there at a time, and what is remembered of fewer.
  Rig rig({.seed = 6,
           .nodes_per_rack = kChurnNodes,
           .history = 200,
           .remembered_events = 200,
           .event_ttl = 5min});
  const int domains = wanted_domains();
  std::size_t most_before = 0;
  for (int first = 0; first < domains; first += kChurnNodes) {
    come_and_go(rig, first);
    if (HasFatalFailure()) return;
    // What the first half has filled is the measure: Events, the history of watches, and what those
    // who write Events remember.
    if (first < domains / 2) most_before = std::max(most_before, bytes_in_use());
  }
  if (domains >= kFewestToMeasure) {
    EXPECT_LE(bytes_in_use(), most_before + most_before / 10)
        << "more memory than after the first half";
  }

  EXPECT_THAT(rig.node_lists(), IsEmpty());
  const auto templates = rig.kubectl().list_all<api::ResourceClaimTemplate>();
  ASSERT_TRUE(templates);
  EXPECT_THAT(*templates, IsEmpty());
  const auto claims = rig.kubectl().list_all<api::ResourceClaim>();
  ASSERT_TRUE(claims);
  EXPECT_THAT(*claims, IsEmpty());
  const auto reports = rig.kubectl().list_all<api::ComputeDomainNode>();
  ASSERT_TRUE(reports);
  EXPECT_EQ(reports->size(), static_cast<std::size_t>(kChurnNodes));
  for (const auto& report : *reports) EXPECT_THAT(report.status.groups, IsEmpty());
}

}  // namespace
}  // namespace cdom::system_test
