#include "compute_domain/kube/leader_election.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "compute_domain/api/codec.h"
#include "compute_domain/kube/leader_only.h"
#include "kube/fake_server.h"

namespace cdom::kube {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;

// One Lease, with the preconditions of a real API server.
class LeaseServer : public http::Client {
 public:
  std::optional<api::Lease> lease;
  bool is_down = false;
  int writes = 0;
  base::ManualClock* slow = nullptr;  // every request takes as long as `delay`
  base::Duration delay{};

  base::Result<http::Response> send(const http::Request& request) override {
    if (slow != nullptr) slow->advance(delay);
    if (is_down) return base::Error{base::ErrorKind::Unavailable, "connection refused"};
    if (request.method == "GET") {
      return lease ? answer() : http::Response{404, {}, status_json(404, "NotFound", "none")};
    }
    ++writes;
    const auto written = api::decode<api::Lease>(request.body);
    if (!written) return written.error();
    const bool is_create = request.method == "POST";
    if (is_create && lease) return http::Response{409, {}, status_json(409, "AlreadyExists", "")};
    if (!is_create && (!lease || written->meta.resource_version != lease->meta.resource_version)) {
      return http::Response{409, {}, status_json(409, "Conflict", "modified")};
    }
    set(*written);
    return answer();
  }
  base::Result<http::Opened> open(const http::Request&) override {
    return base::Error{base::ErrorKind::Invalid, "no watches here"};
  }
  void shut_down() override {}

  // As somebody else writes it.
  void set(api::Lease wanted) {
    wanted.meta.resource_version = std::to_string(++version_);
    lease = std::move(wanted);
  }

 private:
  http::Response answer() const {
    std::string body = api::encode_lease_update(*lease);
    return ok(std::move(body));
  }
  int version_ = 0;
};

class LeaderElectionTest : public testing::Test {
 protected:
  LeaseServer server;
  base::ManualClock clock;
  Client client{server, clock, "controller"};
  LeaderElection a{client, clock, options("a")};
  LeaderElection b{client, clock, options("b")};

