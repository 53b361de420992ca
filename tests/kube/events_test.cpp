#include "compute_domain/kube/events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compute_domain/base/text.h"
#include "kube/fake_server.h"

namespace cdom::kube {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

const std::string kAnyEvent =
    R"({"apiVersion":"v1","kind":"Event","metadata":{"name":"x","namespace":"team"}})";

struct EventsTest : testing::Test {
  FakeServer server;
  base::ManualClock clock;
  base::Registry metrics;
  Client client{server, clock, "controller"};
  EventRecorder recorder{client, clock, {"controller", "pod-1", 7}, &metrics};
  api::ObjectReference train{"resource.nvidia.com/v1beta1", "ComputeDomain", "team", "train", "u1"};

  void record(const std::string& message, const std::string& reason = "Waiting") {
    recorder.record(train, "Normal", reason, message);
  }
  void record_in(const std::string& ns, const std::string& message) {
    train.ns = ns;
    record(message);
  }
  // The next one to be sent is of that namespace, and is answered so.
  void attempt_in(const std::string& ns, int status) {
    if (status == 201) {
      server.script(ok(kAnyEvent));
    } else {
      server.script_status(status, "");
    }
    const std::size_t before = sent().size();
    EXPECT_TRUE(recorder.step());
    ASSERT_THAT(sent(), SizeIs(before + 1));
    EXPECT_THAT(sent().back(), HasSubstr(base::cat("/namespaces/", ns, "/")));
  }
  // Sends all that is due; the server accepts it.
  void send() {
    while (recorder.next_due() == clock.elapsed()) {
      server.script(ok(kAnyEvent));
      recorder.step();
    }
  }
  std::vector<std::string> sent() const { return server.targets("/events"); }
  std::string last_body() const { return server.requests().back().body; }
};

TEST_F(EventsTest, SendsWhatWasRecorded) {
  record("2 of 4 nodes");
  EXPECT_TRUE(server.requests().empty()) << "recording does not send";
  send();
  EXPECT_THAT(sent(), ElementsAre("POST /api/v1/namespaces/team/events?fieldManager=controller"));
  EXPECT_THAT(last_body(),
              AllOf(HasSubstr(R"("message":"2 of 4 nodes")"), HasSubstr(R"("reason":"Waiting")"),
                    HasSubstr(R"("uid":"u1")"), HasSubstr(R"("name":"train.)")));
  EXPECT_FALSE(recorder.step());
}

TEST_F(EventsTest, SaysOnWhichNodeItHappenedWhereItKnows) {
  record("2 of 4 nodes");
  send();
  EXPECT_THAT(last_body(), HasSubstr(R"("source":{"component":"controller"})"));
  EventRecorder on_a_node(client, clock, {.component = "kubelet", .host = "n1"});
  on_a_node.record(train, "Normal", "Started", "it runs");
  server.script(ok(kAnyEvent));
  ASSERT_TRUE(on_a_node.step());
  EXPECT_THAT(last_body(), HasSubstr(R"("source":{"component":"kubelet","host":"n1"})"));
}

TEST_F(EventsTest, PutsEventsOfClusterScopedObjectsIntoDefault) {
  recorder.record({"v1", "Node", "", "n1", "n1"}, "Warning", "Lost", "gone");
  send();
  EXPECT_THAT(sent(), ElementsAre(StartsWith("POST /api/v1/namespaces/default/events")));
}

TEST_F(EventsTest, CountsWhatHappensAgain) {
  record("2 of 4 nodes");
  send();
  record("2 of 4 nodes");
  record("2 of 4 nodes");
  send();
  EXPECT_THAT(sent(), ElementsAre(StartsWith("POST"), StartsWith("PATCH")));
  EXPECT_THAT(last_body(), HasSubstr(R"("count":3)"));
}

TEST_F(EventsTest, MakesOneEventOfWhatHappenedBeforeItWasSent) {
  for (int i = 0; i < 5; ++i) record("2 of 4 nodes");
  send();
  EXPECT_THAT(sent(), ElementsAre(StartsWith("POST")));
  EXPECT_THAT(last_body(), HasSubstr(R"("count":5)"));
}

// Takes every event; `during` happens while the first one is on its way.
class BusyServer : public http::Client {
 public:
  std::function<void()> during;
  std::vector<std::string> bodies;

  base::Result<http::Response> send(const http::Request& request) override {
    bodies.push_back(request.body);
    if (during) std::exchange(during, nullptr)();
    return ok(kAnyEvent);
  }
  base::Result<http::Opened> open(const http::Request&) override {
    return base::Error{base::ErrorKind::Invalid, "no watches here"};
  }
  void shut_down() override {}
};

TEST_F(EventsTest, ReportsAlsoWhatHappensWhileItIsSent) {
  BusyServer busy;
  const Client to_busy(busy, clock, "controller");
  EventRecorder other(to_busy, clock, {"controller", "pod-1", 7});
  const auto happens = [&] { other.record(train, "Normal", "Waiting", "2 of 4 nodes"); };
  busy.during = happens;
  happens();
  while (other.step()) {
  }
  ASSERT_THAT(busy.bodies, SizeIs(2));
  EXPECT_THAT(busy.bodies.back(), HasSubstr(R"("count":2)"));
}

TEST_F(EventsTest, CreatesAnEventAgainThatTheServerForgot) {
  record("2 of 4 nodes");
  send();
  record("2 of 4 nodes");
  server.script_status(404, "NotFound");
  EXPECT_TRUE(recorder.step());
  send();
  EXPECT_THAT(sent(), ElementsAre(StartsWith("POST"), StartsWith("PATCH"), StartsWith("POST")));
  EXPECT_THAT(last_body(), HasSubstr(R"("count":2)"));
}

TEST_F(EventsTest, CombinesTheTenthMessageOfAReasonAndThoseAfterIt) {
  for (int i = 1; i <= 12; ++i) {
    record(base::cat(i, " of 18 nodes"));
    send();
  }
  EXPECT_THAT(sent(), SizeIs(12));
  EXPECT_THAT(server.targets("POST"), SizeIs(10));
  EXPECT_THAT(last_body(), AllOf(HasSubstr("(combined from similar events): 12 of 18 nodes"),
                                 HasSubstr(R"("count":3)")));
  record("something else", "Ready");
  send();
  EXPECT_THAT(last_body(), Not(HasSubstr("combined")));
}

TEST_F(EventsTest, CombinesOnlyWithinTenMinutes) {
  for (int i = 1; i <= 9; ++i) record(base::cat(i, " of 18 nodes"));
  clock.advance(11min);
  record("10 of 18 nodes");
  send();
  EXPECT_THAT(last_body(), Not(HasSubstr("combined")));
}

TEST_F(EventsTest, LetsOneObjectCause25WritesAndThenOnePerFiveMinutes) {
  for (int i = 0; i < 30; ++i) record("again", base::cat("Reason", i));
  send();
  EXPECT_THAT(sent(), SizeIs(25));
  clock.advance(5min);
  for (int i = 0; i < 3; ++i) record("again", base::cat("Late", i));
  send();
  EXPECT_THAT(sent(), SizeIs(26));
  EXPECT_THAT(metrics.render(),
              AllOf(HasSubstr(R"(compute_domain_events_total{outcome="Sent"} 26)"),
                    HasSubstr(R"(compute_domain_events_total{outcome="Dropped"} 7)")));
}

TEST_F(EventsTest, TheBudgetOfOneObjectIsNotThatOfAnother) {
  for (int i = 0; i < 30; ++i) record("again", base::cat("Reason", i));
  train.name = "other";
  record("hello");
  send();
  EXPECT_THAT(last_body(), HasSubstr("hello"));
}

TEST_F(EventsTest, HoldsABoundedNumberWhileTheServerIsAway) {
  for (int i = 0; i < 3000; ++i) {
    train.name = base::cat("d", i);
    record("hello");
  }
  send();
  EXPECT_THAT(sent(), SizeIs(1000));
}

TEST_F(EventsTest, TellsWhetherItTookAnEvent) {
  for (int i = 0; i < 1000; ++i) {
    train.name = base::cat("d", i);
    EXPECT_TRUE(recorder.record(train, "Normal", "Waiting", "hello"));
  }
  EXPECT_TRUE(recorder.record(train, "Normal", "Waiting", "hello")) << "it waits already";
  train.name = "one-more";
  EXPECT_FALSE(recorder.record(train, "Normal", "Waiting", "hello"));
  send();
  EXPECT_TRUE(recorder.record(train, "Normal", "Waiting", "hello"));
}

TEST_F(EventsTest, ANamespaceThatFloodsItLosesItsOwnEventsAndNotThoseOfOthers) {
  for (int i = 0; i < 3000; ++i) {
    train.name = base::cat("d", i);
    record("flood");
  }
  for (int i = 0; i < 600; ++i) {
    train.ns = "other";
    train.name = base::cat("o", i);
    EXPECT_EQ(recorder.record(train, "Normal", "Waiting", "hello"), i < 500) << i;
  }
  train.ns = "third";
  EXPECT_TRUE(recorder.record(train, "Normal", "Waiting", "hello"));
  send();
  EXPECT_THAT(sent(), SizeIs(1000));
  EXPECT_THAT(server.targets("/namespaces/other/events"), SizeIs(testing::AnyOf(499, 500)));
  EXPECT_THAT(server.targets("/namespaces/third/events"), SizeIs(1));
  // What gave way is sent when it happens again.
  train.ns = "team";
  train.name = "d999";
  record("flood");
  send();
  EXPECT_THAT(last_body(), AllOf(HasSubstr(R"("name":"d999")"), HasSubstr(R"("count":2)")));
}

TEST_F(EventsTest, SendsInTurnsByNamespace) {
  for (const char* reason : {"A", "B", "C"}) record("hello", reason);
  train.ns = "other";
  record("hello");
  for (const char* ns : {"team", "other", "team", "team"}) {
    server.script(ok(kAnyEvent));
    EXPECT_TRUE(recorder.step());
    EXPECT_THAT(sent().back(), HasSubstr(base::cat("/namespaces/", ns, "/")));
  }
  EXPECT_FALSE(recorder.step());
}

// The one that is on its way does not give way.
TEST_F(EventsTest, MakesRoomWhileItSends) {
  BusyServer busy;
  const Client to_busy(busy, clock, "controller");
  EventRecorder other(to_busy, clock, {"controller", "pod-1", 7});
  const auto flood = [&](const std::string& ns) {
    train.ns = ns;
    for (int i = 0; i < 1000; ++i) {
      train.name = base::cat("d", i);
      other.record(train, "Normal", "Waiting", "hello");
    }
  };
  busy.during = [&] {
    flood("other");
    flood("third");
  };
  flood("team");
  while (other.step()) {
  }
  EXPECT_THAT(busy.bodies, SizeIs(1000));
}

TEST_F(EventsTest, TriesAgainTenSecondsAfterAFailureTwelveTimesInAll) {
  record("hello");
  for (int attempt = 1; attempt <= 12; ++attempt) {
    server.script(std::nullopt);
    EXPECT_TRUE(recorder.step());
    EXPECT_FALSE(recorder.step());
    clock.advance(10s);
  }
  EXPECT_EQ(recorder.next_due(), std::nullopt);
  EXPECT_THAT(sent(), SizeIs(12));
  EXPECT_THAT(metrics.render(),
              AllOf(HasSubstr(R"(compute_domain_events_total{outcome="Retried"} 11)"),
                    HasSubstr(R"(compute_domain_events_total{outcome="Failed"} 1)")));
}

TEST_F(EventsTest, WaitsAsLongAsTheServerSaid) {
  record("hello");
  server.script_status(429, "TooManyRequests", {{"Retry-After", "25"}});
  EXPECT_TRUE(recorder.step());
  EXPECT_EQ(recorder.next_due(), base::Duration(25s));
}

// As the admission plugin EventRateLimit answers, or a webhook that selects namespaces.
TEST_F(EventsTest, ANamespaceWhoseEventsFailHoldsUpNoOther) {
  record_in("bad", "first");
  record_in("bad", "second");
  record_in("good", "hello");
  attempt_in("bad", 429);
  attempt_in("good", 201);
  EXPECT_FALSE(recorder.step());
  EXPECT_EQ(recorder.next_due(), base::Duration(10s));
  // Others come and go meanwhile.
  clock.advance(1s);
  record_in("good", "hello again");
  EXPECT_EQ(recorder.next_due(), clock.elapsed());
  attempt_in("good", 201);
  EXPECT_EQ(recorder.next_due(), base::Duration(10s));
  clock.advance(9s);
  record_in("good", "and again");
  attempt_in("bad", 201);
  EXPECT_THAT(last_body(), HasSubstr("first"));
  attempt_in("good", 201);
  attempt_in("bad", 201);
  EXPECT_EQ(recorder.next_due(), std::nullopt);
}

TEST_F(EventsTest, EachNamespaceHasItsTwelveAttemptsAtAnEvent) {
  record_in("bad", "first");
  record_in("bad", "second");
  record_in("worse", "first");
  for (int attempt = 1; attempt <= 12; ++attempt) {
    attempt_in("bad", 500);
    attempt_in("worse", 500);
    if (attempt == 12) break;
    EXPECT_FALSE(recorder.step());
    clock.advance(10s);
  }
  EXPECT_THAT(metrics.render(),
              AllOf(HasSubstr(R"(compute_domain_events_total{outcome="Retried"} 22)"),
                    HasSubstr(R"(compute_domain_events_total{outcome="Failed"} 2)")));
  attempt_in("bad", 500);
  EXPECT_THAT(last_body(), HasSubstr("second"));
  EXPECT_EQ(recorder.next_due(), clock.elapsed() + 10s) << "it has attempts of its own";
}

TEST_F(EventsTest, AnEventThatWasSentAtLastLeavesNoWaitBehind) {
  record_in("bad", "first");
  attempt_in("bad", 429);
  clock.advance(10s);
  attempt_in("bad", 201);
  record_in("bad", "second");
  attempt_in("bad", 201);
}

// As with a webhook for its Events that is silent for longer than a request may take.
TEST_F(EventsTest, ANamespaceWhoseEventsGetNoAnswerHoldsUpNoOther) {
  record_in("bad", "hello");
  record_in("good", "first");
  record_in("good", "second");
  server.script(std::nullopt);
  EXPECT_TRUE(recorder.step());
  send();
  EXPECT_THAT(server.targets("/namespaces/good/events"), SizeIs(2));
  EXPECT_EQ(recorder.next_due(), base::Duration(10s));
}

TEST_F(EventsTest, AServerThatCannotBeReachedIsTriedForTwoNamespacesAtATime) {
  record_in("team", "hello");
  record_in("other", "hello");
  for (int i = 0; i < 2; ++i) {
    server.script(std::nullopt);
    EXPECT_TRUE(recorder.step());
  }
  EXPECT_FALSE(recorder.step());
  record_in("third", "hello");
  EXPECT_FALSE(recorder.step());
  EXPECT_EQ(recorder.next_due(), base::Duration(10s));
  clock.advance(10s);
  send();
  EXPECT_THAT(sent(), SizeIs(5));
}

// The one that will be tried again does not give way.
TEST_F(EventsTest, MakesRoomWhileANamespaceWaits) {
  record_in("bad", "first");
  attempt_in("bad", 429);
  for (int i = 0; i < 1500; ++i) {
    train.name = base::cat("d", i);
    record_in("bad", "flood");
    record_in("good", "flood");
  }
  send();
  EXPECT_THAT(server.targets("/namespaces/good/events"), SizeIs(testing::AnyOf(499, 500)));
  clock.advance(10s);
  attempt_in("bad", 201);
  EXPECT_THAT(last_body(), HasSubstr("first"));
}

TEST_F(EventsTest, DropsWhatTheServerRefusesAndGoesOn) {
  record("one", "A");
  record("two", "B");
  server.script_status(403, "Forbidden");
  EXPECT_TRUE(recorder.step());
  send();
  EXPECT_THAT(last_body(), HasSubstr("two"));
}

TEST_F(EventsTest, TakesItsOwnNameInUseForALostAnswer) {
  record("hello");
  server.script_status(409, "AlreadyExists");
  EXPECT_TRUE(recorder.step());
  record("hello");
  send();
  EXPECT_THAT(sent(), ElementsAre(StartsWith("POST"), StartsWith("PATCH")));
}

TEST_F(EventsTest, ShortensAMessageBetweenTwoCharacters) {
  std::string message(1020, 'x');
  record(message + "ééé");  // of two bytes each
  send();
  EXPECT_THAT(last_body(), HasSubstr(message + "...\""));
}

}  // namespace
}  // namespace cdom::kube
