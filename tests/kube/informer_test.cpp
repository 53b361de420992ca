#include "compute_domain/kube/informer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/informer_rig.h"

namespace cdom::kube {
namespace {

using namespace std::chrono_literals;
using base::ErrorKind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using Step = WatchLoop::Step;

TEST(Informer, ListsPageByPageThenWatches) {
  InformerRig rig;
  for (const char* name : {"a", "b", "c"}) rig.server.put(name, "1");
  EXPECT_EQ(rig.step(), Step::Listed);
  EXPECT_FALSE(rig.informer.store().has_synced());
  EXPECT_EQ(rig.informer.store().size(), 0U);
  EXPECT_EQ(rig.step(), Step::Listed);
  EXPECT_TRUE(rig.informer.store().has_synced());
  EXPECT_THAT(rig.told, ElementsAre("a:>1", "b:>1", "c:>1"));
  EXPECT_EQ(rig.step(), Step::Opened);
  EXPECT_EQ(rig.step(), Step::Idle);
  EXPECT_THAT(rig.server.targets("watch=true"), ElementsAre(HasSubstr("resourceVersion=103")));
}

// What others derive of the first list is not whole before.
TEST(Informer, HasSyncedOnceAllOfTheFirstListHasBeenTold) {
  InformerRig rig;
  for (const char* name : {"a", "b"}) rig.server.put(name, "1");
  std::vector<bool> synced;
  rig.informer.on_change(
      [&](const auto*, const auto*) { synced.push_back(rig.informer.store().has_synced()); });
  rig.settle();
  rig.server.put("a", "2");
  rig.settle();
  EXPECT_THAT(synced, ElementsAre(false, false, true));
}

TEST(Informer, TellsEveryChangeWithBeforeAndAfter) {
  InformerRig rig;
  rig.server.put("a", "1");
  rig.settle();
  rig.server.put("a", "2");
  rig.server.put("b", "1");
  rig.server.remove("a");
  rig.settle();
  EXPECT_THAT(rig.told, ElementsAre("a:>1", "a:1>2", "b:>1", "a:2>"));
  EXPECT_THAT(rig.stored(), ElementsAre(Pair("b", "1")));
}

TEST(Informer, StoresOfAListAndOfEventsWhatIsReadOfThem) {
  InformerRig rig;
  rig.read = [](api::ConfigMap map) {
    map.data["value"] += " read";
    return map;
  };
  rig.server.put("a", "1");
  rig.settle();
  rig.server.put("b", "2");
  rig.settle();
  EXPECT_THAT(rig.stored(), ElementsAre(Pair("a", "1 read"), Pair("b", "2 read")));
  EXPECT_THAT(rig.told, ElementsAre("a:>1 read", "b:>2 read"));
}

TEST(Informer, KeepsWholeObjectsOfAKindThatItIsGiven) {
  InformerRig rig;
  rig.server.put("a", "1");
  Informer<api::DynamicObject> informer(
      rig.client, rig.clock, {}, {}, nullptr, [](api::DynamicObject object) { return object; },
      api::kind_of<api::ConfigMap>());
  const auto follow = [&] {
    while (informer.step(base::Duration::zero()) != WatchLoop::Step::Idle) {
    }
    const auto object = informer.store().get({"ns", "a"});
    return object ? object->json : "";
  };
  EXPECT_EQ(follow(), config_map_json("a", "1", 101));
  rig.server.put("a", "2");
  EXPECT_EQ(follow(), config_map_json("a", "2", 102));
  rig.server.remove("a");
  EXPECT_EQ(follow(), "");
}

TEST(Informer, TheStoreHasAChangeWhenItIsTold) {
  InformerRig rig;
  std::vector<std::uint64_t> seen;
  rig.informer.on_change([&](const api::ConfigMap*, const api::ConfigMap* after) {
    EXPECT_EQ(rig.informer.store().get({"ns", "a"}).get(), after);
    seen.push_back(rig.informer.store().seen_version());
  });
  rig.settle();
  rig.server.put("a", "1");
  rig.settle();
  EXPECT_THAT(seen, ElementsAre(101U));
}

TEST(Informer, ABookmarkMovesThePositionAndNothingElse) {
  InformerRig rig;
  rig.settle();
  rig.server.end_watches();
  rig.server.begin_watches_with(
      watch_line("BOOKMARK",
                 R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"900"}})"));
  rig.clock.advance(5min);
  rig.settle();
  EXPECT_EQ(rig.informer.store().seen_version(), 900U);
  rig.server.end_watches();
  EXPECT_EQ(rig.step(), Step::Ended);
  EXPECT_EQ(rig.step(), Step::Opened);
  EXPECT_THAT(rig.server.targets("watch=true").back(), HasSubstr("resourceVersion=900"));
  EXPECT_TRUE(rig.told.empty());
}

TEST(Informer, GoesOnFromTheLastVersionWhenAWatchEnds) {
  InformerRig rig;
  rig.settle();
  rig.server.put("a", "1");
  rig.settle();
  rig.server.end_watches();
  EXPECT_EQ(rig.step(), Step::Ended);
  rig.server.put("a", "2");
  rig.settle();
  EXPECT_THAT(rig.told, ElementsAre("a:>1", "a:1>2"));
  EXPECT_EQ(rig.lists(), 1U);
  EXPECT_THAT(rig.server.targets("watch=true").back(), HasSubstr("resourceVersion=101"));
}

TEST(Informer, GoesOnFromTheLastVersionAfterALostConnection) {
  InformerRig rig;
  rig.settle();
  rig.server.break_watches();
  EXPECT_EQ(rig.step(), Step::Failed);
  EXPECT_EQ(rig.informer.last_error()->kind, ErrorKind::Unavailable);
  rig.server.put("a", "1");
  EXPECT_EQ(rig.step(), Step::Idle) << "it backs off";
  rig.settle();
  EXPECT_THAT(rig.told, ElementsAre("a:>1"));
  EXPECT_EQ(rig.lists(), 1U);
  EXPECT_EQ(rig.informer.last_error(), std::nullopt);
}

TEST(Informer, OpensAWatchThatHadProgressedAtOnce) {
  InformerRig rig;
  rig.settle();
  for (const std::string value : {"1", "2", "3"}) {
    rig.server.put("a", value);
    EXPECT_EQ(rig.step(), Step::Took);
    rig.server.break_watches();
    EXPECT_EQ(rig.step(), Step::Failed);
    EXPECT_EQ(rig.informer.next_due(), rig.clock.elapsed());
    EXPECT_EQ(rig.step(), Step::Opened);
  }
  rig.server.break_watches();
  EXPECT_EQ(rig.step(), Step::Failed);
  EXPECT_EQ(rig.step(), Step::Idle) << "the last one has brought nothing";
  EXPECT_GE(*rig.informer.next_due() - rig.clock.elapsed(), 400ms);
}

TEST(Informer, AnErrorOfTheServerIsWaitedForThoughTheWatchHadProgressed) {
  InformerRig rig;
  rig.settle();
  rig.server.put("a", "1");
  EXPECT_EQ(rig.step(), Step::Took);
  rig.server.report_expired_as_event();
  rig.server.break_watches();
  rig.server.put("a", "2");
  rig.server.compact();
  EXPECT_EQ(rig.step(), Step::Failed) << "it broke";
  EXPECT_EQ(rig.step(), Step::Opened);
  EXPECT_EQ(rig.step(), Step::Failed) << "410";
  EXPECT_GE(*rig.informer.next_due() - rig.clock.elapsed(), 400ms);
}

// An overloaded one may end each watch so.
TEST(Informer, WhatTheServerSaysInAWatchThatHadProgressedIsWaitedForToo) {
  InformerRig rig;
  rig.settle();
  rig.server.put("a", "1");
  EXPECT_EQ(rig.step(), Step::Took);
  rig.server.say(watch_line(
      "ERROR",
      R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"TooManyRequests","code":429})"));
  EXPECT_EQ(rig.step(), Step::Failed);
  EXPECT_GE(*rig.informer.next_due() - rig.clock.elapsed(), 400ms);
}

// 410 comes as an answer or as an event; both mean that changes were missed.
class InformerExpired : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(AsAnswerOrEvent, InformerExpired, testing::Bool());

TEST_P(InformerExpired, ListsAgainAndTellsWhatItMissed) {
  InformerRig rig;
  if (GetParam()) rig.server.report_expired_as_event();
  for (const char* name : {"gone", "same", "changed"}) rig.server.put(name, "1");
  rig.settle();
  rig.told.clear();
  rig.server.break_watches();
  rig.server.remove("gone");
  rig.server.put("changed", "2");
  rig.server.put("new", "1");
  rig.server.compact();
  rig.settle();
  EXPECT_THAT(rig.told, ElementsAre("changed:1>2", "new:>1", "gone:1>"));
  EXPECT_EQ(rig.stored(), rig.server.objects());
  EXPECT_EQ(rig.lists(), 2U);
}

TEST(Informer, StartsTheListOverWhenItsTokenExpires) {
  InformerRig rig;
  for (const char* name : {"a", "b", "c"}) rig.server.put(name, "1");
  EXPECT_EQ(rig.step(), Step::Listed);
  rig.server.remove("a");
  rig.server.compact();
  EXPECT_EQ(rig.step(), Step::Failed);
  rig.settle();
  EXPECT_EQ(rig.stored(), rig.server.objects());
  EXPECT_THAT(rig.told, ElementsAre("b:>1", "c:>1"));
}

TEST(Informer, GoesOnWithTheSamePageAfterATransientFailure) {
  InformerRig rig;
  for (const char* name : {"a", "b", "c"}) rig.server.put(name, "1");
  EXPECT_EQ(rig.step(), Step::Listed);
  rig.server.script_status(500, "InternalError");
  EXPECT_EQ(rig.step(), Step::Failed);
  rig.settle();
  EXPECT_EQ(rig.lists(), 1U);
  EXPECT_EQ(rig.stored(), rig.server.objects());
}

TEST(Informer, AWatchThatEndsAtOnceCountsAsAFailure) {
  InformerRig rig;
  EXPECT_EQ(rig.step(), Step::Listed);
  EXPECT_EQ(rig.step(), Step::Opened);
  rig.server.end_watches();
  EXPECT_EQ(rig.step(), Step::Failed);
  EXPECT_GE(*rig.informer.next_due() - rig.clock.elapsed(), 400ms);
}

TEST(Informer, ATruncatedEventComesAgainOnTheNextConnection) {
  InformerRig rig;
  rig.server.put("a", "1");
  rig.settle();
  rig.server.truncate_watches();
  rig.server.put("a", "2");
  EXPECT_EQ(rig.step(), Step::Failed);
  rig.settle();
  EXPECT_THAT(rig.told, ElementsAre("a:>1", "a:1>2"));
  EXPECT_EQ(rig.lists(), 1U);
}

TEST(Informer, ListsAroundAnEventThatCannotBeReadTwice) {
  InformerRig rig;
  rig.server.put("a", "1");
  rig.settle();
  rig.server.begin_watches_with(R"({"type":"MODIFIED","object":{"kind":)");
  rig.server.break_watches();
  rig.server.put("a", "2");
  for (int failures = 0; failures < 3;) {
    failures += rig.step() == Step::Failed ? 1 : 0;
    rig.clock.advance(1s);
  }
  rig.server.begin_watches_with("");
  rig.settle();
  EXPECT_THAT(rig.told, ElementsAre("a:>1", "a:1>2"));
  EXPECT_EQ(rig.lists(), 2U);
}

TEST(Informer, DoesNotBringBackWhatWasDeletedWhenAServerRepeatsItself) {
  InformerRig rig;
  rig.server.put("a", "1");
  rig.settle();
  rig.server.remove("a");
  rig.settle();
  rig.server.begin_watches_with(watch_line("MODIFIED", config_map_json("a", "1", 101)));
  rig.server.break_watches();
  rig.settle();
  EXPECT_THAT(rig.told, ElementsAre("a:>1", "a:1>"));
  EXPECT_TRUE(rig.stored().empty());
}

TEST(Informer, PassesOverEventsOfATypeItDoesNotKnow) {
  InformerRig rig;
  rig.server.begin_watches_with(watch_line("SPLIT", config_map_json("a", "1", 500)));
  rig.settle();
  rig.server.put("b", "1");
  rig.settle();
  EXPECT_THAT(rig.told, ElementsAre("b:>1"));
}

// A watch from a version that is yet to come is silent (seen with kube-apiserver 1.37).
TEST(Informer, ListsAgainWhenTheServersHistoryWasSetBack) {
  InformerRig rig;
  rig.server.put("a", "1");
  rig.settle();
  const auto is_silent_for = [&](base::Duration time) {
    rig.clock.advance(time);
    rig.server.break_watches();
    rig.settle();
  };
  is_silent_for(2min);
  EXPECT_EQ(rig.lists(), 1U) << "the connection may have been cut";
  is_silent_for(10s);
  EXPECT_EQ(rig.lists(), 1U);
  is_silent_for(2min);
  EXPECT_EQ(rig.lists(), 2U);
  // The next time only after four: the server may give no bookmarks.
  for (int i = 0; i < 3; ++i) is_silent_for(2min);
  EXPECT_EQ(rig.lists(), 2U);
  is_silent_for(2min);
  EXPECT_EQ(rig.lists(), 3U);
}

// An etcd is restored from a backup while its API servers are stopped.
TEST(Informer, ListsAgainAsSoonAsAServerIsBackWithALowerVersion) {
  InformerRig rig;
  rig.server.put("a", "1");
  rig.server.back_up();
  rig.server.put("b", "1");
  rig.server.put("b", "2");
  rig.settle();
  rig.server.restore();
  EXPECT_EQ(rig.step(), Step::Failed);
  rig.server.script(std::nullopt);
  rig.server.put("c", "1");
  const base::Duration start = rig.clock.elapsed();
  rig.settle();
  EXPECT_LT(rig.clock.elapsed() - start, 5s);
  EXPECT_EQ(rig.stored(), rig.server.objects());
  EXPECT_EQ(rig.replayed, rig.server.objects());
  EXPECT_EQ(rig.lists(), 2U);
  rig.server.put("c", "2");
  rig.settle();
  EXPECT_EQ(rig.stored(), rig.server.objects());
}

// Another control plane has taken the address of the former one.
TEST(Informer, ListsAgainAlsoWhenTheHistoryHasCaughtUpSoon) {
  InformerRig rig;
  rig.server.back_up();
  rig.server.put("a", "1");
  rig.server.put("a", "2");
  rig.settle();
  rig.server.restore();
  rig.settle();
  rig.clock.advance(100s);
  rig.server.put("b", "1");
  rig.server.break_watches();
  rig.settle();
  rig.clock.advance(80s);
  for (const std::string value : {"2", "3", "4"}) rig.server.put("b", value);
  rig.settle();
  EXPECT_EQ(rig.stored(), rig.server.objects());
  EXPECT_EQ(rig.replayed, rig.server.objects());
  EXPECT_EQ(rig.lists(), 2U);
}

TEST(Informer, AsksForTheVersionOnlyAfterAServerWasAwayOrSilent) {
  InformerRig rig;
  rig.settle();
  rig.server.break_watches();
  rig.settle();
  rig.clock.advance(5min);
  rig.server.put("a", "1");
  rig.settle();
  rig.server.break_watches();
  rig.settle();
  rig.clock.advance(5min);
  rig.server.put("a", "2");
  rig.settle();
  rig.server.end_watches();
  rig.settle();
  EXPECT_EQ(rig.questions(), 0U) << "what is between, and the server's own timeout";
  rig.server.break_watches();
  EXPECT_EQ(rig.step(), Step::Failed);
  for (int i = 0; i < 3; ++i) rig.server.script(std::nullopt);
  rig.settle();
  EXPECT_EQ(rig.questions(), 3U) << "one request for each attempt, and one more";
  rig.server.break_watches();
  rig.settle();
  EXPECT_EQ(rig.questions(), 3U) << "it has answered";
  rig.clock.advance(2min);
  rig.server.break_watches();
  rig.settle();
  EXPECT_EQ(rig.questions(), 4U);
  EXPECT_EQ(rig.lists(), 1U);
  EXPECT_THAT(rig.server.targets("/configmaps?limit=1"),
              testing::Each("GET /api/v1/configmaps?limit=1"));
}

TEST(Informer, GoesOnWhereTheServerDoesNotTellItsVersion) {
  const auto answers = {http::Response{403, {}, status_json(403, "Forbidden", "no")},
                        ok(R"({"kind":"PartialObjectMetadataList","items":[],)"
                           R"("metadata":{"resourceVersion":"a"}})")};
  for (const http::Response& answer : answers) {
    InformerRig rig;
    rig.settle();
    rig.server.break_watches();
    EXPECT_EQ(rig.step(), Step::Failed);
    rig.server.script(std::nullopt);
    rig.server.script(answer);
    rig.settle();
    rig.server.put("a", "1");
    rig.settle();
    EXPECT_EQ(rig.stored(), rig.server.objects());
    EXPECT_EQ(rig.lists(), 1U);
    EXPECT_EQ(rig.questions(), 1U);
  }
}

TEST(Informer, ListsNothingAgainWhereSomethingEndsEachWatchAfterAMinute) {
  InformerRig rig;
  rig.server.put("a", "1");
  rig.settle();
  for (int i = 0; i < 10; ++i) {
    rig.clock.advance(61s);
    rig.server.break_watches();
    rig.settle();
  }
  EXPECT_EQ(rig.lists(), 1U);
}

TEST(Informer, ListsAgainWhenTheServerSaysThatItsHistoryWasSetBack) {
  InformerRig rig;
  rig.server.put("a", "1");
  rig.settle();
  rig.server.break_watches();
  EXPECT_EQ(rig.step(), Step::Failed);
  rig.server.script(http::Response{
      504, {}, status_json(504, "Timeout", "Too large resource version: 101, current: 7")});
  rig.settle();
  EXPECT_EQ(rig.lists(), 2U);
}

TEST(Informer, TakesAWatchThatBringsABookmarkForOneThatWorks) {
  InformerRig rig;
  rig.server.put("a", "1");
  rig.settle();
  for (int i = 0; i < 3; ++i) {
    rig.clock.advance(2min);
    rig.server.break_watches();
    rig.settle();
    rig.server.say(R"({"type":"BOOKMARK","object":{"kind":"ConfigMap","apiVersion":"v1",)"
                   R"("metadata":{"resourceVersion":"101"}}})");
    rig.settle();
  }
  EXPECT_EQ(rig.lists(), 1U);
}

TEST(Informer, WaitsTwiceAsLongWithEveryFailureUpToHalfAMinute) {
  InformerRig rig;
  for (int i = 0; i < 10; ++i) rig.server.script(std::nullopt);
  base::Duration most = 800ms;
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(rig.step(), Step::Failed);
    const base::Duration delay = *rig.informer.next_due() - rig.clock.elapsed();
    EXPECT_GE(delay, most / 2);
    EXPECT_LE(delay, most);
    most = std::min<base::Duration>(most * 2, 30s);
    ASSERT_EQ(rig.step(), Step::Idle);
    rig.clock.advance(delay);
  }
  EXPECT_EQ(rig.step(), Step::Listed);
}

