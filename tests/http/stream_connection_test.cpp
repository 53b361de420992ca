// Streams against a peer that writes bytes as it likes: what HTTP/1.1 allows, and what it does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>

#include "compute_domain/base/text.h"
#include "http/local.h"
#include "http/raw_peer.h"

namespace cdom::http {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kChunked[] =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";

// All lines up to the end or an error, which are the last one.
std::vector<std::string> lines_of(Client& client) {
  auto opened = client.open({"GET", "/watch?watch=true", {}, {}});
  if (!opened) return {base::to_string(opened.error())};
  if (!opened->stream) return {base::cat(opened->response.status, " ", opened->response.body)};
  std::vector<std::string> lines;
  do lines.push_back(next_of(*opened->stream));
  while (lines.back() != "END" && lines.back().find("GET http") == std::string::npos);
  return lines;
}

std::vector<std::string> lines_of(const std::string& url) {
  return lines_of(*connect(config_for(url)));
}

// What a server says, in one piece and byte by byte.
std::vector<std::string> lines_when_told(const std::string& answer) {
  const auto tell = [&](std::size_t size) {
    const RawServer server([&](RawConnection& connection) {
      connection.read_request();
      for (std::size_t i = 0; i < answer.size(); i += size) connection.send(answer.substr(i, size));
    });
    return lines_of(server.url());
  };
  auto lines = tell(answer.size());
  const auto by_byte = tell(1);
  // Errors name a port.
  EXPECT_EQ(lines.size(), by_byte.size());
  for (std::size_t i = 0; i + 1 < lines.size() && i < by_byte.size(); ++i)
    EXPECT_EQ(lines[i], by_byte[i]);
  return lines;
}

TEST(StreamConnection, AnAnswerMayBeCutAnywhere) {
  EXPECT_THAT(
      lines_when_told(
          std::string(kChunked) +
          "4\r\none\n\r\n6;note=\"x\"\r\ntwo\nth\r\n0004\r\nree\n\r\n0\r\nExpires: never\r\n\r\n"),
      ElementsAre("one", "two", "three", "END"));
}

TEST(StreamConnection, AnAnswerMayComeAfterWordsOfWaiting) {
  EXPECT_THAT(lines_when_told(std::string("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n") +
                              kChunked + "4\r\none\n\r\n0\r\n\r\n"),
              ElementsAre("one", "END"));
}

TEST(StreamConnection, AnAnswerMayHaveALengthOrEndWithItsConnection) {
  EXPECT_THAT(lines_when_told("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\none\ntwo"),
              ElementsAre("one", "two", "END"));
  EXPECT_THAT(lines_when_told("HTTP/1.0 200 OK\r\n\r\none\ntwo"), ElementsAre("one", "two", "END"));
}

TEST(StreamConnection, AnAnswerThatIsCutOffIsUnavailableAfterItsLines) {
  EXPECT_THAT(
      lines_when_told(std::string(kChunked) + "4\r\none\n\r\n9\r\ntwo\n"),
      ElementsAre("one", "two", HasSubstr("the connection ended in the middle of the answer")));
  EXPECT_THAT(lines_when_told("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\none\n"),
              ElementsAre("one", HasSubstr("in the middle of the answer")));
}

TEST(StreamConnection, WhatIsNoAnswerIsUnavailable) {
  EXPECT_THAT(lines_when_told("SSH-2.0-OpenSSH_9.2\r\n"),
              ElementsAre(HasSubstr("not an answer of HTTP: ")));
  EXPECT_THAT(lines_when_told(""), ElementsAre(HasSubstr("the connection ended before an answer")));
  EXPECT_THAT(lines_when_told("HTTP/1.1 200 OK\r\nX: " + std::string(100'000, 'x')),
              ElementsAre(HasSubstr("not an answer of HTTP: ")));
  EXPECT_THAT(lines_when_told(std::string(kChunked) + "4\r\none\n\r\nzz\r\n"),
              ElementsAre("one", HasSubstr("not an answer of HTTP: ")));
}

TEST(StreamConnection, ALengthIsNotBelieved) {
  EXPECT_THAT(lines_when_told("HTTP/1.1 200 OK\r\nContent-Length: 1000000000000000\r\n\r\none\n"),
              ElementsAre("one", HasSubstr("in the middle of the answer")));
  EXPECT_THAT(lines_when_told("HTTP/1.1 500 No\r\nContent-Length: 1000000000000000\r\n\r\none\n"),
              ElementsAre(HasSubstr("in the middle of the answer")));
}

TEST(StreamConnection, WhatStandsBetweenChunksIsBounded) {
  for (const std::string end : {"4\r\none\n\r\n1;", "4\r\none\n\r\n0\r\nX: "}) {
    std::atomic<bool> is_gone = false;
    const RawServer server([&](RawConnection& connection) {
      connection.read_request();
      connection.send(kChunked + end);
      while (connection.send(std::string(1'000, 'x'))) continue;
      is_gone = true;
    });
    EXPECT_THAT(lines_of(server.url()), ElementsAre("one", HasSubstr("not an answer of HTTP: ")));
    for (int i = 0; i < 1000 && !is_gone; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_TRUE(is_gone);
  }
}

TEST(StreamConnection, ARefusedConnectionSaysWhoRefusedIt) {
  std::string nobody;
  {
    const RawServer server([](RawConnection&) {});
    nobody = server.url();
  }
  const std::string port = nobody.substr(nobody.rfind(':') + 1);
  EXPECT_THAT(lines_of(nobody), ElementsAre(base::cat("Unavailable: GET ", nobody,
                                                      "/watch: cannot connect to 127.0.0.1 port ",
                                                      port, ": Connection refused")));
}

TEST(StreamConnection, AServerMayHaveAName) {
  std::string asked;
  const RawServer server([&](RawConnection& connection) {
    asked = connection.read_request();
    connection.send(std::string(kChunked) + "0\r\n\r\n");
  });
  const std::string port = server.url().substr(server.url().rfind(':') + 1);
  EXPECT_THAT(lines_of(base::cat("http://localhost:", port, "/proxied")), ElementsAre("END"));
  EXPECT_THAT(asked, StartsWith("GET /proxied/watch?watch=true HTTP/1.1\r\n"));
  EXPECT_THAT(asked, HasSubstr(base::cat("Host: localhost:", port, "\r\n")));
  EXPECT_THAT(asked, HasSubstr("User-Agent: cdom-test\r\n"));
}

// A server that sends without end, until its client is gone.
class Fountain {
 public:
  void operator()(RawConnection& connection) {
    connection.read_request();
    connection.send(kChunked);
    const std::string line(1023, 'x');
    while (connection.send(base::cat("400\r\n", line, "\n\r\n"))) ++sent_;
    is_over_ = true;
  }
  // Its client is gone; false after kPatience.
  [[nodiscard]] bool ends() const {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!is_over_ && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    return is_over_;
  }
  [[nodiscard]] int sent() const { return sent_; }
  // How many lines once no more are taken.
  [[nodiscard]] int sent_at_rest() const {
    int before = -1;
    while (std::exchange(before, sent()) != sent() || before == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return before;
  }

 private:
  std::atomic<int> sent_ = 0;
  std::atomic<bool> is_over_ = false;
};

TEST(StreamConnection, AReaderThatIsSlowSlowsItsServerDown) {
  Fountain fountain;
  const RawServer server([&](RawConnection& connection) { fountain(connection); });
  const auto client = connect(config_for(server.url()));
  auto opened = client->open({"GET", "/", {}, {}});
  ASSERT_TRUE(opened && opened->stream);
  const int waiting = fountain.sent_at_rest();
  EXPECT_LT(waiting, 32 << 10);  // of 1 KiB; most of it in the kernel's buffers
  for (int i = 0; i < waiting + 1000; ++i) ASSERT_EQ(next_of(*opened->stream).size(), 1023U);
  EXPECT_GT(fountain.sent_at_rest(), waiting);
}

// Three changes at short intervals are two reads.
TEST(StreamConnection, ReadsNoMoreForAWhileWhenItHasTakenAllThereWas) {
  std::atomic<bool> has_first = false;
  const RawServer server([&](RawConnection& connection) {
    connection.read_request();
    connection.send(std::string(kChunked) + "4\r\none\n\r\n");
    while (!has_first) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    connection.send("4\r\ntwo\n\r\n");
    connection.send("6\r\nthree\n\r\n0\r\n\r\n");
  });
  const auto client = connect(config_for(server.url()));
  http::Request request{"GET", "/", {}, {}};
  request.rest = std::chrono::milliseconds(300);
  const base::SystemClock clock;
  const base::Duration start = clock.elapsed();
  auto opened = client->open(request);
  ASSERT_TRUE(opened && opened->stream);
  EXPECT_EQ(next_of(*opened->stream), "one");
  has_first = true;
  EXPECT_EQ(next_of(*opened->stream), "two");
  EXPECT_GE(clock.elapsed() - start, request.rest);
  EXPECT_EQ(next_of(*opened->stream), "three");
  EXPECT_EQ(next_of(*opened->stream), "END");
}

// How often the threads of streams in this process went to sleep, which is once for each waking.
std::int64_t sleeps_of_stream_threads() {
  std::int64_t sum = 0;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream in(thread.path() / "status");
    bool is_of_streams = false;
    for (std::string line; std::getline(in, line);) {
      if (line == "Name:\thttp-streams") is_of_streams = true;
      const std::string_view field = "voluntary_ctxt_switches:";
      if (is_of_streams && line.starts_with(field)) sum += std::stoll(line.substr(field.size()));
    }
  }
  return sum;
}

TEST(StreamConnection, IsNotWokenForWhatComesWhileItRests) {
  constexpr int kPieces = 200;
  std::atomic<bool> has_first = false;
  std::atomic<bool> has_sent = false;
  const RawServer server([&](RawConnection& connection) {
    connection.read_request();
    connection.send(std::string(kChunked) + "4\r\none\n\r\n");
    while (!has_first) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    for (int i = 0; i < kPieces; ++i) {
      connection.send("4\r\ntwo\n\r\n");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    has_sent = true;
    connection.send("0\r\n\r\n");
  });
  const auto client = connect(config_for(server.url()));
  http::Request request{"GET", "/", {}, {}};
  request.rest = std::chrono::seconds(2);
  auto opened = client->open(request);
  ASSERT_TRUE(opened && opened->stream);
  EXPECT_EQ(next_of(*opened->stream), "one");
  const std::int64_t before = sleeps_of_stream_threads();
  has_first = true;
  while (!has_sent) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_LT(sleeps_of_stream_threads() - before, kPieces / 4);
  for (int i = 0; i < kPieces; ++i) ASSERT_EQ(next_of(*opened->stream), "two");
  EXPECT_EQ(next_of(*opened->stream), "END");
}

TEST(StreamConnection, ThatRestsCanBeCancelled) {
  std::atomic<bool> is_gone = false;
  const RawServer server([&](RawConnection& connection) {
    connection.read_request();
    connection.send(std::string(kChunked) + "4\r\none\n\r\n");
    while (connection.send("2\r\nx\n\r\n")) continue;
    is_gone = true;
  });
  const auto client = connect(config_for(server.url()));
  http::Request request{"GET", "/", {}, {}};
  request.rest = std::chrono::hours(1);
  auto opened = client->open(request);
  ASSERT_TRUE(opened && opened->stream);
  EXPECT_EQ(next_of(*opened->stream), "one");
  opened->stream.reset();
  for (int i = 0; i < 2000 && !is_gone; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_TRUE(is_gone);
}

TEST(StreamConnection, ALineThatDoesNotEndIsNotKept) {
  std::atomic<bool> is_gone = false;
  const RawServer server([&](RawConnection& connection) {
    connection.read_request();
    connection.send(std::string(kChunked) + "4\r\none\n\r\n");
    const std::string chunk = base::cat("100000\r\n", std::string(1u << 20, 'x'), "\r\n");
    while (connection.send(chunk)) continue;
    is_gone = true;
  });
  EXPECT_THAT(lines_of(server.url()), ElementsAre("one", HasSubstr("a line of over ")));
  for (int i = 0; i < 1000 && !is_gone; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_TRUE(is_gone);
}

TEST(StreamConnection, AReaderThatDoesNotReadLosesItsStream) {
  Fountain fountain;
  const RawServer server([&](RawConnection& connection) { fountain(connection); });
  ClientConfig config = config_for(server.url());
  config.stream_idle_timeout = std::chrono::milliseconds(300);
  const auto client = connect(config);
  auto opened = client->open({"GET", "/", {}, {}});
  ASSERT_TRUE(opened && opened->stream);
  ASSERT_TRUE(fountain.ends());
  std::string last;
  while ((last = next_of(*opened->stream)).size() == 1023) continue;
  EXPECT_THAT(last, HasSubstr("nothing was heard for 300ms"));
}

}  // namespace
}  // namespace cdom::http
