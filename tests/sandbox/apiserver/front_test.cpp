// The socket side, through the real HTTP client.
#include <gmock/gmock.h>

#include "compute_domain/sandbox/api_front.h"
#include "sandbox/apiserver/api_client.h"

namespace cdom::sandbox {
namespace {

using namespace std::chrono_literals;

class Front : public ::testing::Test {
 protected:
  Front() {
    http::initialize_process();
    auto made = serve(server, "127.0.0.1:0");
    EXPECT_TRUE(made) << made.error().message;
    front = std::move(made).value();
    client = client_with(server.admin_token());
    ApiClient(server).post("/api/v1/namespaces", {{"metadata", {{"name", "default"}}}});
  }
  std::unique_ptr<http::Client> client_with(const std::string& token) {
    return http::make_client({.base_url = "http://" + front->address(), .token = token}, clock);
  }

  base::SystemClock clock;
  ApiServer server{clock};
  std::unique_ptr<ApiFront> front;
  std::unique_ptr<http::Client> client;
};

TEST_F(Front, AnswersWhoHasTheToken) {
  EXPECT_EQ(client->send({.target = "/api/v1/namespaces/default"})->status, 200);
  EXPECT_EQ(client_with("guess")->send({.target = "/api/v1/namespaces/default"})->status, 401);
}

TEST_F(Front, StreamsAWatchAsThingsHappen) {
  auto opened = client->open({.target = "/api/v1/configmaps?watch=true&resourceVersion=" +
                                        std::to_string(server.resource_version())});
  ASSERT_TRUE(opened);
  ASSERT_NE(opened->stream, nullptr);
  ApiClient(server).post("/api/v1/namespaces/default/configmaps", {{"metadata", {{"name", "a"}}}});
  const auto read = opened->stream->next(30s);
  ASSERT_TRUE(read);
  EXPECT_EQ(json::parse(read->line)["type"], "ADDED");
}

// It takes one of five, and the rest when nothing more is written.
TEST_F(Front, AWatcherThatFellBehindGetsItsBacklog) {
  constexpr int kEvents = 10'000, kWritten = 500, kTaken = 100;
  auto opened = client->open({.target = "/api/v1/configmaps?watch=true&resourceVersion=" +
                                        std::to_string(server.resource_version())});
  ASSERT_TRUE(opened && opened->stream);
  int taken = 0;
  const auto take = [&](int count) {
    for (const int end = taken + count; taken < end; ++taken) {
      const auto read = opened->stream->next(30s);
      ASSERT_TRUE(read) << "event " << taken << ": " << read.error().message;
      ASSERT_EQ(read->what, http::StreamRead::What::Line);
      const json data = json::parse(read->line)["object"]["data"];
      ASSERT_EQ(data.value("i", "0"), std::to_string(taken));
    }
  };
  ApiClient api(server);
  const std::string maps = "/api/v1/namespaces/default/configmaps";
  api.post(maps, {{"metadata", {{"name", "a"}}}, {"data", {{"fill", std::string(1000, 'x')}}}});
  for (int i = 1; i < kEvents; ++i) {
    ASSERT_EQ(api.merge(maps + "/a", {{"data", {{"i", std::to_string(i)}}}}).status, 200);
    if (i % kWritten != 0) continue;
    ASSERT_NO_FATAL_FAILURE(take(kTaken));
  }
  take(kEvents - taken);
}

TEST_F(Front, EndsAWatchAtItsTimeout) {
  auto opened = client->open({.target = "/api/v1/configmaps?watch=true&timeoutSeconds=1"});
  ASSERT_TRUE(opened);
  const auto read = opened->stream->next(30s);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->what, http::StreamRead::What::End);
}

TEST_F(Front, FollowsALogUntilThePodHasEnded) {
  ApiClient api(server);
  const std::string pods = "/api/v1/namespaces/default/pods";
  api.post(
      pods,
      {{"metadata", {{"name", "p"}}},
       {"spec",
        {{"nodeName", "n1"}, {"containers", json::array({{{"name", "c"}, {"image", "i"}}})}}}});
  server.append_log("default", "p", "c", "one\n");
  auto opened = client->open({.target = pods + "/p/log?follow=true"});
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->stream->next(30s)->line, "one");
  server.append_log("default", "p", "c", "two\n");
  EXPECT_EQ(opened->stream->next(30s)->line, "two");
  api.merge(pods + "/p/status", {{"status", {{"phase", "Succeeded"}}}});
  EXPECT_EQ(opened->stream->next(30s)->what, http::StreamRead::What::End);
}

}  // namespace
}  // namespace cdom::sandbox