TEST(Informer, TwoClientsDoNotComeBackAtTheSameTime) {
  InformerRig one(1);
  InformerRig two(2);
  for (InformerRig* rig : {&one, &two}) {
    rig->server.script(std::nullopt);
    EXPECT_EQ(rig->step(), Step::Failed);
  }
  EXPECT_NE(one.informer.next_due(), two.informer.next_due());
}

TEST(Informer, WaitsAsLongAsTheServerSaid) {
  InformerRig rig;
  rig.server.script_status(429, "TooManyRequests", {{"Retry-After", "17"}});
  EXPECT_EQ(rig.step(), Step::Failed);
  EXPECT_EQ(rig.informer.next_due(), base::Duration(17s));
}

TEST(Informer, SaysWhyItCannotListAndGoesOnTrying) {
  InformerRig rig;
  rig.server.script_status(403, "Forbidden");
  EXPECT_EQ(rig.step(), Step::Failed);
  EXPECT_EQ(rig.informer.last_error()->kind, ErrorKind::Forbidden);
  rig.settle();
  EXPECT_TRUE(rig.informer.store().has_synced());
}

TEST(Informer, IsInTroubleUntilAWatchHasWorkedForAWhile) {
  InformerRig rig;
  rig.settle();
  EXPECT_FALSE(rig.informer.trouble());
  const base::Duration start = rig.clock.elapsed();
  for (int i = 0; i < 4; ++i) {
    rig.server.break_watches();  // each is accepted, and breaks before it brings anything
    rig.settle();
  }
  EXPECT_FALSE(rig.informer.last_error()) << "the last one is open";
  ASSERT_TRUE(rig.informer.trouble());
  EXPECT_EQ(rig.informer.trouble()->since, start);
  EXPECT_EQ(rig.informer.trouble()->error.kind, ErrorKind::Unavailable);
  rig.clock.advance(5s);
  EXPECT_FALSE(rig.informer.trouble());
  rig.server.break_watches();
  EXPECT_EQ(rig.step(), Step::Failed);
  EXPECT_EQ(rig.informer.trouble()->since, rig.clock.elapsed()) << "a trouble of its own";
}

