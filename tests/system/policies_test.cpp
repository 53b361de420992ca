// The admission policies that are shipped, on the embedded API server: what a token of the operator
// can write with the rights that its roles give, and what not.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "bin/embedded_manifests.h"
#include "compute_domain/base/clock.h"
#include "compute_domain/sandbox/api_server.h"
#include "sandbox/server/api_client.h"
#include "source_tree/source_tree.h"

namespace cdom::system_test {
namespace {

using sandbox::Answer;
using sandbox::ApiClient;
using testing::HasSubstr;
using json = nlohmann::json;

constexpr char kOperator[] = "compute-domain-operator";

class Policies : public ::testing::Test {
 protected:
  Policies() {
    for (const auto& [name, text] : bin::embedded_manifests()) load(text);
    load("{apiVersion: v1, kind: Namespace, metadata: {name: team-a}}");
    load("{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {kept: 'yes'}}}");
  }
  void load(const std::string& yaml) {
    const auto done = server_.load(yaml);
    ASSERT_TRUE(done) << done.error().message;
  }
  // Refused by a policy that says so.
  static void expect_refused(const Answer& answer, const std::string& message) {
    EXPECT_EQ(answer.status, 403) << answer.body;
    EXPECT_THAT(answer.body.value("message", ""), HasSubstr(message));
  }

  base::ManualClock clock_;
  sandbox::ApiServer server_{clock_};
  ApiClient admin_{server_};
  ApiClient agent_{server_, sandbox::service_account_user(kOperator, "compute-domain-agent", "n1")};
  ApiClient controller_{server_,
                        sandbox::service_account_user(kOperator, "compute-domain-controller")};
};

constexpr char kSlices[] = "/apis/resource.k8s.io/v1/resourceslices";

json slice_in_pool(const std::string& pool) {
  return {{"metadata", {{"name", "slice"}}},
          {"spec",
           {{"driver", "compute-domain.nvidia.com"},
            {"nodeName", "n1"},
            {"pool", {{"name", pool}, {"generation", 1}, {"resourceSliceCount", 1}}},
            {"devices", json::array()}}}};
}

TEST_F(Policies, AnAgentPublishesDevicesInThePoolOfItsNodeOnly) {
  expect_refused(agent_.post(kSlices, slice_in_pool("n2")),
                 R"(the agent of node "n1" may not publish devices in the pool "n2")");
  EXPECT_EQ(agent_.post(kSlices, slice_in_pool("n1")).status, 201);
}

}  // namespace
}  // namespace cdom::system_test
