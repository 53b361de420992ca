#include "compute_domain/controller/predecessor.h"

#include <gtest/gtest.h>

#include <map>

namespace cdom::controller {
namespace {

constexpr char kDeployments[] =
    "/apis/apps/v1/"
    "deployments?labelSelector=dra-driver-nvidia-gpu-component%3Dcontroller&limit=500";
constexpr char kLeases[] =
    "/apis/coordination.k8s.io/v1/leases?fieldSelector=metadata.name%3D"
    "dra-driver-nvidia-gpu-controller&limit=500";

// Answers by target; to others as a server that does not let us look.
class Server : public http::Client {
 public:
  std::map<std::string, std::string> lists;

  base::Result<http::Response> send(const http::Request& request) override {
    const auto it = lists.find(request.target);
    if (it == lists.end()) return http::Response{.status = 403, .headers = {}, .body = "{}"};
    return http::Response{.status = 200, .headers = {}, .body = it->second};
  }
  base::Result<http::Opened> open(const http::Request&) override {
    return base::Error{base::ErrorKind::Unavailable, "no watches"};
  }
  void shut_down() override {}
};

class Predecessor : public testing::Test {
 protected:
  std::optional<std::string> found(const api::ObjectName& own_lease = {}) {
    const kube::Client client(server_, clock_, "test");
    return find_predecessor(client, *base::parse_rfc3339("2026-01-01T00:00:10Z"), own_lease);
  }
  static std::string deployment(int ready) {
    return R"({"kind":"DeploymentList","apiVersion":"apps/v1","metadata":{},"items":[)"
           R"({"metadata":{"namespace":"gpu","name":"controller"},"status":{"readyReplicas":)" +
           std::to_string(ready) + "}}]}";
  }
  static std::string lease(const std::string& renewed) {
    return R"({"kind":"LeaseList","apiVersion":"coordination.k8s.io/v1","metadata":{},"items":[)"
           R"({"metadata":{"namespace":"gpu","name":"dra-driver-nvidia-gpu-controller"},)"
           R"("spec":{"holderIdentity":"c-0","leaseDurationSeconds":15,"renewTime":")" +
           renewed + "\"}}]}";
  }

  base::ManualClock clock_;
  Server server_;
};

TEST_F(Predecessor, IsADeploymentWithAReadyPod) {
  server_.lists[kDeployments] = deployment(1);
  EXPECT_EQ(found(), "Deployment gpu/controller");
  server_.lists[kDeployments] = deployment(0);
  EXPECT_EQ(found(), std::nullopt);
}

TEST_F(Predecessor, IsALeaseThatSomebodyRenews) {
  server_.lists[kLeases] = lease("2026-01-01T00:00:00.000000Z");
  EXPECT_EQ(found(), "Lease gpu/dra-driver-nvidia-gpu-controller, held by c-0");
  server_.lists[kLeases] = lease("2025-12-31T23:59:50.000000Z");
  EXPECT_EQ(found(), std::nullopt) << "it has expired";
}

TEST_F(Predecessor, IsNotOurOwnLeaseOfThatName) {
  server_.lists[kLeases] = lease("2026-01-01T00:00:00.000000Z");
  EXPECT_EQ(found({"gpu", "dra-driver-nvidia-gpu-controller"}), std::nullopt);
}

TEST_F(Predecessor, IsNoneWhereWeMayNotLook) { EXPECT_EQ(found(), std::nullopt); }

}  // namespace
}  // namespace cdom::controller