TEST(Informer, CountsSinceWhenItsTroubleIsOfOneKind) {
  InformerRig rig;
  rig.server.script(std::nullopt);
  EXPECT_EQ(rig.step(), Step::Failed);
  const base::Duration first = rig.clock.elapsed();
  rig.clock.advance(1s);
  rig.server.script_status(403, "Forbidden");
  EXPECT_EQ(rig.step(), Step::Failed);
  EXPECT_EQ(rig.informer.trouble()->since, first);
  EXPECT_EQ(rig.informer.trouble()->same_since, rig.clock.elapsed());
  EXPECT_EQ(rig.informer.trouble()->error.kind, ErrorKind::Forbidden);
}

TEST(Informer, AnEventEndsItsTrouble) {
  InformerRig rig;
  rig.settle();
  rig.server.break_watches();
  rig.settle();
  ASSERT_TRUE(rig.informer.trouble());
  rig.server.put("a", "1");
  rig.settle();
  EXPECT_FALSE(rig.informer.trouble());
}

TEST(Informer, ReadsInOnePieceAListThatTakesLongerThanTheServerKeepsItsHistory) {
  InformerRig rig;
  for (const char* name : {"a", "b", "c"}) rig.server.put(name, "1");
  EXPECT_EQ(rig.step(), Step::Listed);
  rig.server.put("d", "1");
  rig.server.compact();
  EXPECT_EQ(rig.step(), Step::Failed);
  rig.settle();
  EXPECT_EQ(rig.stored(), rig.server.objects());
  EXPECT_THAT(rig.server.targets("GET /api/v1/configmaps"),
              testing::Contains("GET /api/v1/configmaps"));
}

