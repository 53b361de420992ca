// Events about objects that are neither domains nor claims that are told of by the core.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "compute_domain/base/text.h"
#include "compute_domain/controller/controller.h"
#include "controller/empty_server.h"

namespace cdom::controller {
namespace {

using namespace std::chrono_literals;
using base::cat;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::SizeIs;

class ToldObjects : public testing::Test {
 protected:
  void run_for(base::Duration span) {
    const base::Duration end = clock_.elapsed() + span;
    while (clock_.elapsed() < end) {
      bool any = false;
      for (const auto& part : controller_.parts()) any |= part.step();
      if (!any) clock_.advance(100ms);
    }
  }
  std::vector<std::string> events(const std::string& reason) {
    std::vector<std::string> found;
    for (const std::string& body : server_.created()) {
      if (body.find(cat(R"("reason":")", reason, '"')) != std::string::npos) found.push_back(body);
    }
    return found;
  }

  EmptyServer server_;
  base::ManualClock clock_;
  base::Registry metrics_;
  kube::Client client_{server_, clock_, "test"};
  Controller controller_{client_, clock_, metrics_, {}};
};

std::string odd(const std::string& name, int generation = 0) {
  return cat(R"({"metadata":{"namespace":"team-a","name":")", name, R"(","uid":"uid-)", name,
             R"(","resourceVersion":"3","labels":{"odd":)", generation, "}}}");
}

// Its owner learns that the controller does not see it, once.
TEST_F(ToldObjects, ThatCannotBeReadAreClaimsTemplatesAndSlicesToo) {
  server_.put("resourceclaims", odd("claim"));
  server_.put("resourceclaimtemplates", odd("template"));
  server_.put("resourceslices", odd("slice"));
  run_for(3s);
  const auto told = events("Unreadable");
  EXPECT_THAT(told, SizeIs(3));
  for (const char* kind : {"ResourceClaim", "ResourceClaimTemplate", "ResourceSlice"}) {
    EXPECT_THAT(told, Contains(AllOf(HasSubstr(cat(R"("kind":")", kind, '"')),
                                     HasSubstr("must be a string, is number"))));
  }
}

TEST_F(ToldObjects, WithoutAUidAreNotNamed) {
  server_.put("resourceclaims", R"({"metadata":{"namespace":"team-a","labels":{"odd":1}}})");
  run_for(3s);
  EXPECT_THAT(events("Unreadable"), SizeIs(0));
}

// A person's, with a configuration that cannot be used.
std::string unusable_claim(const std::string& name) {
  return cat(R"({"metadata":{"namespace":"team-a","name":")", name, R"(","uid":"uid-)", name,
             R"(","resourceVersion":"3"},"spec":{"devices":{"config":[{"opaque":{
             "driver":"compute-domain.nvidia.com","parameters":{
             "apiVersion":"resource.nvidia.com/v1beta1","kind":"ComputeDomainConfig","nodes":2}}}]}}})");
}

double count_of(base::Registry& metrics, const char* outcome) {
  return metrics.counter("compute_domain_events_total", "", {{"outcome", outcome}}).value();
}

// The queue of Events has room for a thousand.
TEST_F(ToldObjects, AreAllTheClaimsOfANamespaceThatCannotBeUsedHoweverMany) {
  std::vector<std::string> claims;
  claims.reserve(1500);
  for (int i = 0; i < 1500; ++i) claims.push_back(unusable_claim(cat("c", i)));
  server_.put("resourceclaims", base::join(claims, ","));
  run_for(5min);
  EXPECT_THAT(events("InvalidConfig"), SizeIs(1500)) << "each once";
  EXPECT_THAT(controller_.unrest(), SizeIs(0));
  EXPECT_LE(count_of(metrics_, "Dropped"), 10) << "one that finds no place ends the look";
}

TEST_F(ToldObjects, WithoutAPlaceForTheirEventsAreTriedSeldom) {
  std::vector<std::string> claims;
  claims.reserve(1500);
  for (int i = 0; i < 1500; ++i) claims.push_back(unusable_claim(cat("c", i)));
  server_.put("resourceclaims", base::join(claims, ","));
  server_.refuse("/namespaces/team-a/events", 429);
  run_for(100s);
  EXPECT_LE(count_of(metrics_, "Dropped"), 10);
  EXPECT_THAT(controller_.unrest(), SizeIs(0)) << "the key waits for its time";
}

TEST_F(ToldObjects, AreNodesWhoseLabelIsRefused) {
  server_.put("nodes", R"({"metadata":{"name":"n1","uid":"uid-n1","resourceVersion":"3",
      "labels":{"nvidia.com/gpu.present":"true"}},"status":{}})");
  server_.refuse("PATCH /api/v1/nodes/n1", 403);
  run_for(5min);
  const auto told = events("WriteRefused");
  ASSERT_THAT(told, SizeIs(1)) << "once, however often it is tried";
  EXPECT_THAT(told[0], AllOf(HasSubstr(R"("kind":"Node")"), HasSubstr("uid-n1"),
                             HasSubstr("for secret/of-somebody")));
  EXPECT_THAT(metrics_.render(), HasSubstr("compute_domain_refused_keys 1"));
}

}  // namespace
}  // namespace cdom::controller
