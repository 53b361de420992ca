// What the client does when connections break, against a server that breaks them on purpose.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <vector>

#include "http/local.h"
#include "http/raw_peer.h"

namespace cdom::http {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kOk[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

// Answers the first request of each connection and breaks off at the second. Counts how often each
// target came.
class BreaksAtTheSecond {
 public:
  void operator()(RawConnection& connection) {
    if (!note(connection.read_request())) return;
    connection.send(kOk);
    note(connection.read_request());
  }
  int times(const std::string& target) {
    const std::lock_guard lock(mutex_);
    return times_[target];
  }

 private:
  bool note(const std::string& request) {
    const std::lock_guard lock(mutex_);
    const std::size_t target = request.find(' ') + 1;
    if (!request.empty()) ++times_[request.substr(target, request.find(' ', target) - target)];
    return !request.empty();
  }
  std::mutex mutex_;
  std::map<std::string, int> times_;
};

// Targets to send to until one of them meets the end of a kept connection: now and then a
// connection is not back in the library's pool in time, and the next request gets a new one.
std::vector<std::string> targets() {
  std::vector<std::string> all;
  all.reserve(1000);
  for (int i = 0; i < 1000; ++i) all.push_back("/" + std::to_string(i));
  return all;
}

TEST(BrokenConnection, APostIsNeverSentTwice) {
  for (const std::string body : {"{}", ""}) {
    BreaksAtTheSecond script;
    const RawServer server([&](RawConnection& c) { script(c); });
    const auto client = connect(config_for(server.url()));
    int broken = 0;
    for (const auto& target : targets()) {
      const auto answer = client->send({"POST", target, {}, body});
      // Nobody can tell whether a request without a body went out, so that one is not tried again.
      EXPECT_LE(script.times(target), 1);
      EXPECT_GE(script.times(target), body.empty() ? 0 : 1);
      if (answer) continue;
      EXPECT_EQ(answer.error().kind, base::ErrorKind::Unavailable);
      if (++broken == 3) break;
    }
    EXPECT_EQ(broken, 3);
  }
}

TEST(BrokenConnection, ARepeatableRequestIsSentAgain) {
  for (const char* method : {"GET", "PUT", "DELETE", "PATCH"}) {
    BreaksAtTheSecond script;
    const RawServer server([&](RawConnection& c) { script(c); });
    const auto client = connect(config_for(server.url()));
    const Headers headers{{"Content-Type", "application/merge-patch+json"}};
    int repeated = 0;
    for (const auto& target : targets()) {
      const auto answer = client->send({method, target, headers, "{}"});
      ASSERT_TRUE(answer) << method << ": " << answer.error().message;
      if (script.times(target) > 1 && ++repeated == 3) break;
    }
    EXPECT_EQ(repeated, 3) << method;
  }
}

TEST(BrokenConnection, AnAnswerCutShortIsUnavailable) {
  const RawServer server([](RawConnection& connection) {
    connection.read_request();
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
  });
  const auto client = connect(config_for(server.url()));
  const auto answer = client->send({"GET", "/", {}, {}});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, base::ErrorKind::Unavailable);
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
  EXPECT_EQ(
      base::to_string(answer.error()),
      "Unavailable: GET " + server.url() +
          "/: too little was heard for 100ms; the server or the way to it is slow, or silent");
}

// Errors are logged, and shown to whoever asks for help.
TEST(BrokenConnection, NoErrorShowsThePasswordThatIsInAnAddress) {
  for (const char* url : {"http://admin:s3cret@127.0.0.1:1/base", "ftp://admin:s3cret@127.0.0.1"}) {
    const auto answer = connect(config_for(url))->send({"GET", "/", {}, {}});
    ASSERT_FALSE(answer);
    EXPECT_THAT(answer.error().message, HasSubstr("127.0.0.1"));
    EXPECT_THAT(answer.error().message, Not(HasSubstr("s3cret")));
  }
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