TEST(Informer, ReadsInPagesAgainAListThatIsTooLongInOnePiece) {
  InformerRig rig;
  for (const char* name : {"a", "b", "c"}) rig.server.put(name, "1");
  EXPECT_EQ(rig.step(), Step::Listed);
  rig.server.put("d", "1");
  rig.server.compact();
  EXPECT_EQ(rig.step(), Step::Failed) << "the next page is gone";
  http::Response too_long = ok("");
  too_long.is_too_long = true;
  rig.server.script(too_long);
  rig.settle();
  EXPECT_EQ(rig.stored(), rig.server.objects());
  EXPECT_THAT(rig.server.targets("GET /api/v1/configmaps").at(2), "GET /api/v1/configmaps");
  EXPECT_EQ(rig.server.targets("GET /api/v1/configmaps").at(3), "GET /api/v1/configmaps?limit=2");
}

// Another object of the same name: nobody may take the two for one.
TEST(Informer, TellsOfANameThatWasMadeAgainWhileNobodyWatchedAsOfTwoObjects) {
  InformerRig rig;
  for (const char* name : {"a", "odd"}) rig.server.put(name, "1");
  rig.settle();
  rig.told.clear();
  rig.server.break_watches();
  for (const char* name : {"a", "odd"}) rig.server.remove(name);
  rig.server.put("a", "1");
  rig.server.put("odd", kOddValue);
  rig.server.compact();
  rig.settle();
  EXPECT_THAT(rig.told, ElementsAre("a:1>", "a:>1", "odd:1>"));
  EXPECT_EQ(rig.informer.store().get({"ns", "a"})->meta.uid, "uid-a-2");
}

