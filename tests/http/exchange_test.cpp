// One request and its answer, client against server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <thread>
#include <vector>

#include "compute_domain/base/text.h"
#include "http/local.h"
#include "http/raw_peer.h"

namespace cdom::http {
namespace {

using ::testing::HasSubstr;

Reply echo(const Request& request, const Peer&) {
  Response response{201, request.headers, request.body};
  response.headers["X-Method"] = request.method;
  response.headers["X-Target"] = request.target;
  return response;
}

TEST(Exchange, CarriesMethodTargetHeadersAndBodyBothWays) {
  const auto server = serve(echo);
  const auto client = connect_to(*server);
  const auto answer =
      client->send({"PATCH",
                    "/api/v1/nodes/a%2Fb?labelSelector=a%3Db%2Cc%20in%20%28x%29",
                    {{"Content-Type", "application/apply-patch+yaml"}, {"X-Twice", "a"}},
                    "{}"});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 201);
  EXPECT_EQ(answer->body, "{}");
  EXPECT_EQ(answer->headers.at("x-method"), "PATCH");
  EXPECT_EQ(answer->headers.at("x-target"),
            "/api/v1/nodes/a%2Fb?labelSelector=a%3Db%2Cc%20in%20%28x%29");
  EXPECT_EQ(answer->headers.at("content-type"), "application/apply-patch+yaml");
  EXPECT_EQ(answer->headers.at("user-agent"), "cdom-test");
}

TEST(Exchange, ReachesAServerByItsIpv6Address) {
  auto server = make_server({.listen = "[::1]:0"}, echo);
  if (!server) GTEST_SKIP() << "no IPv6 here: " << server.error().message;
  const std::string address = (*server)->address();
  const auto client = connect(config_for(base::cat("http://", address)));
  const auto answer = client->send({"GET", "/api/v1/nodes?limit=1", {}, {}});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->headers.at("x-target"), "/api/v1/nodes?limit=1");
  EXPECT_EQ(answer->headers.at("host"), address);
}

// The lines of a request's head that begin with "Impersonate-", as they came over the wire but for
// spaces.
std::vector<std::string> impersonation_in(const std::string& head) {
  std::vector<std::string> lines;
  for (std::string line : base::split(head, '\n')) {
    if (!line.starts_with("Impersonate-")) continue;
    std::erase_if(line, [](char c) { return c == ' ' || c == '\r'; });
    lines.push_back(std::move(line));
  }
  return lines;
}

TEST(Exchange, CarriesFieldsThatComeTwiceOnLinesOfTheirOwnAlsoInAStream) {
  std::vector<std::string> heads;
  {
    const RawServer server([&](RawConnection& peer) {
      heads.push_back(peer.read_request());
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}");
    });
    ClientConfig config = config_for(server.url());
    config.fields = {
        {"Impersonate-User", "jane"}, {"Impersonate-Group", "dev"}, {"Impersonate-Group", "ops"}};
    const auto client = connect(config);
    for (const char* method : {"GET", "POST"}) {
      const auto answer = client->send({method, "/", {}, method == std::string("GET") ? "" : "{}"});
      ASSERT_TRUE(answer) << answer.error().message;
    }
    ASSERT_TRUE(client->open({.headers = {}, .body = {}}));
  }
  ASSERT_EQ(heads.size(), 3U);
  for (const std::string& head : heads) {
    EXPECT_THAT(impersonation_in(head),
                testing::UnorderedElementsAre("Impersonate-User:jane", "Impersonate-Group:dev",
                                              "Impersonate-Group:ops"))
        << head;
  }
}

TEST(Exchange, CarriesBigBodiesBothWays) {
  const auto server = serve(echo);
  const auto client = connect_to(*server);
  for (const char* method : {"PUT", "POST"}) {
    std::string body(5u << 20, 'x');
    body += method;
    const auto answer = client->send({method, "/", {}, body});
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_TRUE(answer->body == body) << method;
  }
}

TEST(Exchange, NoMoreOfAnAnswerIsReadThanTheRequestWants) {
  const auto server = serve([](const Request&, const Peer&) -> Reply {
    return Response{200, {}, std::string(5u << 20, 'x')};
  });
  const auto client = connect_to(*server);
  Request request{.headers = {}, .body = {}};
  request.most_bytes = (5u << 20) - 1;
  const auto cut = client->send(request);
  ASSERT_TRUE(cut) << cut.error().message;
  EXPECT_TRUE(cut->is_too_long);
  EXPECT_EQ(cut->body.size(), 0U);
  request.most_bytes = 5u << 20;
  const auto whole = client->send(request);
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_FALSE(whole->is_too_long);
  EXPECT_EQ(whole->body.size(), 5u << 20);
}

