// What the client does when connections break, against a server that breaks them on purpose.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <vector>

#include "http/local.h"
#include "http/raw_peer.h"

namespace cdom::http {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

constexpr char kOk[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

// Answers the first request of each connection and breaks off at the second, keeping the first
// line of all that came.
class BreaksAtTheSecond {
 public:
  void operator()(RawConnection& connection) {
    if (!note(connection.read_request())) return;
    connection.send(kOk);
    note(connection.read_request());
  }
  std::vector<std::string> seen() {
    const std::lock_guard lock(mutex_);
    return seen_;
  }

 private:
  bool note(const std::string& request) {
    const std::lock_guard lock(mutex_);
    if (!request.empty()) seen_.push_back(request.substr(0, request.find(" HTTP")));
    return !request.empty();
  }
  std::mutex mutex_;
  std::vector<std::string> seen_;
};

TEST(BrokenConnection, APostIsNeverSentTwice) {
  for (const std::string body : {"{}", ""}) {
    BreaksAtTheSecond script;
    const RawServer server([&](RawConnection& c) { script(c); });
    const auto client = connect(config_for(server.url()));
    ASSERT_TRUE(client->send({"POST", "/1", {}, body}));
    const auto broken = client->send({"POST", "/2", {}, body});
    ASSERT_FALSE(broken);
    EXPECT_EQ(broken.error().kind, base::ErrorKind::Unavailable);
    // What comes next on a new connection is the next request, not the POST again.
    ASSERT_TRUE(client->send({"GET", "/3", {}, {}}));
    EXPECT_THAT(script.seen(), ElementsAre("POST /1", "POST /2", "GET /3"));
  }
}

TEST(BrokenConnection, ARepeatableRequestIsSentOnceMore) {
  for (const std::string method : {"GET", "PUT", "DELETE", "PATCH"}) {
    BreaksAtTheSecond script;
    const RawServer server([&](RawConnection& c) { script(c); });
    const auto client = connect(config_for(server.url()));
    const Headers headers{{"Content-Type", "application/merge-patch+json"}};
    ASSERT_TRUE(client->send({method, "/1", headers, "{}"}));
    const auto again = client->send({method, "/2", headers, "{}"});
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->body, "ok");
    EXPECT_THAT(script.seen(), ElementsAre(method + " /1", method + " /2", method + " /2"));
  }
}

TEST(BrokenConnection, AnAnswerCutShortIsUnavailable) {
  int connections = 0;
  const RawServer server([&](RawConnection& connection) {
    ++connections;
    connection.read_request();
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
  });
  const auto client = connect(config_for(server.url()));
  const auto answer = client->send({"GET", "/", {}, {}});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, base::ErrorKind::Unavailable);
  EXPECT_EQ(connections, 2) << "a GET is sent once more, and only once";
}

TEST(BrokenConnection, AServerThatDoesNotSpeakHttpIsUnavailable) {
  const RawServer server([](RawConnection& connection) {
    connection.read_request();
    connection.send("SSH-2.0-OpenSSH_9.2\r\n\r\n");
  });
  const auto answer = connect(config_for(server.url()))->send({"POST", "/", {}, {}});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, base::ErrorKind::Unavailable);
}

TEST(BrokenConnection, ASilentServerIsUnavailableAfterTheTimeout) {
  const RawServer server([&](RawConnection& connection) {
    connection.read_request();
    connection.read_all();
  });
  ClientConfig config = config_for(server.url());
  config.request_timeout = std::chrono::milliseconds(100);
  const auto answer = connect(config)->send({"GET", "/", {}, {}});
  ASSERT_FALSE(answer);
  EXPECT_EQ(base::to_string(answer.error()),
            "Unavailable: GET " + server.url() + "/: nothing was heard for 100ms");
}

TEST(BrokenConnection, ARedirectIsNotFollowed) {
  const RawServer server([&](RawConnection& connection) {
    const std::string request = connection.read_request();
    EXPECT_THAT(request, StartsWith("GET /first "));
    connection.send("HTTP/1.1 302 Found\r\nLocation: /second\r\nContent-Length: 0\r\n\r\n");
  });
  ClientConfig config = config_for(server.url());
  config.token = "secret";
  const auto answer = connect(config)->send({"GET", "/first", {}, {}});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 302);
}

}  // namespace
}  // namespace cdom::http