std::string unreadable(const InformerRig& rig) {
  const std::string text = rig.metrics.render();
  const std::string name = R"(compute_domain_unreadable_objects{resource="configmaps"} )";
  const auto at = text.find(name);
  return at == std::string::npos ? "no metric" : text.substr(at + name.size(), 1);
}

TEST(Informer, GoesOnPastAnEventOfAnObjectThatCannotBeReadAndKeepsItsLastState) {
  InformerRig rig;
  rig.server.put("a", "1");
  rig.settle();
  rig.server.put("a", kOddValue);
  rig.server.put("b", "1");
  rig.settle(/*through_backoffs=*/false);
  EXPECT_THAT(rig.stored(), ElementsAre(Pair("a", "1"), Pair("b", "1")));
  EXPECT_EQ(rig.informer.store().seen_version(), 103U);
  EXPECT_EQ(unreadable(rig), "1");

  rig.server.put("a", "2");
  rig.settle(/*through_backoffs=*/false);
  EXPECT_EQ(unreadable(rig), "0");
  rig.server.put("a", kOddValue);
  rig.server.remove("a");
  rig.settle(/*through_backoffs=*/false);
  EXPECT_THAT(rig.told, ElementsAre("a:>1", "b:>1", "a:1>2", "a:2>"));
  EXPECT_EQ(unreadable(rig), "0");
  EXPECT_EQ(rig.lists(), 1U);
  EXPECT_EQ(rig.watches(), 1U);
}