  static LeaderElectionOptions options(const std::string& identity) {
    LeaderElectionOptions options;
    options.lease = {"ns", "controller"};
    options.identity = identity;
    return options;
  }
  // Both step whenever they are due.
  void run_for(base::Duration span, std::initializer_list<LeaderElection*> who) {
    const base::Duration end = clock.elapsed() + span;
    while (clock.elapsed() < end) {
      for (LeaderElection* one : who) {
        one->step();
        most_leaders = std::max(most_leaders, a.is_leading() + b.is_leading());
      }
      clock.advance(100ms);
    }
  }
  int most_leaders = 0;
};

TEST_F(LeaderElectionTest, OneOfTwoLeadsAndKeepsLeading) {
  run_for(5min, {&a, &b});
  EXPECT_TRUE(a.is_leading());
  EXPECT_FALSE(b.is_leading());
  EXPECT_EQ(most_leaders, 1);
  EXPECT_EQ(b.holder(), "a");
  EXPECT_EQ(server.lease->transitions, 0);
}

TEST_F(LeaderElectionTest, AnotherTakesOverWhenTheRecordHasNotChangedForItsDuration) {
  run_for(10s, {&a, &b});
  run_for(13s, {&b});  // a is gone
  EXPECT_FALSE(b.is_leading()) << "the Lease says 15 s";
  run_for(7s, {&b});
  EXPECT_TRUE(b.is_leading());
  EXPECT_EQ(server.lease->transitions, 1);
}

TEST_F(LeaderElectionTest, ALeaderThatCannotRenewStopsBeforeAnotherMayTakeOver) {
  run_for(10s, {&a, &b});
  server.is_down = true;
  run_for(9s, {&a, &b});
  EXPECT_FALSE(b.is_leading());
  run_for(2s, {&a, &b});
  EXPECT_EQ(a.standing(), LeaderElection::Standing::Lost);
  server.is_down = false;
  run_for(1min, {&a, &b});
  EXPECT_TRUE(b.is_leading());
  EXPECT_EQ(a.standing(), LeaderElection::Standing::Lost) << "its process has to end";
  EXPECT_EQ(most_leaders, 1);
}

TEST_F(LeaderElectionTest, AFrozenLeaderDoesNotLeadWhenItGoesOn) {
  run_for(10s, {&a, &b});
  run_for(1min, {&b});  // a's process is stopped and continued, and has not stepped yet
  EXPECT_FALSE(a.is_leading());
  EXPECT_TRUE(b.is_leading());
  a.step();
  EXPECT_EQ(a.standing(), LeaderElection::Standing::Lost);
  EXPECT_EQ(server.lease->holder, "b");
}

TEST_F(LeaderElectionTest, TheDeadlineCountsFromBeforeTheRequest) {
  server.slow = &clock;
  server.delay = 4s;
  const base::Duration start = clock.elapsed();
  ASSERT_TRUE(a.step());  // GET and POST, 8 s
  EXPECT_TRUE(a.is_leading());
  clock.advance(start + 10s - clock.elapsed());
  EXPECT_FALSE(a.is_leading());
}

TEST_F(LeaderElectionTest, ARenewalThatIsAnsweredAfterTheDeadlineDoesNotBringLeadershipBack) {
  run_for(10s, {&a});
  clock.advance(7s);
  ASSERT_TRUE(a.is_leading());
  server.slow = &clock;
  server.delay = 5s;
  ASSERT_TRUE(a.step());
  EXPECT_EQ(server.lease->holder, "a") << "the server has taken it";
  EXPECT_FALSE(a.is_leading());
  EXPECT_EQ(a.standing(), LeaderElection::Standing::Lost);
  EXPECT_FALSE(a.step()) << "and it does not try again";
}

TEST_F(LeaderElectionTest, ALeaseThatCameTooLateIsTakenOnceMore) {
  server.slow = &clock;
  server.delay = 6s;
  ASSERT_TRUE(a.step());  // GET and POST, 12 s
  EXPECT_EQ(a.standing(), LeaderElection::Standing::Waiting) << "it has not led yet";
  server.delay = 1s;
  run_for(10s, {&a});
  EXPECT_TRUE(a.is_leading());
}

TEST_F(LeaderElectionTest, TimesInTheRecordAreNotBelieved) {
  api::Lease lease;
  lease.meta.ns = "ns";
  lease.meta.name = "controller";
  lease.holder = "somebody with a clock of his own";
  lease.duration_seconds = 60;
  lease.renewed = clock.now() - 24h;
  server.set(lease);
  run_for(55s, {&a});
  EXPECT_FALSE(a.is_leading());
  run_for(10s, {&a});
  EXPECT_TRUE(a.is_leading());
}

TEST_F(LeaderElectionTest, ALeaseThatWasReleasedIsTakenAtOnce) {
  run_for(10s, {&a, &b});
  ASSERT_TRUE(a.release());
  EXPECT_FALSE(a.is_leading());
  run_for(5s, {&b});
  EXPECT_TRUE(b.is_leading());
}

TEST_F(LeaderElectionTest, ALeaderThatSomebodyHasReplacedStopsAtOnce) {
  run_for(10s, {&a});
  api::Lease stolen = *server.lease;
  stolen.holder = "b";
  server.set(stolen);
  run_for(3s, {&a});
  EXPECT_FALSE(a.is_leading());
}

TEST_F(LeaderElectionTest, AForeignEditOfTheLeaseDoesNotEndLeadership) {
  run_for(10s, {&a});
  server.set(*server.lease);  // a label, say: only the resource version changes
  run_for(1min, {&a});
  EXPECT_TRUE(a.is_leading());
}

TEST_F(LeaderElectionTest, WritesOfWhoDoesNotLeadNeverLeaveTheProcess) {
  LeaderOnly gate(server, [this] { return a.is_leading(); });
  const http::Request write{"PATCH", "/api/v1/namespaces/ns/configmaps/x", {}, "{}"};
  const auto refused = gate.send(write);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, base::ErrorKind::Cancelled);
  EXPECT_EQ(server.writes, 0);
  EXPECT_TRUE(gate.send({"GET", "/api/v1/nodes", {}, ""})) << "its caches stay warm";
  a.step();
  const int before = server.writes;
  (void)gate.send({"POST", "/x", {}, R"({"metadata":{}})"});
  EXPECT_EQ(server.writes, before + 1);
}

TEST(LeaderElectionOptions, RefuseWhatWouldLetTwoLead) {
  LeaderElectionOptions options;
  EXPECT_THAT(mistake_in(options), IsEmpty());
  options.renew_deadline = 15s;
  EXPECT_THAT(mistake_in(options), HasSubstr("must be longer than the renew deadline"));
  options.renew_deadline = 2s;
  EXPECT_THAT(mistake_in(options), HasSubstr("1.2 retry periods"));
  options = {};
  options.lease_duration = 15500ms;
  EXPECT_THAT(mistake_in(options), HasSubstr("whole seconds"));
}

}  // namespace
}  // namespace cdom::kube
