// How proofs are brought, against an API server that counts what it is asked.
#include "compute_domain/controller/apply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compute_domain/api/codec.h"
#include "compute_domain/base/pulses.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/membership.h"
#include "compute_domain/core/node_lists.h"
#include "compute_domain/core/reservations.h"
#include "compute_domain/core/status.h"
#include "controller/empty_server.h"
#include "controller/placer.h"
#include "controller/shell_rig.h"

namespace cdom::controller {
namespace {

using namespace std::chrono_literals;
using base::cat;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class ApplyTest : public testing::Test {
 protected:
  // What keeps the node from being taken for unused; "" when nothing does.
  std::string use_of(const std::string& node) {
    const Applied applied =
        apply_({.actions = {core::EnsureNodeUnused{node}}, .look_again = std::nullopt});
    return applied.result ? "" : applied.result.error().message;
  }
  [[nodiscard]] std::size_t lists() const { return server_.asked("/resourceclaims?").size(); }

  EmptyServer server_;
  base::ManualClock clock_;
  kube::Client client_{server_, clock_, "test"};
  kube::EventRecorder events_{client_, clock_, {.component = "test", .instance = "test"}};
  Memory memory_;
  Workloads workloads_;
  Apply apply_{client_, events_, memory_, workloads_, clock_, nullptr};
};

std::string claim_on(const std::string& name, const std::string& node) {
  return cat(R"({"metadata":{"namespace":"team-a","name":")", name, R"(","uid":"uid-)", name,
             R"(","resourceVersion":"3"},"spec":{},"status":{"allocation":{"devices":{"results":[
             {"driver":"compute-domain.nvidia.com","pool":")",
             node, R"(","device":"channel-0","request":"channel"}]},
             "nodeSelector":{"nodeSelectorTerms":[{"matchFields":[
             {"key":"metadata.name","operator":"In","values":[")",
             node, R"("]}]}]}}}})");
}

// An API server of which each answer takes nearly as long as a request may, and whose lists have
// many pages with the same objects. Who asks is not stuck.
class SlowServer : public EmptyServer {
 public:
  SlowServer(base::ManualClock& clock, int pages) : clock_(clock), pages_(pages) {}

  base::Result<http::Response> send(const http::Request& request) override {
    clock_.advance(9s);
    EXPECT_THAT(pulses_.stuck(), IsEmpty()) << request.method << " " << request.target;
    if (request.method == "PATCH") {
      ++patches;
      return http::Response{
          .status = 200, .headers = {}, .body = R"({"kind":"Node","apiVersion":"v1",
          "metadata":{"name":"n","uid":"uid-n","resourceVersion":"7"}})"};
    }
    auto response = EmptyServer::send(request);
    const std::string version = R"("metadata":{"resourceVersion":"5")";
    const std::size_t at = response->body.find(version);
    const bool has_items = response->body.find(R"("items":[])") == std::string::npos;
    if (at != std::string::npos && has_items && ++sent_ % pages_ != 0) {
      response->body.insert(at + version.size(), R"(,"continue":"more")");
    }
    return response;
  }
  void beat() { pulse_.beat(); }

  int patches = 0;

 private:
  base::ManualClock& clock_;
  base::Pulses pulses_{clock_, 5min};
  base::Pulses::Pulse& pulse_ = pulses_.add("worker-0");
  const int pages_;
  int sent_ = 0;
};

TEST_F(ApplyTest, AWorkerThatReadsManyPagesIsNotStuck) {
  const std::string object = R"({"metadata":{"namespace":"team-a","name":"a","uid":"uid-a",
                                 "resourceVersion":"3"},"spec":{}})";
  const std::pair<std::string, core::Action> many[] = {
      {"/computedomains", core::EnsureDomainGone{"uid-1"}},
      {"/resourceclaims", core::EnsureNodeUnused{"n1"}},
      {"/resourceclaims", core::EnsureClaimsReleased{"team-a", "ours", "uid-1", true}},
      {"/pods", core::EnsurePredecessorGone{"uid-1", {"ours"}}},
      {"/pods", core::ReadPods{"team-a", true}},
  };
  for (const auto& [path, action] : many) {
    SlowServer slow(clock_, 100);
    for (const char* plural : {"computedomains", "resourceclaims", "pods"})
      slow.put(plural, object);
    const kube::Client client(slow, clock_, "test");
    const Apply apply(client, events_, memory_, workloads_, clock_, nullptr);
    apply({.actions = {action}, .look_again = std::nullopt}, [&] { slow.beat(); });
    EXPECT_THAT(slow.asked(path + "?"), SizeIs(100)) << core::to_string(action);
  }
}

