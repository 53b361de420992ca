// An API server that is upgraded while an informer watches it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <stop_token>
#include <thread>

#include "compute_domain/base/text.h"
#include "compute_domain/kube/client.h"
#include "compute_domain/kube/informer.h"
#include "kube/fake_server.h"

namespace cdom::kube {
namespace {

using namespace std::chrono_literals;
using base::cat;
using base::ErrorKind;
using testing::HasSubstr;
using Step = WatchLoop::Step;

// Serves one ResourceClaim, in one version of resource.k8s.io or in none.
class VersionedServer : public http::Client {
 public:
  std::string version = "v1beta1";
  int discoveries = 0;
  bool is_cut = false;  // the watches that are open

  void upgrade(const std::string& to) {
    version = to;
    is_cut = true;
  }

  base::Result<http::Response> send(const http::Request& request) override {
    if (request.target == "/apis/resource.k8s.io") {
      ++discoveries;
      if (version.empty()) return not_found();
      return ok(cat(R"({"kind":"APIGroup","apiVersion":"v1","name":"resource.k8s.io","versions":[)",
                    R"({"groupVersion":"resource.k8s.io/)", version, R"(","version":")", version,
                    R"("}]})"));
    }
    if (!is_served(request)) return not_found();
    return ok(cat(R"({"kind":"ResourceClaimList","apiVersion":"resource.k8s.io/)", version,
                  R"(","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"a",)",
                  R"("namespace":"ns","uid":"u","resourceVersion":"7"},"spec":{}}]})"));
  }
  base::Result<http::Opened> open(const http::Request& request) override {
    if (!is_served(request)) return http::Opened{not_found(), nullptr};
    is_cut = false;
    return http::Opened{{200, {}, ""}, std::make_unique<Watch>(*this)};
  }
  void shut_down() override {}

 private:
  class Watch : public http::Stream {
   public:
    explicit Watch(const VersionedServer& server) : server_(server) {}
    base::Result<http::StreamRead> next(base::Duration) override {
      if (server_.is_cut) return base::Error{ErrorKind::Unavailable, "the connection was closed"};
      return http::StreamRead{};
    }
    void cancel() override {}

   private:
    const VersionedServer& server_;
  };

  [[nodiscard]] bool is_served(const http::Request& request) const {
    return request.target.starts_with(cat("/apis/resource.k8s.io/", version, "/resourceclaims"));
  }
  static http::Response not_found() {
    return {404, {}, status_json(404, "NotFound", "the server could not find the resource")};
  }
};

class ApiVersions : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(client.discover());
    settle();
    ASSERT_EQ(stored_version(), "v1beta1");
  }
  // Until nothing happens for so long.
  void settle(base::Duration span = 10s) {
    const base::Duration end = clock.elapsed() + span;
    while (clock.elapsed() < end) {
      if (informer.step(0s) == Step::Idle) clock.advance(100ms);
    }
  }
  [[nodiscard]] std::string stored_version() const {
    const auto claim = informer.store().get({"ns", "a"});
    return claim ? std::string(claim->version) : "none";
  }

  VersionedServer server;
  base::ManualClock clock;
  Client client{server, clock, "test"};
  Informer<api::ResourceClaim> informer{client, clock, {}};
};

TEST_F(ApiVersions, AnUpgradeThatRemovesTheWatchedVersionLeadsToTheNewOne) {
  server.upgrade("v1");
  settle();
  EXPECT_EQ(client.version_of(api::kind_of<api::ResourceClaim>()), "v1");
  EXPECT_EQ(stored_version(), "v1") << "what is stored is named in the version that is served";
  EXPECT_EQ(informer.trouble(), std::nullopt);
}

TEST_F(ApiVersions, AServerThatGoesBackIsFollowedToo) {
  server.upgrade("v1");
  settle();
  server.upgrade("v1beta2");
  settle();
  EXPECT_EQ(stored_version(), "v1beta2");
}

TEST_F(ApiVersions, AGroupThatIsNotServedAnyMoreIsNamedAndWaitedFor) {
  server.upgrade("");
  settle(90s);
  const auto trouble = informer.trouble();
  ASSERT_TRUE(trouble);
  EXPECT_EQ(trouble->error.kind, ErrorKind::NotFound);
  EXPECT_THAT(trouble->error.message, HasSubstr("serves resource.k8s.io in none of the versions"));
  EXPECT_GE(clock.elapsed() - trouble->same_since, 80s);
  EXPECT_LT(server.discoveries, 20) << "it backs off";
  server.upgrade("v1");
  settle(60s);
  EXPECT_EQ(stored_version(), "v1");
  EXPECT_EQ(informer.trouble(), std::nullopt);
}

TEST_F(ApiVersions, AKindOfOneVersionIsNotLookedUpAgain) {
  const int before = server.discoveries;
  EXPECT_TRUE(client.discover_again(api::kind_of<api::ConfigMap>()));
  EXPECT_EQ(server.discoveries, before);
}

// Serves two versions in turn, and looks whether each creation is in one of them only.
class FlickeringServer : public http::Client {
 public:
  std::atomic<int> mixed = 0;

  base::Result<http::Response> send(const http::Request& request) override {
    if (request.method == "GET") {
      const char* version = ++discoveries_ % 2 == 0 ? "v1" : "v1beta1";
      return ok(cat(R"({"kind":"APIGroup","apiVersion":"v1","name":"resource.k8s.io","versions":[)",
                    R"({"groupVersion":"resource.k8s.io/)", version, R"(","version":")", version,
                    R"("}]})"));
    }
    const bool is_v1 = request.target.find("/v1/") != std::string::npos;
    if (is_v1 != (request.body.find(R"("resource.k8s.io/v1")") != std::string::npos)) ++mixed;
    return http::Response{409, {}, status_json(409, "AlreadyExists", "it is there")};
  }
  base::Result<http::Opened> open(const http::Request&) override {
    return base::Error{ErrorKind::Unavailable, "no watches here"};
  }
  void shut_down() override {}

 private:
  std::atomic<int> discoveries_ = 0;
};

TEST(ApiVersion, IsTheSameInTheBodyAndThePathOfAWriteWhileTheServerIsUpgraded) {
  FlickeringServer server;
  const base::ManualClock clock;
  const Client client(server, clock, "test");
  const std::jthread upgrades([&](const std::stop_token& token) {
    while (!token.stop_requested()) {
      EXPECT_TRUE(client.discover_again(api::kind_of<api::ResourceClaim>()));
    }
  });
  api::ResourceClaim claim;
  claim.meta = {.name = "a", .ns = "ns"};
  for (int i = 0; i < 5000; ++i) EXPECT_FALSE(client.create(claim));
  EXPECT_EQ(server.mixed, 0);
}

}  // namespace
}  // namespace cdom::kube