TEST(Informer, ListsTheOthersBesideAnObjectThatCannotBeReadAndKeepsItsLastState) {
  InformerRig rig;
  std::vector<std::string> reported;
  rig.informer.on_unreadable([&](const api::Unreadable& object) {
    reported.push_back(base::cat(object.name.name, ": ", object.problem));
  });
  for (const char* name : {"a", "b"}) rig.server.put(name, "1");
  rig.server.put("never", kOddValue);
  rig.settle();
  EXPECT_THAT(rig.stored(), ElementsAre(Pair("a", "1"), Pair("b", "1")));

  for (int i = 0; i < 2; ++i) {
    rig.server.break_watches();
    rig.server.put("a", kOddValue);
    rig.server.put("b", base::cat(i));
    rig.server.compact();
    rig.settle();
    EXPECT_THAT(rig.stored(), ElementsAre(Pair("a", "1"), Pair("b", base::cat(i))));
    EXPECT_EQ(unreadable(rig), "2");
  }
  EXPECT_THAT(reported,
              ElementsAre("never: ConfigMap ns/never: data.odd: must be a string, is number",
                          "a: ConfigMap ns/a: data.odd: must be a string, is number"))
      << "each once";
  rig.server.remove("never");
  rig.server.remove("a");
  rig.server.compact();
  rig.server.break_watches();
  rig.settle();
  EXPECT_THAT(rig.stored(), ElementsAre(Pair("b", "1")));
  EXPECT_EQ(unreadable(rig), "0");
}

TEST(Informer, DoesNothingAfterStop) {
  InformerRig rig;
  rig.settle();
  rig.informer.stop();
  EXPECT_EQ(rig.step(), Step::Stopped);
  EXPECT_EQ(rig.informer.next_due(), std::nullopt);
}

TEST(Informer, CountsListsWatchesEventsAndErrors) {
  InformerRig rig;
  rig.settle();
  rig.server.put("a", "1");
  rig.settle();
  rig.server.break_watches();
  rig.settle();
  const std::string text = rig.metrics.render();
  for (const char* line :
       {R"(compute_domain_watch_steps_total{resource="configmaps",what="list"} 1)",
        R"(compute_domain_watch_steps_total{resource="configmaps",what="watch"} 2)",
        R"(compute_domain_watch_steps_total{resource="configmaps",what="event"} 1)",
        R"(compute_domain_watch_errors_total{error="Unavailable",resource="configmaps"} 1)",
        R"(compute_domain_store_objects{resource="configmaps"} 1)"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

}  // namespace
}  // namespace cdom::kube
