#include "controller/main/page_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>

#include "cli/health/metrics_access.h"
#include "cli/metrics_rig.h"
#include "compute_domain/base/text.h"
#include "compute_domain/http/client.h"

namespace cdom::program {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

plugin::ClusterView view_of(const std::string& domain) {
  plugin::ClusterView view;
  view.server_version = "v1.37.2";
  api::ComputeDomain one;
  one.meta.ns = "team";
  one.meta.name = domain;
  view.domains.push_back(one);
  return view;
}

struct PageTest : testing::Test {
  base::SystemClock clock;
  base::ManualClock time;
  cli::MetricsRig rig;
  std::atomic<int> reads = 0;
  std::atomic<bool> is_readable = true;
  PageMaker pages{[this]() -> base::Result<plugin::ClusterView> {
                    ++reads;
                    if (!is_readable) {
                      return base::Error{base::ErrorKind::Forbidden, "you lack the right \"list\""};
                    }
                    return view_of("training");
                  },
                  "controller-1", time};
  std::unique_ptr<http::Server> server;
  std::unique_ptr<http::Client> client;

  void serve(bool asks_who_reads = false) {
    const cli::HealthFlags flags{.authentication = asks_who_reads};
    auto served = serve_page(flags, "127.0.0.1:0", pages,
                             cli::readers_of(kPagePath, flags, rig.client, rig.clock));
    ASSERT_TRUE(served) << served.error().message;
    server = std::move(*served);
    client = http::make_client({.base_url = base::cat("http://", server->address())}, clock);
  }
  http::Response get(const std::string& target, const http::Headers& headers = {}) {
    const auto answer = client->send({.target = target, .headers = headers});
    EXPECT_TRUE(answer) << answer.error().message;
    return answer ? *answer : http::Response{};
  }
};

TEST_F(PageTest, ShowsTheClusterAndOneComputeDomain) {
  serve();
  const http::Response all = get("/debug/page");
  EXPECT_EQ(all.status, 200);
  EXPECT_EQ(all.headers.at("Content-Type"), "text/html; charset=utf-8");
  EXPECT_EQ(all.headers.at("Cache-Control"), "no-store");
  EXPECT_THAT(all.body, AllOf(StartsWith("<!doctype html>"), HasSubstr("training"),
                              HasSubstr("controller-1")));
  const http::Response one = get("/debug/page/team/training");
  EXPECT_EQ(one.status, 200);
  EXPECT_THAT(one.body, HasSubstr("<title>ComputeDomain team/training"));
  EXPECT_EQ(get("/debug/page/team/none").status, 404);
  EXPECT_THAT(get("/debug/page/team/%3Cscript%3E").body, HasSubstr("no ComputeDomain"));
  EXPECT_EQ(get("/debug/page/team/%3Cscript%3E").headers.at("Content-Type"),
            "text/plain; charset=utf-8")
      << "so that no browser takes it for markup";
  for (const char* other : {"/", "/debug", "/debug/pages", "/debug/page/a", "/debug/page/a/b/c"}) {
    EXPECT_THAT(get(other).body, HasSubstr("try /debug/page")) << other;
  }
}

TEST_F(PageTest, AsksTheApiServerOnceInFiveSecondsHoweverManyLook) {
  serve();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(get("/debug/page").status, 200);
  EXPECT_EQ(reads, 1);
  time.advance(seconds(5));
  EXPECT_EQ(get("/debug/page").status, 200);
  EXPECT_EQ(reads, 2);
}

TEST_F(PageTest, SaysWhyTheClusterCannotBeRead) {
  serve();
  is_readable = false;
  const http::Response refused = get("/debug/page");
  EXPECT_EQ(refused.status, 502);
  EXPECT_EQ(refused.body, "the cluster cannot be read: you lack the right \"list\"\n");
  is_readable = true;
  EXPECT_EQ(get("/debug/page").status, 502) << "who looks again at once does not ask again";
  EXPECT_EQ(reads, 1);
  time.advance(seconds(5));
  EXPECT_EQ(get("/debug/page").status, 200);
}

// A web site whose name has become a loopback address (DNS rebinding).
TEST_F(PageTest, IsNotForAnotherSitesNameOfThisMachine) {
  serve();
  const std::string address = server->address();
  const std::string port = address.substr(address.rfind(':'));
  EXPECT_EQ(get("/debug/page", {{"Host", "evil.example" + port}}).status, 403);
  EXPECT_EQ(get("/debug/page", {{"Host", "127.evil.example"}}).status, 403);
  EXPECT_EQ(get("/debug/page", {{"Host", "localhost.evil.example" + port}}).status, 403);
  EXPECT_EQ(reads, 0);
  for (const char* host : {"localhost", "127.0.0.1", "[::1]", "127.0.0.53"}) {
    EXPECT_EQ(get("/debug/page", {{"Host", host + port}}).status, 200) << host;
    EXPECT_EQ(get("/debug/page", {{"Host", host}}).status, 200) << host;
  }
}

TEST_F(PageTest, IsOnlyForWhoMayGetItWhereReadersAreAsked) {
  serve(true);
  EXPECT_EQ(get("/debug/page").status, 401);
  EXPECT_EQ(get("/debug/page", {{"Authorization", "Bearer guess"}}).status, 401);
  EXPECT_EQ(get("/debug/page", {{"Authorization", "Bearer " + rig.token_of("stranger")}}).status,
            403);
  EXPECT_THAT(get("/debug/page", {{"Authorization", "Bearer " + rig.token_of("stranger")}}).body,
              HasSubstr("may not get /debug/page"));
  EXPECT_EQ(reads, 0);
}

TEST(PageMaker, RefusesWhoComesWhenManyWait) {
  base::ManualClock time;
  std::mutex mutex;
  std::condition_variable changed;
  bool is_let_go = false, is_reading = false;
  std::vector<int> answers;
  {
    PageMaker pages(
        [&]() -> base::Result<plugin::ClusterView> {
          std::unique_lock lock(mutex);
          is_reading = true;
          changed.notify_all();
          changed.wait(lock, [&] { return is_let_go; });
          return view_of("training");
        },
        "controller-1", time);
    const auto note = [&](const http::Response& response) {
      const std::lock_guard lock(mutex);
      answers.push_back(response.status);
      changed.notify_all();
    };
    pages.ask(std::nullopt, note);
    {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return is_reading; });
    }
    for (std::size_t i = 0; i <= PageMaker::kMostWaiting; ++i) pages.ask(std::nullopt, note);
    std::unique_lock lock(mutex);
    EXPECT_EQ(answers, std::vector<int>{503});
    is_let_go = true;
    changed.notify_all();
    changed.wait(lock, [&] { return answers.size() == PageMaker::kMostWaiting + 2; });
  }
  EXPECT_EQ(std::ranges::count(answers, 200), static_cast<int>(PageMaker::kMostWaiting) + 1);
}

}  // namespace
}  // namespace cdom::program
