// How proofs are brought, against an API server that counts what it is asked.
#include "compute_domain/controller/apply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compute_domain/base/text.h"
#include "compute_domain/core/reservations.h"
#include "controller/empty_server.h"
#include "controller/placer.h"
#include "controller/shell_rig.h"

namespace cdom::controller {
namespace {

using namespace std::chrono_literals;
using base::cat;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class ApplyTest : public testing::Test {
 protected:
  // What keeps the node from being taken for unused; "" when nothing does.
  std::string use_of(const std::string& node) {
    const Applied applied =
        apply_({.actions = {core::EnsureNodeUnused{node}}, .look_again = std::nullopt});
    return applied.result ? "" : applied.result.error().message;
  }
  [[nodiscard]] std::size_t lists() const { return server_.asked("/resourceclaims?").size(); }

  EmptyServer server_;
  base::ManualClock clock_;
  kube::Client client_{server_, clock_, "test"};
  kube::EventRecorder events_{client_, clock_, {.component = "test", .instance = "test"}};
  Memory memory_;
  Workloads workloads_;
  Apply apply_{client_, events_, memory_, workloads_, clock_, nullptr};
};

std::string claim_on(const std::string& name, const std::string& node) {
  return cat(R"({"metadata":{"namespace":"team-a","name":")", name, R"(","uid":"uid-)", name,
             R"(","resourceVersion":"3"},"spec":{},"status":{"allocation":{"devices":{"results":[
             {"driver":"compute-domain.nvidia.com","pool":")",
             node, R"(","device":"channel-0","request":"channel"}]},
             "nodeSelector":{"nodeSelectorTerms":[{"matchFields":[
             {"key":"metadata.name","operator":"In","values":[")",
             node, R"("]}]}]}}}})");
}

// The GPUs of many nodes may go at once.
TEST_F(ApplyTest, OneListProvesOfManyNodesThatTheyAreNotUsed) {
  server_.put("resourceclaims", claim_on("a", "n1"));
  EXPECT_THAT(use_of("n1"), HasSubstr("1 claim may be in use on Node n1"));
  for (int i = 2; i < 100; ++i) EXPECT_THAT(use_of(cat("n", i)), IsEmpty());
  EXPECT_EQ(lists(), 1U);
  server_.put("resourceclaims", claim_on("a", "n2"));
  clock_.advance(1s);
  EXPECT_THAT(use_of("n1"), IsEmpty());
  EXPECT_THAT(use_of("n2"), HasSubstr("n2"));
  EXPECT_EQ(lists(), 2U);
}

// A tenant may delete a namespace full of them, and nobody else's claims wait for as many lists.
TEST_F(ApplyTest, OneListProvesOfAllDomainsOfAPlanThatTheyAreGone) {
  core::Plan plan;
  for (int i = 0; i < 100; ++i) plan.actions.emplace_back(core::EnsureDomainGone{cat("uid-", i)});
  EXPECT_TRUE(apply_(plan).result);
  EXPECT_EQ(server_.asked("/computedomains?").size(), 1U);
  server_.put("computedomains", R"({"metadata":{"namespace":"team-a","name":"train","uid":"uid-7",
      "resourceVersion":"3"},"spec":{"numNodes":1,"channel":{"resourceClaimTemplate":{"name":"t"}}}})");
  const Applied applied = apply_(plan);
  ASSERT_FALSE(applied.result);
  EXPECT_THAT(applied.result.error().message, HasSubstr("ComputeDomain team-a/train exists"));
  EXPECT_EQ(server_.asked("/computedomains?").size(), 2U) << "each plan sees for itself";
}

// Also beside one that is still there.
TEST_F(ApplyTest, OneListProvesOfAllReservationsThatTheirDomainsAreGone) {
  ShellRig rig;
  core::Reservations reservations;
  for (int i = 0; i < 100; ++i) {
    reservations.by_domain[cat("uid-", i)] = {.clique = "a.1", .seats = 1, .generation = i};
  }
  rig.put(core::config_map_of(reservations, rig.settings.operator_namespace));
  server_.put("computedomains", R"({"metadata":{"namespace":"team-a","name":"train","uid":"uid-7",
      "resourceVersion":"3"},"spec":{"numNodes":1,"channel":{"resourceClaimTemplate":{"name":"t"}}}})");
  Placer placer(rig.sources, apply_);
  (void)placer.run();
  EXPECT_EQ(server_.asked("/computedomains?").size(), 1U);
  EXPECT_THAT(server_.asked("/configmaps"), Not(IsEmpty())) << "the others' are ended";
}

TEST_F(ApplyTest, AClaimThatCannotBeReadKeepsNoNodeInUse) {
  server_.put("resourceclaims", R"({"metadata":{"namespace":"team-a","name":"odd","uid":"uid-odd",
      "resourceVersion":"3","labels":{"odd":1}}})");
  EXPECT_THAT(use_of("n1"), IsEmpty());
}

// Else a rate would not see the first one.
TEST_F(ApplyTest, CountsFormationsFromZero) {
  base::Registry metrics;
  const Apply apply(client_, events_, memory_, workloads_, clock_, &metrics);
  EXPECT_THAT(metrics.render(), HasSubstr("compute_domain_formation_seconds_count 0\n"));
}

}  // namespace
}  // namespace cdom::controller
