// The server against peers that speak bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/local.h"
#include "http/raw_peer.h"
#include "http/test_ca.h"

namespace cdom::http {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Reply say_target(const Request& request, const Peer&) {
  return Response{200, {}, request.target + " " + request.body};
}

TEST(Server, AnswersPipelinedRequestsInOrder) {
  const auto server = serve(say_target);
  auto peer = RawConnection::to(server->address());
  peer.send(
      "GET /1 HTTP/1.1\r\nHost: a\r\n\r\n"
      "PUT /2 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n"
      "PUT /3 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc");
  const std::string all = peer.read_all();
  const auto first = all.find("/1 "), second = all.find("/2 ab"), third = all.find("/3 abc");
  ASSERT_NE(third, std::string::npos) << all;
  EXPECT_LT(first, second);
  EXPECT_LT(second, third);
}

TEST(Server, AnswersAPeerThatHasHalfClosed) {
  const auto server = serve(say_target);
  auto peer = RawConnection::to(server->address());
  peer.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n");
  peer.end_sending();
  EXPECT_THAT(peer.read_all(), HasSubstr("/1 "));
}

TEST(Server, InvitesABodyThatIsAnnounced) {
  const auto server = serve(say_target);
  auto peer = RawConnection::to(server->address());
  peer.send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(peer.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  peer.send("ok");
  EXPECT_THAT(peer.read_until("/ ok"), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST(Server, RefusesABodyOverTheLimitBeforeItComes) {
  ServerConfig config;
  config.body_limit = 10;
  const auto server = serve(say_target, config);
  auto peer = RawConnection::to(server->address());
  peer.send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n");
  peer.send(std::string(1u << 20, 'x'));  // a peer that sends on still gets the answer
  EXPECT_THAT(peer.read_until("takes\n"), StartsWith("HTTP/1.1 413 "));
}

TEST(Server, RefusesAChunkedBodyOverTheLimit) {
  ServerConfig config;
  config.body_limit = 10;
  const auto server = serve(say_target, config);
  auto peer = RawConnection::to(server->address());
  peer.send("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n01234567890\r\n");
  EXPECT_THAT(peer.read_until("takes\n"), StartsWith("HTTP/1.1 413 "));
}

TEST(Server, RefusesHeaderFieldsOverTheLimit) {
  const auto server = serve(say_target);
  auto peer = RawConnection::to(server->address());
  peer.send("GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(70'000, 'x') + "\r\n\r\n");
  EXPECT_THAT(peer.read_until("KiB\n"), StartsWith("HTTP/1.1 431 "));
}

TEST(Server, RefusesWhatIsNotHttp) {
  const auto server = serve(say_target);
  auto peer = RawConnection::to(server->address());
  peer.send("\x16\x03\x01 hello\r\n\r\n");
  EXPECT_THAT(peer.read_until("\r\n"), StartsWith("HTTP/1.1 400 "));
}

TEST(Server, ClosesAPeerThatDoesNotFinishItsHeaders) {
  ServerConfig config;
  config.header_timeout = 40ms;
  const auto server = serve(say_target, config);
  auto peer = RawConnection::to(server->address());
  peer.send("GET / HTTP/1.1\r\nHost:");
  EXPECT_EQ(peer.read_all(), "");
}

TEST(Server, ClosesAKeptConnectionThatIsIdle) {
  ServerConfig config;
  config.idle_timeout = 40ms;
  const auto server = serve(say_target, config);
  auto peer = RawConnection::to(server->address());
  peer.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(peer.read_all(), HasSubstr("/1 "));
}

// A page of some megabytes by kubectl port-forward over a slow line.
TEST(Server, AWholeResponseMayTakeLongerThanAPeerMayBeIdle) {
  ServerConfig config;
  config.idle_timeout = 500ms;
  const std::string body(16u << 20, 'x');
  const auto server =
      serve([&](const Request&, const Peer&) -> Reply { return Response{.body = body}; }, config);
  auto peer = RawConnection::to(server->address());
  peer.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  const auto began = std::chrono::steady_clock::now();
  EXPECT_GE(peer.read_all_slowly().size(), body.size());
  EXPECT_GE(std::chrono::steady_clock::now() - began, 2 * config.idle_timeout);
}

TEST(Server, ClosesATlsPeerThatDoesNotShakeHands) {
  const Identity identity = TestCa().issue("server", "IP:127.0.0.1");
  ServerConfig config;
  config.certificate_pem = identity.certificate_pem;
  config.key_pem = identity.key_pem;
  config.header_timeout = 40ms;
  const auto server = serve(say_target, config);
  auto silent = RawConnection::to(server->address());
  EXPECT_EQ(silent.read_all(), "");
  auto plain = RawConnection::to(server->address());
  plain.send("GET / HTTP/1.1\r\n\r\n");
  EXPECT_THAT(plain.read_all(), ::testing::Not(HasSubstr("200")));
}

TEST(Server, StreamsInChunksAndEndsWithTheLastOne) {
  const auto server = serve(streaming([](const auto& writer) {
    writer->write(shared("0123456789abcdef"));
    writer->finish();
  }));
  auto peer = RawConnection::to(server->address());
  peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  const std::string head = peer.read_until("\r\n\r\n");
  EXPECT_THAT(head, HasSubstr("Transfer-Encoding: chunked\r\n"));
  EXPECT_EQ(peer.read_until("0\r\n\r\n"), "10\r\n0123456789abcdef\r\n0\r\n\r\n");
  // The connection can be used again.
  peer.send("HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(peer.read_all(), ::testing::EndsWith("\r\n\r\n"));
}

TEST(Server, StreamsToHttp10WithoutChunks) {
  const auto server = serve(streaming([](const auto& writer) {
    writer->write(shared("text"));
    writer->finish();
  }));
  auto peer = RawConnection::to(server->address());
  peer.send("GET / HTTP/1.0\r\n\r\n");
  const std::string all = peer.read_all();
  EXPECT_THAT(all, HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(all, ::testing::EndsWith("\r\n\r\ntext"));
}

TEST(Server, ARouteThatThrowsIsAnsweredBy500) {
  const auto server = serve([](const Request& request, const Peer& peer) -> Reply {
    if (request.target == "/bad") throw std::logic_error("broken invariant");
    return say_target(request, peer);
  });
  auto peer = RawConnection::to(server->address());
  peer.send("GET /bad HTTP/1.1\r\nHost: a\r\n\r\nGET /good HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(peer.read_until("error\n"), StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(peer.read_until("/good "), StartsWith("HTTP/1.1 200 "));
}

TEST(Server, AnswersLateAndOthersMeanwhile) {
  Gift<std::function<void(Response)>> answer;
  const auto server = serve([&](const Request& request, const Peer& peer) -> Reply {
    if (request.target != "/late") return say_target(request, peer);
    return LateReply{[&](const auto& take) { answer.give(take); }};
  });
  auto patient = RawConnection::to(server->address());
  patient.send("GET /late HTTP/1.1\r\nHost: a\r\n\r\nGET /next HTTP/1.1\r\nHost: a\r\n\r\n");
  const auto take = answer.wait();
  ASSERT_TRUE(take);
  auto other = RawConnection::to(server->address());
  other.send("GET /other HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(other.read_until("/other "), StartsWith("HTTP/1.1 200 "));
  (*take)({403, {}, "late"});
  (*take)({200, {}, "twice"});
  EXPECT_THAT(patient.read_until("late"), StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(patient.read_until("/next "), StartsWith("HTTP/1.1 200 "));
}

TEST(Server, ALateAnswerMayComeAfterItsEnd) {
  Gift<std::function<void(Response)>> answer;
  auto server = serve([&](const Request&, const Peer&) -> Reply {
    return LateReply{[&](const auto& take) { answer.give(take); }};
  });
  auto peer = RawConnection::to(server->address());
  peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  const auto take = answer.wait();
  ASSERT_TRUE(take);
  server.reset();
  (*take)({200, {}, "nobody reads this"});
  EXPECT_EQ(peer.read_all(), "");
}

TEST(Server, KeepsControlCharactersOutOfHeaderFields) {
  const auto server = serve([](const Request&, const Peer&) -> Reply {
    return Response{200, {{"Warning", "a\r\nX-Injected: b"}}, {}};
  });
  auto peer = RawConnection::to(server->address());
  peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(peer.read_until("\r\n\r\n"), HasSubstr("Warning: a  X-Injected: b\r\n"));
}

TEST(Server, RunsWorkAfterADelay) {
  Gift<bool> done;
  const auto server = serve(say_target);
  server->run_after(1ms, [&] { done.give(true); });
  EXPECT_TRUE(done.wait());
}

TEST(Server, AnAddressThatCannotBeUsedIsInvalid) {
  const auto taken = serve(say_target);
  for (const std::string& listen :
       {std::string("nowhere"), std::string("127.0.0.1:70000"), std::string("example.com:80"),
        std::string("127.0.0.1:"), taken->address()}) {
    ServerConfig config;
    config.listen = listen;
    const auto server = make_server(config, say_target);
    ASSERT_FALSE(server) << listen;
    EXPECT_EQ(server.error().kind, base::ErrorKind::Invalid);
    EXPECT_THAT(server.error().message, StartsWith("cannot listen on \"" + listen + "\": "));
  }
}

TEST(Server, WithoutAnAddressItAnswersBothFamilies) {
  ServerConfig config;
  config.listen = ":0";
  const auto server = serve(say_target, config);
  const std::string port = server->address().substr(server->address().rfind(':'));
  for (const std::string host : {"127.0.0.1", "[::1]"}) {
    if (host == "[::1]" && !server->address().starts_with('[')) continue;  // a machine without IPv6
    auto peer = RawConnection::to(host + port);
    peer.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_THAT(peer.read_until("/1 "), StartsWith("HTTP/1.1 200 ")) << host;
  }
}

}  // namespace
}  // namespace cdom::http