TEST_F(ApplyTest, AWorkerWithManyActionsIsNotStuck) {
  SlowServer slow(clock_, 1);
  const kube::Client client(slow, clock_, "test");
  const Apply apply(client, events_, memory_, workloads_, clock_, nullptr);
  core::Plan plan;
  for (int i = 0; i < 100; ++i) {
    plan.actions.emplace_back(core::UnmarkNode{{.name = "n", .resource_version = "3"}});
  }
  EXPECT_EQ(apply(plan, [&] { slow.beat(); }).actions, 100U);
}

// The labels of a rack's nodes, which the reference driver has set.
TEST_F(ApplyTest, AWorkerThatWritesToManyNodesIsNotStuck) {
  SlowServer slow(clock_, 1);
  std::string nodes;
  for (int i = 0; i < 100; ++i) {
    nodes += cat(i == 0 ? "" : ",", R"({"metadata":{"name":"n)", i,
                 R"(","uid":"uid-n","resourceVersion":"3"}})");
  }
  slow.put("nodes", nodes);
  const kube::Client client(slow, clock_, "test");
  const Apply apply(client, events_, memory_, workloads_, clock_, nullptr);
  apply({.actions = {core::EnsurePredecessorGone{"uid-1", {"ours"}}}, .look_again = std::nullopt},
        [&] { slow.beat(); });
  EXPECT_EQ(slow.patches, 100);
}

// The GPUs of many nodes may go at once.
TEST_F(ApplyTest, OneListProvesOfManyNodesThatTheyAreNotUsed) {
  server_.put("resourceclaims", claim_on("a", "n1"));
  EXPECT_THAT(use_of("n1"), HasSubstr("1 claim may be in use on Node n1"));
  for (int i = 2; i < 100; ++i) EXPECT_THAT(use_of(cat("n", i)), IsEmpty());
  EXPECT_EQ(lists(), 1U);
  server_.put("resourceclaims", claim_on("a", "n2"));
  clock_.advance(1s);
  EXPECT_THAT(use_of("n1"), IsEmpty());
  EXPECT_THAT(use_of("n2"), HasSubstr("n2"));
  EXPECT_EQ(lists(), 2U);
}

// A tenant may delete a namespace full of them, and nobody else's claims wait for as many lists.
TEST_F(ApplyTest, OneListProvesOfAllDomainsOfAPlanThatTheyAreGone) {
  core::Plan plan;
  for (int i = 0; i < 100; ++i) plan.actions.emplace_back(core::EnsureDomainGone{cat("uid-", i)});
  EXPECT_TRUE(apply_(plan).result);
  EXPECT_EQ(server_.asked("/computedomains?").size(), 1U);
  server_.put("computedomains", R"({"metadata":{"namespace":"team-a","name":"train","uid":"uid-7",
      "resourceVersion":"3"},"spec":{"numNodes":1,"channel":{"resourceClaimTemplate":{"name":"t"}}}})");
  const Applied applied = apply_(plan);
  ASSERT_FALSE(applied.result);
  EXPECT_THAT(applied.result.error().message, HasSubstr("ComputeDomain team-a/train exists"));
  EXPECT_EQ(server_.asked("/computedomains?").size(), 2U) << "each plan sees for itself";
}

// A tenant may make thousands of claim templates that bear the UID of a domain that never was.
TEST_F(ApplyTest, OneListProvesOfAllThatWereAskedForBeforeItThatTheyAreGone) {
  const auto gone = [&](int i) {
    return apply_({.actions = {core::EnsureDomainGone{cat("uid-", i), true}},
                   .look_again = std::nullopt})
        .result;
  };
  const auto lists_asked_for = [&] { return server_.asked("/computedomains?").size(); };
  EXPECT_TRUE(gone(0)) << "one alone does not wait";
  for (int i = 1; i < 100; ++i) {
    const auto put_off = gone(i);
    ASSERT_FALSE(put_off);
    EXPECT_EQ(put_off.error().kind, base::ErrorKind::Conflict);
    EXPECT_EQ(put_off.error().retry_after, 5s);
  }
  EXPECT_EQ(lists_asked_for(), 1U);
  server_.put("computedomains", R"({"metadata":{"namespace":"team-a","name":"train","uid":"uid-7",
      "resourceVersion":"3"},"spec":{"numNodes":1,"channel":{"resourceClaimTemplate":{"name":"t"}}}})");
  clock_.advance(5s);
  for (int i = 1; i < 100; ++i) {
    const auto proof = gone(i);
    EXPECT_EQ(proof.has_value(), i != 7) << i;
    if (!proof) {
      EXPECT_THAT(proof.error().message, HasSubstr("team-a/train exists"));
    }
  }
  EXPECT_EQ(lists_asked_for(), 2U);
  EXPECT_FALSE(gone(100)) << "that list is older than the question";
  EXPECT_EQ(lists_asked_for(), 2U);
}

