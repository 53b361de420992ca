#include "compute_domain/sandbox/faults.h"

#include <gmock/gmock.h>

#include "sandbox/apiserver/api_client.h"

namespace cdom::sandbox {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Fault : public ApiServerTest {
 protected:
  base::Result<http::Response> create(const std::string& name) {
    return client->send({.method = "POST", .target = kConfigMaps, .body = config_map(name).dump()});
  }
  std::unique_ptr<http::Client> client = server.client(admin_user());
};

TEST_F(Fault, ARejectionHasItsStatusAndRetryAfterAsOftenAsAsked) {
  server.faults().add({.kind = FaultKind::Reject,
                       .verb = "create",
                       .resource = "configmaps",
                       .count = 1,
                       .status = 429,
                       .retry_after_seconds = 3});
  const auto rejected = create("a");
  EXPECT_EQ(rejected->status, 429);
  EXPECT_EQ(rejected->headers.at("Retry-After"), "3");
  EXPECT_EQ(create("a")->status, 201);
}

TEST_F(Fault, ALostAnswerComesAfterTheWrite) {
  server.faults().add({.kind = FaultKind::LoseAnswer, .count = 1});
  EXPECT_EQ(create("a").error().kind, base::ErrorKind::Unavailable);
  EXPECT_EQ(create("a")->status, 409);
}

TEST_F(Fault, ARefusedConnectionComesBeforeTheWrite) {
  server.faults().add({.kind = FaultKind::Refuse, .count = 1});
  EXPECT_EQ(create("a").error().kind, base::ErrorKind::Unavailable);
  EXPECT_EQ(create("a")->status, 201);
}

TEST_F(Fault, ATruncatedAnswerIsNoJson) {
  server.faults().add({.kind = FaultKind::Truncate, .verb = "get"});
  static_cast<void>(create("a"));
  const auto answer = client->send({.target = std::string(kConfigMaps) + "/a"});
  EXPECT_FALSE(json::accept(answer->body));
}

TEST_F(Fault, MeetsOnlyWhomItNames) {
  server.faults().add({.kind = FaultKind::Refuse, .user = "system:*", .name = "a*"});
  EXPECT_TRUE(create("a"));
  EXPECT_EQ(server.faults().met().size(), 0u);
}

TEST_F(Fault, WatchesBreakGoSilentExpireOrLag) {
  const auto open = [&] {
    return client->open({.target = std::string(kConfigMaps) + "?watch=true&resourceVersion=" +
                                   std::to_string(server.resource_version())});
  };
  auto cut = open();
  server.faults().add({.kind = FaultKind::CutWatch, .count = 1});
  EXPECT_THAT(events_of(*cut->stream), ElementsAre("BROKEN"));

  auto expired = open();
  server.faults().add({.kind = FaultKind::ExpireWatch, .count = 1});
  EXPECT_THAT(events_of(*expired->stream), ElementsAre("ERROR 410", "END"));

  auto silent = open();
  server.faults().add({.kind = FaultKind::HalfOpenWatch, .count = 1});
  EXPECT_THAT(events_of(*silent->stream), IsEmpty());
  static_cast<void>(create("a"));
  EXPECT_THAT(events_of(*silent->stream), IsEmpty());

  const int slow = server.faults().add({.kind = FaultKind::Delay, .verb = "watch", .delay = 2s});
  auto lagging = open();
  server.faults().remove(slow);
  static_cast<void>(create("b"));
  EXPECT_THAT(events_of(*lagging->stream), IsEmpty());
  clock.advance(2s);
  EXPECT_THAT(events_of(*lagging->stream), ElementsAre("ADDED b"));
}

TEST_F(Fault, ThatHoldsAnEventBackTellsWhenItComes) {
  server.faults().add({.kind = FaultKind::Delay, .verb = "watch", .delay = 2s});
  auto watch = client->open({.target = std::string(kConfigMaps) + "?watch=true&resourceVersion=" +
                                       std::to_string(server.resource_version())});
  EXPECT_EQ(server.faults().next_due(), std::nullopt);
  static_cast<void>(create("a"));
  EXPECT_THAT(events_of(*watch->stream), IsEmpty());
  EXPECT_EQ(server.faults().next_due(), clock.elapsed() + 2s);
  clock.advance(1s);
  static_cast<void>(create("b"));
  EXPECT_THAT(events_of(*watch->stream), IsEmpty());
  clock.advance(1s);
  EXPECT_THAT(events_of(*watch->stream), ElementsAre("ADDED a"));
  EXPECT_EQ(server.faults().next_due(), clock.elapsed() + 1s);
  watch->stream.reset();
  EXPECT_EQ(server.faults().next_due(), std::nullopt);
}

}  // namespace
}  // namespace cdom::sandbox
