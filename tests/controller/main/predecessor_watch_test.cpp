// NVIDIA's controller, which is installed while this one works.
#include "controller/main/predecessor_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <optional>
#include <thread>

#include "controller/empty_server.h"
#include "controller/main/ending.h"

namespace cdom::program {
namespace {

using testing::HasSubstr;
using testing::SizeIs;
using namespace std::chrono_literals;

// All that it is asked of a right is that there is one.
class PermissiveServer : public controller::EmptyServer {
 public:
  base::Result<http::Response> send(const http::Request& request) override {
    if (request.method != "POST") return EmptyServer::send(request);
    return http::Response{
        .status = 201,
        .headers = {},
        .body =
            R"({"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/v1","status":{"allowed":true}})"};
  }
};

class PredecessorWatchTest : public testing::Test {
 protected:
  void start() {
    watch_.emplace(
        client_, pulses_, "compute-domain-operator",
        [this](const auto& found) { ending_.predecessor_found(found); }, 1ms);
  }
  // Until this many of its requests name the kind; false after ten seconds.
  bool has_asked_for(const std::string& plural, std::size_t requests) const {
    const base::Duration end = clock_.elapsed() + 10s;
    while (server_.asked(plural).size() < requests) {
      if (clock_.elapsed() > end) return false;
      std::this_thread::yield();
    }
    return true;
  }
  bool ends() {
    std::promise<void> ended;
    const std::stop_callback on_end(ending_.token(), [&] { ended.set_value(); });
    return ended.get_future().wait_for(10s) == std::future_status::ready;
  }

  const base::SystemClock clock_{};
  PermissiveServer server_;
  const kube::Client client_{server_, clock_, "test"};
  base::Pulses pulses_{clock_, 1min};
  Ending ending_{std::stop_token()};
  std::optional<PredecessorWatch> watch_;
};

TEST_F(PredecessorWatchTest, EndsAControllerThatWorksWhenAnotherStarts) {
  start();
  ASSERT_TRUE(has_asked_for("/pods", 6));
  EXPECT_FALSE(ending_.token().stop_requested());
  server_.put("pods", R"({"metadata":{"namespace":"nvidia","name":"its-pod"},
      "spec":{"containers":[{"name":"c"}]},
      "status":{"conditions":[{"type":"Ready","status":"True"}]}})");
  ASSERT_TRUE(ends());
  EXPECT_THAT(ending_.fault(), HasSubstr("another ComputeDomain controller is at work"));
  EXPECT_THAT(ending_.fault(), HasSubstr("(Pod nvidia/its-pod)"));
}

TEST_F(PredecessorWatchTest, ReadsAllDeploymentsInOneOfTenLooks) {
  server_.put("deployments", R"({"metadata":{"namespace":"nvidia","name":"its-name"},
      "spec":{"template":{"spec":{"containers":[
          {"name":"c","command":["compute-domain-controller"]}]}}},
      "status":{"readyReplicas":1}})");
  start();
  ASSERT_TRUE(ends());
  EXPECT_THAT(ending_.fault(), HasSubstr("(Deployment nvidia/its-name)"));
  EXPECT_THAT(server_.asked("/deployments"), SizeIs(1));
  EXPECT_THAT(server_.asked("/pods"), SizeIs(30)) << "by three labels each time";
}

}  // namespace
}  // namespace cdom::program