// Also beside one that is still there.
TEST_F(ApplyTest, OneListProvesOfAllReservationsThatTheirDomainsAreGone) {
  ShellRig rig;
  core::Reservations reservations;
  for (int i = 0; i < 100; ++i) {
    reservations.by_domain[cat("uid-", i)] = {.clique = "a.1", .seats = 1, .generation = i};
  }
  rig.put(core::config_map_of(reservations, rig.settings.operator_namespace));
  server_.put("computedomains", R"({"metadata":{"namespace":"team-a","name":"train","uid":"uid-7",
      "resourceVersion":"3"},"spec":{"numNodes":1,"channel":{"resourceClaimTemplate":{"name":"t"}}}})");
  Placer placer(rig.sources, apply_);
  (void)placer.run([] {});
  EXPECT_EQ(server_.asked("/computedomains?").size(), 1U);
  EXPECT_THAT(server_.asked("/configmaps"), Not(IsEmpty())) << "the others' are ended";
}

core::RecordEvent event_about(const std::string& kind, const std::string& ns,
                              const std::string& name) {
  return core::event_on({"v1", kind, ns, name, cat("uid-", name)}, "InvalidConfig", "hello");
}

// One that finds no place is not reported, and those of its namespace after it are not tried.
TEST_F(ApplyTest, EventsOfANamespaceEndAtTheFirstThatFindsNoPlace) {
  base::Registry metrics;
  kube::EventRecorder events(client_, clock_, {.component = "test", .instance = "test"}, &metrics);
  const Apply apply(client_, events, memory_, workloads_, clock_, nullptr);
  core::Plan plan;
  for (int i = 0; i < 1100; ++i) {
    plan.actions.emplace_back(event_about("ResourceClaim", "flood", cat("c", i)));
  }
  plan.actions.emplace_back(event_about("ResourceClaim", "team-a", "other"));
  plan.actions.emplace_back(event_about("ComputeDomain", "team-a", "train"));
  const Applied applied = apply(plan);
  EXPECT_TRUE(applied.result);
  EXPECT_EQ(applied.actions, 1102U);
  EXPECT_THAT(applied.dropped, SizeIs(100));
  EXPECT_EQ(*applied.dropped.begin(), 1000U);
  EXPECT_TRUE(applied.has_untold);
  EXPECT_EQ(metrics.counter("compute_domain_events_total", "", {{"outcome", "Dropped"}}).value(), 3)
      << "one was tried in vain, and two made room for those of the other namespace";
  EXPECT_TRUE(memory_.is_reported("uid-c999"));
  EXPECT_FALSE(memory_.is_reported("uid-c1000"));
  EXPECT_TRUE(memory_.is_reported("uid-other"));
}

// Nothing brings them again.
TEST_F(ApplyTest, EventsThatHappenOnceAreAllTried) {
  base::Registry metrics;
  kube::EventRecorder events(client_, clock_, {.component = "test", .instance = "test"}, &metrics);
  const Apply apply(client_, events, memory_, workloads_, clock_, nullptr);
  core::Plan plan;
  for (int i = 0; i < 1010; ++i) {
    plan.actions.emplace_back(event_about("ComputeDomain", "team-a", cat("d", i)));
  }
  const Applied applied = apply(plan);
  EXPECT_TRUE(applied.result);
  EXPECT_THAT(applied.dropped, SizeIs(10));
  EXPECT_EQ(metrics.counter("compute_domain_events_total", "", {{"outcome", "Dropped"}}).value(),
            10);
  EXPECT_FALSE(applied.has_untold) << "it is not worth another look";
}

