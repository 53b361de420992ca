#include "controller/cluster_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compute_domain/controller/controller.h"
#include "compute_domain/core/status.h"
#include "controller/empty_server.h"
#include "controller/shell_rig.h"

namespace cdom::controller {
namespace {

using base::cat;
using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ClusterMetrics : public testing::Test {
 protected:
  [[nodiscard]] std::string text(const MetricsBounds& bounds = {}) const {
    return cluster_metrics(rig_.sources, bounds);
  }
  static api::ComputeDomain domain_that_is(bool ready, const std::string& name,
                                           const std::string& reason) {
    api::ComputeDomain domain = domain_named(name);
    domain.spec.num_nodes = 2;
    domain.status.emplace();
    domain.status->ready = ready;
    domain.status->nodes = {{.name = "n1", .ready = true}, {.name = "n2", .ready = ready}};
    domain.status->conditions = {
        {.type = core::kConditionReady,
         .status = ready ? api::ConditionStatus::True : api::ConditionStatus::False,
         .reason = reason,
         .message = {},
         .last_transition = base::Time{} + seconds(1'700'000'000)}};
    return domain;
  }
  void offer(const std::string& node, const std::string& clique) {
    rig_.put(node_named(node));
    auto slice = object_named<api::ResourceSlice>(node, "");
    slice.node = slice.pool = node;
    slice.driver = api::kDriver;
    slice.devices = {{.name = "channel-0",
                      .attributes = {{api::kAttributeClique, clique},
                                     {api::kAttributeType, std::string("channel")},
                                     {api::kAttributeId, std::int64_t{0}}}}};
    rig_.put(slice);
  }

  ShellRig rig_;
};

TEST_F(ClusterMetrics, OfADomainNameItsReasonItsMembersAndSinceWhen) {
  rig_.put(domain_that_is(false, "train", "ImexFailed"));
  const std::string of = R"({name="train",namespace="team-a"})";
  EXPECT_THAT(
      text(),
      AllOf(HasSubstr("compute_domain_status{name=\"train\",namespace=\"team-a\",reason="
                      "\"ImexFailed\"} 1\n"),
            HasSubstr(cat("compute_domain_ready", of, " 0\n")),
            HasSubstr(cat("compute_domain_members_expected", of, " 2\n")),
            HasSubstr(cat("compute_domain_members_ready", of, " 1\n")),
            HasSubstr(cat("compute_domain_not_ready_since_timestamp_seconds", of, " 1700000000\n")),
            Not(HasSubstr("compute_domain_deletion_timestamp_seconds"))));

  rig_.put(domain_that_is(true, "train", "AllNodesReady"));
  EXPECT_THAT(text(), AllOf(HasSubstr(cat("compute_domain_ready", of, " 1\n")),
                            HasSubstr("reason=\"AllNodesReady\"} 1\n"),
                            Not(HasSubstr("ImexFailed")), Not(HasSubstr("not_ready_since"))));

  rig_.remove<api::ComputeDomain>({"team-a", "train"});
  EXPECT_THAT(text(), Not(HasSubstr("train"))) << "what is gone is gone";
}

TEST_F(ClusterMetrics, OfADomainWithoutStatusSayThatItWaitsForTheController) {
  api::ComputeDomain domain = domain_named("train");
  domain.meta.creation_time = base::Time{} + seconds(1'600'000'000);
  domain.meta.deletion_time = base::Time{} + seconds(1'600'000'001);
  rig_.put(domain);
  EXPECT_THAT(text(), AllOf(HasSubstr("reason=\"WaitingForController\"} 1\n"),
                            HasSubstr("namespace=\"team-a\"} 1600000000\n"),
                            HasSubstr("namespace=\"team-a\"} 1600000001\n")));
}

TEST_F(ClusterMetrics, OfADomainTellWhetherItsPodsWaitForSeats) {
  rig_.put(domain_that_is(false, "done", "WaitingForPods"));
  EXPECT_THAT(text(), Not(HasSubstr("compute_domain_waits_for_seats")));

  api::ComputeDomain domain = domain_that_is(false, "train", "WaitingForPods");
  domain.status->conditions.front().message = "1 pod waits: claim train-0 has no seat yet";
  rig_.put(domain);
  EXPECT_THAT(text(), HasSubstr("compute_domain_waits_for_seats{name=\"train\","
                                "namespace=\"team-a\"} 1\n"));
}

TEST_F(ClusterMetrics, OfACliqueCountSeatsByState) {
  offer("n1", "a.1");
  offer("n2", "a.1");
  offer("n3", "a.1");
  rig_.put(claim_of("uid-train", "c", "n1"));
  api::Node away = node_named("n3");
  away.ready = api::ConditionStatus::Unknown;
  rig_.put(away);
  const auto seats = [](const std::string& state, int count) {
    return HasSubstr(
        cat("compute_domain_clique_seats{clique=\"a.1\",state=\"", state, "\"} ", count, "\n"));
  };
  EXPECT_THAT(text(),
              AllOf(seats("Free", 1), seats("InUse", 1), seats("NotReady", 1),
                    seats("Unschedulable", 0), HasSubstr("largest_domain{clique=\"a.1\"} 1\n")));
}

// They are room for domains that may be anywhere, and for none that wants one clique.
TEST_F(ClusterMetrics, OfNodesWithoutACliqueCountSeatsWithAnEmptyOne) {
  offer("n1", "a.1");
  EXPECT_THAT(text(), Not(HasSubstr("clique=\"\"")));
  for (const char* node : {"n2", "n3"}) {
    offer(node, "");
    auto slice = *rig_.sources.stores.slices.get({"", node});
    slice.devices.front().attributes.erase(api::kAttributeClique);
    rig_.put(slice);
  }
  rig_.put(claim_of("uid-train", "c", "n3"));
  EXPECT_THAT(text(),
              AllOf(HasSubstr("compute_domain_clique_seats{clique=\"\",state=\"Free\"} 1\n"),
                    HasSubstr("compute_domain_clique_seats{clique=\"\",state=\"InUse\"} 1\n"),
                    HasSubstr("compute_domain_clique_seats{clique=\"a.1\",state=\"Free\"} 1\n"),
                    HasSubstr("largest_domain{clique=\"a.1\"} 1\n"),
                    Not(HasSubstr("largest_domain{clique=\"\"}")),
                    HasSubstr("metrics_left_out{what=\"cliques\"} 0\n")));
}

TEST_F(ClusterMetrics, TheLargestDomainThatFitsLeavesOthersWhatTheyHaveReserved) {
  for (const char* node : {"n1", "n2", "n3"}) offer(node, "a.1");
  core::Reservations reservations;
  reservations.by_domain["uid-train"] = {.clique = "a.1", .seats = 2, .generation = 1};
  api::ConfigMap map = core::config_map_of(reservations, rig_.settings.operator_namespace);
  map.meta.uid = "uid-map";
  map.meta.resource_version = "1";
  rig_.put(map);
  EXPECT_THAT(text(), AllOf(HasSubstr("state=\"Free\"} 3\n"),
                            HasSubstr("largest_domain{clique=\"a.1\"} 1\n")));
}

TEST_F(ClusterMetrics, OfANodeTellItsTroublesAndOfAWellOneNothing) {
  rig_.put(report_of("well"));
  EXPECT_THAT(text(), Not(HasSubstr("node=")));

  api::ComputeDomainNode report = report_of("n1");
  report.status.fabric_error = "NVML does not answer";
  report.status.groups.emplace_back().state = api::DaemonState::Failed;
  report.status.groups.back().unreachable = {"n2", "n3"};
  report.status.groups.back().restarts = 4;
  report.status.conditions = {{.type = api::kConditionCanServe,
                               .status = api::ConditionStatus::False,
                               .reason = "ChannelsMissing",
                               .message = {}}};
  rig_.put(report);
  EXPECT_THAT(text(),
              AllOf(HasSubstr("node_cannot_serve{node=\"n1\",reason=\"ChannelsMissing\"} 1\n"),
                    HasSubstr("node_fabric_error{node=\"n1\"} 1\n"),
                    HasSubstr("node_unreachable_peers{node=\"n1\"} 2\n"),
                    HasSubstr("node_imex_restarts{node=\"n1\"} 4\n"),
                    HasSubstr("node_imex_trouble{node=\"n1\",state=\"Failed\"} 1\n"),
                    Not(HasSubstr("node_report_stale"))));

  // What it says may be of last week: alerts on it would give advice on a daemon that may be well.
  report.stale.emplace();
  rig_.put(report);
  EXPECT_THAT(text(),
              AllOf(HasSubstr("node_report_stale{node=\"n1\"} 1\n"), Not(HasSubstr("cannot_serve")),
                    Not(HasSubstr("fabric_error")), Not(HasSubstr("unreachable_peers")),
                    Not(HasSubstr("imex_restarts")), Not(HasSubstr("imex_trouble"))));
  // It explains an error of the fabric that the supervisor still shows.
  report.status.conditions.front().reason = "DriverPaused";
  rig_.put(report);
  EXPECT_THAT(text(), AllOf(HasSubstr("node_cannot_serve{node=\"n1\",reason=\"DriverPaused\"} 1\n"),
                            Not(HasSubstr("fabric_error"))));
}

TEST_F(ClusterMetrics, OfANodeThatNeverHadAnAgentTellThatItHasNoReport) {
  const std::string series = "node_report_stale{node=\"n1\"} 1\n";
  api::Node node = node_named("n1");
  rig_.put(node);
  EXPECT_THAT(text(), Not(HasSubstr("node="))) << "it has no GPUs";
  for (const char* value : {api::kAgentNodeDetected, "true"}) {
    node.meta.labels[api::kAgentNodeLabel] = value;
    rig_.put(node);
    EXPECT_THAT(text(), HasSubstr(series)) << value;
  }
  rig_.put(report_of("n1"));
  EXPECT_THAT(text(), Not(HasSubstr("node="))) << "it has reported";
  rig_.remove<api::ComputeDomainNode>({"", "n1"});
  EXPECT_THAT(text(), HasSubstr(series));

  node.meta.labels[api::kAgentNodeLabel] = "false";
  rig_.put(node);
  EXPECT_THAT(text(), Not(HasSubstr("node="))) << "somebody wants no agent there";
  node.meta.labels[api::kAgentNodeLabel] = "true";
  node.meta.deletion_time = base::Time{} + seconds(1'700'000'000);
  rig_.put(node);
  EXPECT_THAT(text(), Not(HasSubstr("node="))) << "it goes";
  node.meta.deletion_time.reset();
  rig_.put(node);
  EXPECT_THAT(text(), HasSubstr(series));
  rig_.remove<api::Node>({"", "n1"});
  EXPECT_THAT(text(), Not(HasSubstr("node="))) << "it is gone";
}

TEST_F(ClusterMetrics, OfANodeThatIsToHaveAnAgentNoMoreTellNothingThatIsStale) {
  api::Node node = node_named("n1");
  node.meta.labels[api::kAgentNodeLabel] = api::kAgentNodeDetected;
  rig_.put(node);
  api::ComputeDomainNode report = report_of("n1");
  report.status.fabric_error = "NVML does not answer";
  report.stale.emplace();
  rig_.put(report);
  EXPECT_THAT(text(), HasSubstr("node_report_stale{node=\"n1\"} 1\n"));
  node.meta.labels[api::kAgentNodeLabel] = "false";
  rig_.put(node);
  EXPECT_THAT(text(), Not(HasSubstr("node="))) << "as docs/troubleshooting.md says";
  node.meta.labels.erase(api::kAgentNodeLabel);
  rig_.put(node);
  EXPECT_THAT(text(), Not(HasSubstr("node="))) << "its GPUs are gone";
  report.stale.reset();
  rig_.put(report);
  EXPECT_THAT(text(), HasSubstr("node_fabric_error{node=\"n1\"} 1\n")) << "its agent is there yet";
}

TEST_F(ClusterMetrics, OfNodesShowThoseWithoutAReportLast) {
  for (const char* name : {"a", "b"}) {
    api::Node node = node_named(name);
    node.meta.labels[api::kAgentNodeLabel] = api::kAgentNodeDetected;
    rig_.put(node);
  }
  api::ComputeDomainNode report = report_of("z");
  report.status.fabric_error = "NVML does not answer";
  rig_.put(report);
  EXPECT_THAT(text({.domains = 1, .cliques = 1, .nodes = 2}),
              AllOf(HasSubstr("node_fabric_error{node=\"z\"} 1\n"),
                    HasSubstr("node_report_stale{node=\"a\"} 1\n"), Not(HasSubstr("node=\"b\"")),
                    HasSubstr("compute_domain_metrics_left_out{what=\"nodes\"} 1\n")));
}

TEST_F(ClusterMetrics, AreBoundedAndBeginWithTheTroubles) {
  for (const char* name : {"a", "b", "c"}) {
    rig_.put(domain_that_is(true, name, "AllNodesReady"));
  }
  rig_.put(domain_that_is(false, "z", "ImexFailed"));
  const std::string text = this->text({.domains = 2, .cliques = 1, .nodes = 1});
  EXPECT_THAT(text,
              AllOf(HasSubstr("name=\"z\""), HasSubstr("name=\"a\""), Not(HasSubstr("name=\"b\"")),
                    HasSubstr("compute_domain_metrics_left_out{what=\"domains\"} 2\n")));
}

TEST_F(ClusterMetrics, LeaveOutFirstWhatIsReadyAndThenWhatWaitsForPods) {
  const std::vector<std::pair<std::string, std::string>> reasons_by_weight = {
      {"z", "ImexFailed"},   {"y", "Deleting"},       {"x", "NotPlaced"},
      {"w", "SomebodysOwn"}, {"v", "WaitingForPods"}, {"u", "AllNodesReady"},
  };
  for (const auto& [name, reason] : reasons_by_weight) {
    api::ComputeDomain domain = domain_that_is(reason == "AllNodesReady", name, reason);
    if (reason == "Deleting") domain.meta.deletion_time = base::Time{} + seconds(1'700'000'000);
    rig_.put(domain);
  }
  for (std::size_t most = 0; most <= reasons_by_weight.size(); ++most) {
    const std::string text = this->text({.domains = most, .cliques = 1, .nodes = 1});
    for (std::size_t i = 0; i < reasons_by_weight.size(); ++i) {
      const bool is_shown =
          text.find(cat("name=\"", reasons_by_weight[i].first, "\"")) != std::string::npos;
      EXPECT_EQ(is_shown, i < most) << reasons_by_weight[i].second << " of " << most;
    }
  }
}

TEST_F(ClusterMetrics, ShowADeletionBeforeOthersThatAreNotReadyAlsoWhileItsDomainIsReady) {
  rig_.put(domain_that_is(false, "a", "Starting"));
  api::ComputeDomain domain = domain_that_is(true, "z", "AllNodesReady");
  domain.meta.deletion_time = base::Time{} + seconds(1'700'000'000);
  rig_.put(domain);
  EXPECT_THAT(text({.domains = 1, .cliques = 1, .nodes = 1}),
              AllOf(HasSubstr("name=\"z\""), Not(HasSubstr("name=\"a\""))));
}

// Also where nothing has been read yet: a worker that hangs is to be seen then too.
TEST(ScrapedMetrics, SayOfEachWorkerForHowLongItHoldsItsKeys) {
  EmptyServer server;
  const base::ManualClock clock;
  base::Registry metrics;
  const kube::Client client(server, clock, "test");
  Options options;
  options.workers = 2;
  const Controller controller(client, clock, metrics, options);
  EXPECT_THAT(
      controller.scraped_metrics(),
      AllOf(HasSubstr("workqueue_unfinished_work_seconds{name=\"worker-0\"} 0\n"),
            HasSubstr("workqueue_longest_running_processor_seconds{name=\"worker-1\"} 0\n")));
}

}  // namespace
}  // namespace cdom::controller
