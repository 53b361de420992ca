#include <gmock/gmock.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sandbox/apiserver/api_client.h"

namespace cdom::sandbox {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class WatchStream : public ApiServerTest {
 protected:
  static json labelled(const std::string& name, const std::string& app) {
    json object = config_map(name);
    object["metadata"]["labels"] = {{"app", app}};
    return object;
  }
  std::string from_now(const std::string& more = "") {
    return std::string(kConfigMaps) +
           "?watch=true&resourceVersion=" + std::to_string(server.resource_version()) + more;
  }
  const std::string a = std::string(kConfigMaps) + "/a";
};

TEST_F(WatchStream, TellsEachChangeOnceAndInOrder) {
  const auto stream = api.watch(from_now());
  EXPECT_THAT(events_of(*stream), IsEmpty());
  api.post(kConfigMaps, config_map("a"));
  api.merge(a, {{"data", {{"a", "2"}}}});
  api.merge(a, {{"data", {{"a", "2"}}}});
  api.remove(a);
  EXPECT_THAT(events_of(*stream), ElementsAre("ADDED a", "MODIFIED a", "DELETED a"));
}

TEST_F(WatchStream, WithoutAResourceVersionItBeginsWithWhatIsThere) {
  api.post(kConfigMaps, config_map("a"));
  const auto stream = api.watch(std::string(kConfigMaps) + "?watch=1");
  api.post(kConfigMaps, config_map("b"));
  EXPECT_THAT(events_of(*stream), ElementsAre("ADDED a", "ADDED b"));
}

TEST_F(WatchStream, ToASelectorAnObjectThatLeavesIsDeleted) {
  const auto stream = api.watch(from_now("&labelSelector=app%3Dx"));
  api.post(kConfigMaps, labelled("a", "x"));
  api.merge(a, {{"metadata", {{"labels", {{"app", "y"}}}}}});
  api.merge(a, {{"metadata", {{"labels", {{"app", "x"}}}}}});
  api.remove(a);
  EXPECT_THAT(events_of(*stream), ElementsAre("ADDED a", "DELETED a", "ADDED a", "DELETED a"));
}

TEST_F(WatchStream, AnOldPositionIsExpired) {
  const std::string target = from_now();
  api.post(kConfigMaps, config_map("a"));
  server.compact();
  const http::Opened opened = server.open({.target = target}, admin_user());
  EXPECT_EQ(opened.response.status, 410);
  EXPECT_EQ(opened.stream, nullptr);
}

TEST_F(WatchStream, OneThatFellBehindEndsWithAnError) {
  const auto stream = api.watch(from_now());
  api.post(kConfigMaps, config_map("a"));
  server.compact();
  EXPECT_THAT(events_of(*stream), ElementsAre("ERROR 410", "END"));
}

TEST_F(WatchStream, EndsAtItsTimeoutWithABookmark) {
  const auto stream = api.watch(from_now("&timeoutSeconds=10&allowWatchBookmarks=true"));
  clock.advance(9s);
  EXPECT_THAT(events_of(*stream), IsEmpty());
  clock.advance(1s);
  EXPECT_THAT(events_of(*stream), ElementsAre("BOOKMARK", "END"));
}

TEST_F(WatchStream, BookmarksComeEveryMinute) {
  const auto stream = api.watch(from_now("&allowWatchBookmarks=true"));
  clock.advance(60s);
  EXPECT_THAT(events_of(*stream), ElementsAre("BOOKMARK"));
  EXPECT_THAT(events_of(*stream), IsEmpty());
}

// As kube-apiserver 1.37: an etcd that was restored from a backup has such versions ahead.
TEST_F(WatchStream, IsSilentUntilItsVersionIsPassed) {
  const auto version = std::to_string(server.resource_version() + 2);
  const auto stream = api.watch(std::string(kConfigMaps) + "?watch=true&allowWatchBookmarks=true" +
                                "&resourceVersion=" + version);
  api.post(kConfigMaps, config_map("a"));
  clock.advance(2min);
  EXPECT_THAT(events_of(*stream), IsEmpty());
  api.post(kConfigMaps, config_map("b"));
  api.post(kConfigMaps, config_map("c"));
  EXPECT_THAT(events_of(*stream), ElementsAre("ADDED c", "BOOKMARK"));
}

TEST_F(WatchStream, AStreamedListEndsWithItsBookmark) {
  api.post(kConfigMaps, config_map("a"));
  const auto stream = api.watch(std::string(kConfigMaps) +
                                "?watch=1&sendInitialEvents=true&allowWatchBookmarks=true"
                                "&resourceVersionMatch=NotOlderThan");
  EXPECT_THAT(events_of(*stream), ElementsAre("ADDED a", "BOOKMARK"));
}

TEST_F(WatchStream, StreamedListsCanBeOff) {
  ApiServer old(clock, {.watch_list = false});
  const http::Opened opened =
      old.open({.target = "/api/v1/pods?watch=1&sendInitialEvents=true&allowWatchBookmarks=true"
                          "&resourceVersionMatch=NotOlderThan"},
               admin_user());
  EXPECT_EQ(opened.response.status, 422);
}

TEST_F(WatchStream, AReaderThatWaitsIsWokenByAWrite) {
  const auto stream = api.watch(from_now());
  std::jthread writer([&] { api.post(kConfigMaps, config_map("a")); });
  const auto read = stream->next(30s);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->what, http::StreamRead::What::Line);
}

// A look takes no lock: that it races with nothing is what ThreadSanitizer sees here.
TEST_F(WatchStream, AReaderMayLookWhileOthersWrite) {
  const auto stream = api.watch(from_now("&allowWatchBookmarks=true"));
  std::vector<std::string> seen;
  std::jthread writer([&] {
    for (int i = 0; i < 20; ++i) api.post(kConfigMaps, config_map("a" + std::to_string(i)));
  });
  const auto deadline = std::chrono::steady_clock::now() + 30s;
  while (seen.size() < 20 && std::chrono::steady_clock::now() < deadline) {
    for (std::string& event : events_of(*stream)) seen.push_back(std::move(event));
  }
  ASSERT_THAT(seen, SizeIs(20));
  EXPECT_EQ(seen.back(), "ADDED a19");
}

TEST_F(WatchStream, CancelWakesAReader) {
  const auto stream = api.watch(from_now());
  std::jthread canceller([&] { stream->cancel(); });
  EXPECT_EQ(stream->next(30s).error().kind, base::ErrorKind::Cancelled);
}

}  // namespace
}  // namespace cdom::sandbox