// Whether no claim of domain train is held, of which one is allocated.
class ReleasedClaims : public ApplyTest {
 protected:
  ReleasedClaims() {
    server_.put("resourceclaims", api::encode(claim_of("uid-train", "c", "n1"), "v1"));
  }
  void put_list(const api::ConfigMap& map) { server_.put("configmaps", api::encode(map, "v1")); }
  // The list of train, or of its clique, that admits this claim.
  static api::NodeList list_with(const std::string& claim_uid, std::int64_t channel = 0) {
    api::NodeList list;
    list.group = core::group_id({channel > 0 ? "" : "uid-train", "a.1"});
    list.clique = "a.1";
    list.slots = 18;
    list.entries.push_back({.node = "n1", .slot = 0});
    if (!claim_uid.empty()) list.entries[0].admits = {{claim_uid, channel}};
    return list;
  }
  static api::ConfigMap own_list(const std::string& claim_uid) {
    return core::config_map_of(list_with(claim_uid), domain_named("train"), {});
  }
  // With isolation by channel: train has channel 7 of the clique, and other has channel 8.
  static api::ConfigMap clique_list(const std::string& claim_uid, std::int64_t channel) {
    api::NodeList list = list_with(claim_uid, channel);
    list.channels = {{.number = 7, .domain_uid = "uid-train"},
                     {.number = 8, .domain_uid = "uid-other"}};
    list.last_channel = 8;
    return core::config_map_of(list, {});
  }
  bool are_released(bool has_predecessor = false, const std::set<std::string>& late = {}) {
    return apply_({.actions = {core::EnsureClaimsReleased{
                       .claims_ns = "team-a",
                       .lists_ns = core::Settings{}.operator_namespace,
                       .domain_uid = "uid-train",
                       .has_predecessor = has_predecessor,
                       .late = late}},
                   .look_again = std::nullopt})
        .result.has_value();
  }
};

// A tenant may have many and large ones, which each list of them reads.
TEST_F(ReleasedClaims, AreNotListedWhereNoListCanHoldOne) {
  EXPECT_TRUE(are_released()) << "no list";
  put_list(own_list(""));
  EXPECT_TRUE(are_released());
  put_list(clique_list("", 7));
  EXPECT_TRUE(are_released());
  put_list(clique_list("uid-c", 8));
  EXPECT_TRUE(are_released()) << "with the channel of another domain";
  put_list(own_list("uid-c"));
  EXPECT_TRUE(are_released(false, {"uid-c"}));
  EXPECT_EQ(lists(), 0U);
}

TEST_F(ReleasedClaims, AreListedWhereAListMayHoldOne) {
  put_list(own_list("uid-c"));
  EXPECT_FALSE(are_released());
  put_list(clique_list("uid-c", 7));
  EXPECT_FALSE(are_released());
  api::ConfigMap damaged = own_list("");
  damaged.data[api::kNodeListKey] += "x";
  put_list(damaged);
  EXPECT_FALSE(are_released()) << "nobody knows whom it admits";
  EXPECT_FALSE(are_released(false, {"uid-other"}));
  put_list(own_list(""));
  EXPECT_FALSE(are_released(true)) << "the reference driver has left no list";
  EXPECT_TRUE(are_released(true, {"uid-c"}));
  put_list(own_list("uid-gone"));
  EXPECT_TRUE(are_released()) << "admitted, and not there any more";
  EXPECT_EQ(lists(), 7U);
}

TEST_F(ApplyTest, AClaimThatCannotBeReadKeepsNoNodeInUse) {
  server_.put("resourceclaims", R"({"metadata":{"namespace":"team-a","name":"odd","uid":"uid-odd",
      "resourceVersion":"3","labels":{"odd":1}}})");
  EXPECT_THAT(use_of("n1"), IsEmpty());
}

TEST_F(ApplyTest, AClaimWhoseEventWasDroppedIsNotYetToldOf) {
  const auto tell = [&](const std::string& name, const std::string& ns) {
    const api::ResourceClaim claim = object_named<api::ResourceClaim>(name, ns);
    core::Plan plan;
    plan.actions.emplace_back(core::event_on(core::reference_to(claim), "InvalidConfig", "odd"));
    EXPECT_TRUE(apply_(plan).result);
    return memory_.is_reported(claim.meta.uid);
  };
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(tell(cat("c", i), "team-a"));
  EXPECT_FALSE(tell("one-more", "team-a"));
  EXPECT_TRUE(tell("other", "team-b"));
}

// Else a rate would not see the first one.
TEST_F(ApplyTest, CountsFormationsFromZero) {
  base::Registry metrics;
  const Apply apply(client_, events_, memory_, workloads_, clock_, &metrics);
  EXPECT_THAT(metrics.render(), HasSubstr("compute_domain_formation_seconds_count 0\n"));
}

}  // namespace
}  // namespace cdom::controller