TEST(Exchange, AnAnswerOfAnyStatusIsAValue) {
  const auto server = serve([](const Request& request, const Peer&) -> Reply {
    const int status = std::stoi(request.target.substr(1));
    return Response{status, {{"Retry-After", "1"}, {"Location", "/elsewhere"}}, "why"};
  });
  const auto client = connect_to(*server);
  for (const int status : {200, 302, 404, 409, 429, 500, 503}) {
    const auto answer = client->send({"GET", "/" + std::to_string(status), {}, {}});
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->status, status);
    EXPECT_EQ(answer->body, "why");
    EXPECT_EQ(answer->headers.at("Retry-After"), "1");
  }
}

TEST(Exchange, HeadHasTheLengthButNoBody) {
  const auto server = serve([](const Request&, const Peer&) -> Reply {
    return Response{200, {}, "twelve bytes"};
  });
  const auto client = connect_to(*server);
  for (int i = 0; i < 2; ++i) {
    const auto answer = client->send({"HEAD", "/", {}, {}});
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->headers.at("Content-Length"), "12");
    EXPECT_EQ(answer->body, "");
  }
}

TEST(Exchange, ManyThreadsMayShareOneClient) {
  const auto server = serve(echo);
  const auto client = connect_to(*server);
  std::atomic<int> right = 0;
  {
    std::vector<std::jthread> threads;
    threads.reserve(8);
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 25; ++i) {
          const std::string body = std::to_string(t * 100 + i);
          const auto answer = client->send({"PUT", "/", {}, body});
          if (answer && answer->body == body) ++right;
        }
      });
    }
  }
  EXPECT_EQ(right, 200);
}

TEST(Exchange, ARefusedConnectionIsUnavailable) {
  std::string nobody;
  {
    const auto server = serve(echo);
    nobody = "http://" + server->address();
  }
  const auto answer = connect(config_for(nobody))->send({"GET", "/healthz?verbose", {}, {}});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, base::ErrorKind::Unavailable);
  EXPECT_THAT(answer.error().message, HasSubstr("GET " + nobody + "/healthz: "));
}

TEST(Exchange, AnUnusableBaseUrlIsInvalidAndSaysWhatToDo) {
  for (const auto& [url, remedy] :
       std::map<std::string, std::string>{{"https://[fd00::g]:443", "not an IPv6 address"},
                                          {"10.96.0.1:443", "use http://HOST:PORT"},
                                          {"http://10.0.0.1:70000", "the port is above 65535"},
                                          {"", "use http://HOST:PORT"},
                                          {"https://a b", "\"https://a b\": use http"}}) {
    const auto answer = connect(config_for(url))->send({"GET", "/", {}, {}});
    ASSERT_FALSE(answer) << url;
    EXPECT_EQ(answer.error().kind, base::ErrorKind::Invalid) << url;
    EXPECT_THAT(answer.error().message, HasSubstr(remedy));
  }
}

TEST(Exchange, ATargetThatIsNotEncodedIsInvalid) {
  const auto server = serve(echo);
  const auto answer = connect_to(*server)->send({"GET", "/a b|c", {}, {}});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, base::ErrorKind::Invalid);
}

TEST(Exchange, ShutDownEndsWhatIsInFlightAndRefusesTheRest) {
  Gift<std::shared_ptr<StreamWriter>> arrived;
  const auto server = serve(streaming([&](auto writer) { arrived.give(std::move(writer)); }));
  const auto client = connect_to(*server);
  auto answer = std::async(std::launch::async, [&] { return client->send({"GET", "/", {}, {}}); });
  const auto writer = arrived.wait();
  ASSERT_TRUE(writer);
  client->shut_down();
  ASSERT_EQ(answer.wait_for(kPatience), std::future_status::ready);
  EXPECT_EQ(answer.get().error().kind, base::ErrorKind::Cancelled);
  EXPECT_EQ(client->send({"GET", "/", {}, {}}).error().kind, base::ErrorKind::Cancelled);
}

}  // namespace
}  // namespace cdom::http
