// Isolation by channel in the whole system: daemons of the clique run before any workload, domains
// on the same nodes differ by channel, and a node changes its isolation only when it is drained.
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "compute_domain/api/names.h"
#include "compute_domain/api/node_list.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/node_lists.h"
#include "compute_domain/core/slots.h"
#include "source_tree/source_tree.h"
#include "system/rig.h"

namespace cdom::system_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using namespace std::chrono_literals;

constexpr char kElsewhere[] = "6f0a5a5e-0000-4000-8000-000000000009.7";
constexpr core::NodeSettings kByChannel{.isolation = api::Isolation::Channel, .seats = 8};

std::string pod_on(const std::string& node, const std::string& name, const std::string& domain) {
  return base::cat(pod_yaml(name, domain), "  nodeSelector: {kubernetes.io/hostname: ", node,
                   "}\n");
}

std::string pod_path(const std::string& name) {
  return base::cat("/api/v1/namespaces/default/pods/", name);
}
std::string domain_path(const std::string& name) {
  return base::cat("/apis/resource.nvidia.com/v1beta1/namespaces/default/computedomains/", name);
}

// Applies a domain with a pod on each of these nodes: "blue-n01".
void form(Rig& rig, const std::string& domain, const std::vector<std::string>& nodes) {
  rig.apply(domain_yaml(domain, static_cast<int>(nodes.size())));
  for (const std::string& node : nodes) {
    rig.apply(pod_on(node, base::cat(domain, "-", node), domain));
  }
}
void dissolve(Rig& rig, const std::string& domain, const std::vector<std::string>& nodes) {
  for (const std::string& node : nodes) rig.remove(pod_path(base::cat(domain, "-", node)));
  rig.remove(domain_path(domain));
}

bool becomes_ready(Rig& rig, const std::string& domain) {
  return rig.run_until([&] { return rig.is_ready(domain); }, 60s);
}

api::ComputeDomainStatus status_of(const Rig& rig, const std::string& domain) {
  const auto object = rig.kubectl().get<api::ComputeDomain>({"default", domain});
  return object && object->status ? *object->status : api::ComputeDomainStatus{};
}

std::set<std::int64_t> channels_in(const Rig& rig, const std::string& domain) {
  std::set<std::int64_t> channels;
  for (const auto& node : status_of(rig, domain).nodes) channels.insert(node.channel);
  return channels;
}

// Nodes whose daemon is READY, with its instance.
std::map<std::string, std::string> daemons(Rig& rig) {
  std::map<std::string, std::string> ready;
  for (const std::string& node : rig.cluster().nodes()) {
    const auto view = rig.cluster().imex(node).query();
    if (view && view->state == sandbox::ImexState::Ready) ready[node] = view->instance;
  }
  return ready;
}

bool all_daemons_run(Rig& rig) { return daemons(rig).size() == rig.cluster().nodes().size(); }

api::ComputeDomainNodeReport report_of(const Rig& rig, const std::string& node) {
  const auto report = rig.kubectl().get<api::ComputeDomainNode>({"", node});
  return report ? report->status : api::ComputeDomainNodeReport{};
}

// By the word of the node, whose agent injects them.
std::set<std::int64_t> channels_on(const Rig& rig, const std::string& node) {
  const api::ComputeDomainNodeReport report = report_of(rig, node);
  if (report.groups.empty()) return {};
  return core::parse_slot_ranges(report.groups.front().channels);
}

TEST(Channels, DaemonsRunBeforeAnyWorkloadAndADomainStartsNone) {
  Rig rig({.seed = 3, .nodes_per_rack = 4, .imex_delay = 2s, .node_settings = kByChannel});
  ASSERT_TRUE(rig.run_until([&] { return all_daemons_run(rig); }, 30s));
  ASSERT_THAT(rig.node_lists(), SizeIs(1));
  rig.run_for(10s);
  const auto before = daemons(rig);
  const base::Duration start = rig.elapsed();
  form(rig, "blue", {"n01", "n02", "n03"});
  ASSERT_TRUE(becomes_ready(rig, "blue"));
  EXPECT_LT(rig.elapsed() - start, 1500ms);  // a daemon takes two seconds
  rig.run_for(10s);
  EXPECT_EQ(daemons(rig), before);
  EXPECT_EQ(status_of(rig, "blue").ready_nodes, "3/3");
  EXPECT_EQ(channels_in(rig, "blue"), std::set<std::int64_t>{1});
  dissolve(rig, "blue", {"n01", "n02", "n03"});
  ASSERT_TRUE(rig.run_until([&] { return rig.domains().empty(); }, 60s));
  rig.run_for(30s);
  EXPECT_EQ(daemons(rig), before);
}

TEST(Channels, DomainsOnTheSameNodesHaveChannelsOfTheirOwn) {
  Rig rig({.seed = 5, .nodes_per_rack = 2, .node_settings = kByChannel});
  const std::vector<std::string> both{"n01", "n02"};
  std::set<std::int64_t> seen;
  for (const char* name : {"blue", "green", "red"}) form(rig, name, both);
  for (const char* name : {"blue", "green", "red"}) {
    ASSERT_TRUE(becomes_ready(rig, name)) << name;
    ASSERT_THAT(channels_in(rig, name), SizeIs(1));
    const std::int64_t channel = *channels_in(rig, name).begin();
    EXPECT_TRUE(seen.insert(channel).second) << name;
  }
  for (const std::string& node : both) EXPECT_EQ(channels_on(rig, node), seen);
}

// The claims are gone by then, and the list has nothing new of the domain.
TEST(Channels, ADomainGoesHoweverLateANodeSaysThatItsContainersHaveEnded) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    Rig rig({.seed = seed, .nodes_per_rack = 2, .node_settings = kByChannel});
    form(rig, "blue", {"n01", "n02"});
    ASSERT_TRUE(becomes_ready(rig, "blue"));
    rig.cluster().inject("n02", sandbox::Fault::SlowApi);
    dissolve(rig, "blue", {"n01", "n02"});
    EXPECT_TRUE(rig.run_until([&] { return rig.domains().empty(); }, 120s));
  }
}

TEST(Channels, ANodeThatJoinsARunningCliqueRestartsNoOtherDaemon) {
  Rig rig({.seed = 15, .nodes_per_rack = 4, .node_settings = kByChannel});
  ASSERT_TRUE(rig.run_until([&] { return all_daemons_run(rig); }, 30s));
  const std::string clique = report_of(rig, "n01").clique;
  ASSERT_NE(clique, "");
  rig.move_to_clique("n04", kElsewhere);
  ASSERT_TRUE(rig.run_until(
      [&] { return report_of(rig, "n04").clique == kElsewhere && all_daemons_run(rig); }, 120s));
  form(rig, "blue", {"n01", "n02", "n03"});
  ASSERT_TRUE(becomes_ready(rig, "blue"));
  auto before = daemons(rig);
  std::map<std::string, std::uint64_t> ends;
  for (const auto& [node, instance] : before) ends[node] = rig.cluster().imex(node).ends();
  before.erase("n04");

  rig.move_to_clique("n04", clique);
  form(rig, "green", {"n01", "n04"});
  ASSERT_TRUE(rig.run_until([&] { return rig.is_ready("green"); }, 120s));
  rig.run_for(30s);
  auto after = daemons(rig);
  EXPECT_EQ(after.erase("n04"), 1U);
  EXPECT_EQ(after, before);
  for (const auto& [node, instance] : before)
    EXPECT_EQ(rig.cluster().imex(node).ends(), ends[node]);
  EXPECT_THAT(rig.cluster().imex("n01").connected_nodes(), Contains("n04"));
  EXPECT_TRUE(rig.is_ready("blue"));
  EXPECT_THAT(rig.node_lists(), SizeIs(1));
  EXPECT_NE(channels_in(rig, "green"), channels_in(rig, "blue"));
}

TEST(Channels, ANodeInUseStaysInItsCliqueUntilItIsDrained) {
  Rig rig({.seed = 17, .nodes_per_rack = 2, .node_settings = kByChannel});
  const std::vector<std::string> both{"n01", "n02"};
  form(rig, "blue", both);
  ASSERT_TRUE(becomes_ready(rig, "blue"));
  const std::string clique = report_of(rig, "n02").clique;
  const auto before = daemons(rig);
  rig.move_to_clique("n02", kElsewhere);
  ASSERT_TRUE(rig.run_until([&] { return report_of(rig, "n02").next_clique == kElsewhere; }, 120s));
  form(rig, "green", {"n02"});
  rig.run_for(30s);
  EXPECT_EQ(report_of(rig, "n02").clique, clique);
  EXPECT_EQ(daemons(rig), before);
  EXPECT_TRUE(rig.is_ready("blue"));
  EXPECT_FALSE(rig.is_ready("green"));  // n02 offers no seat
  EXPECT_EQ(channels_on(rig, "n02"), channels_in(rig, "blue"));

  dissolve(rig, "blue", both);
  ASSERT_TRUE(rig.run_until([&] { return rig.is_ready("green"); }, 120s));
  EXPECT_EQ(report_of(rig, "n02").clique, kElsewhere);
  EXPECT_EQ(report_of(rig, "n02").next_clique, std::nullopt);
  EXPECT_EQ(status_of(rig, "green").nodes.front().clique, kElsewhere);
  // Each clique counts its own channels.
  EXPECT_EQ(channels_in(rig, "green"), std::set<std::int64_t>{1});
  EXPECT_THAT(rig.node_lists(), SizeIs(2));
  EXPECT_EQ(daemons(rig).at("n01"), before.at("n01"));
  EXPECT_NE(daemons(rig).at("n02"), before.at("n02"));
}

TEST(Channels, ANodeKeepsItsIsolationUntilItIsDrained) {
  Rig rig({.seed = 7, .nodes_per_rack = 2});
  form(rig, "blue", {"n01"});
  ASSERT_TRUE(becomes_ready(rig, "blue"));
  rig.tell_agents(kByChannel);
  for (const char* node : {"n01", "n02"}) {
    rig.cluster().inject(node, sandbox::Fault::AgentCrash);
    rig.cluster().heal(node, sandbox::Fault::AgentCrash);
  }
  rig.run_for(30s);
  EXPECT_TRUE(rig.is_ready("blue"));
  const auto report = [&](const std::string& node) { return report_of(rig, node); };
  EXPECT_EQ(report("n01").isolation, api::Isolation::Domain);
  EXPECT_EQ(report("n01").next_isolation, api::Isolation::Channel);
  EXPECT_EQ(report("n02").isolation, api::Isolation::Channel);
  EXPECT_EQ(report("n02").next_isolation, std::nullopt);

  form(rig, "green", {"n01", "n02"});
  rig.run_for(30s);
  EXPECT_FALSE(rig.is_ready("green"));  // n01 offers no seat
  dissolve(rig, "blue", {"n01"});
  ASSERT_TRUE(becomes_ready(rig, "green"));
  EXPECT_EQ(report("n01").isolation, api::Isolation::Channel);

  // And back.
  rig.tell_agents({});
  for (const char* node : {"n01", "n02"}) {
    rig.cluster().inject(node, sandbox::Fault::AgentCrash);
    rig.cluster().heal(node, sandbox::Fault::AgentCrash);
  }
  rig.run_for(30s);
  EXPECT_TRUE(rig.is_ready("green"));
  EXPECT_EQ(report("n02").next_isolation, api::Isolation::Domain);
  dissolve(rig, "green", {"n01", "n02"});
  ASSERT_TRUE(rig.run_until([&] { return rig.domains().empty(); }, 60s));
  rig.run_for(30s);
  EXPECT_THAT(daemons(rig), IsEmpty());
  EXPECT_THAT(rig.node_lists(), IsEmpty());
  form(rig, "red", {"n01", "n02"});
  ASSERT_TRUE(becomes_ready(rig, "red"));
  EXPECT_EQ(channels_in(rig, "red"), std::set<std::int64_t>{0});
}

TEST(Channels, WhenAllAreTakenTheNextDomainSaysSoAndGetsTheFirstThatIsFree) {
  Rig rig({.seed = 9, .nodes_per_rack = 2, .node_settings = kByChannel, .channels = 3});
  const std::vector<std::string> both{"n01", "n02"};
  for (const char* name : {"blue", "green"}) {
    form(rig, name, both);
    ASSERT_TRUE(becomes_ready(rig, name));
  }
  form(rig, "red", both);
  rig.run_for(20s);
  const api::ComputeDomainStatus status = status_of(rig, "red");
  const api::Condition* ready = api::find_condition(status.conditions, "Ready");
  ASSERT_NE(ready, nullptr);
  EXPECT_EQ(ready->reason, "ChannelsUsedUp");
  EXPECT_THAT(ready->message, HasSubstr("all 2 IMEX channels"));
  const auto freed = channels_in(rig, "green");
  dissolve(rig, "green", both);
  ASSERT_TRUE(becomes_ready(rig, "red"));
  EXPECT_EQ(channels_in(rig, "red"), freed);
}

TEST(Channels, SeatsFewerThanAreInUseEndNothing) {
  Rig rig({.seed = 11, .nodes_per_rack = 1, .node_settings = kByChannel});
  for (const char* name : {"blue", "green", "red"}) {
    form(rig, name, {"n01"});
    ASSERT_TRUE(becomes_ready(rig, name));
  }
  rig.tell_agents({.isolation = api::Isolation::Channel, .seats = 1});
  rig.cluster().inject("n01", sandbox::Fault::AgentCrash);
  rig.cluster().heal("n01", sandbox::Fault::AgentCrash);
  rig.run_for(30s);
  for (const char* name : {"blue", "green", "red"}) EXPECT_TRUE(rig.is_ready(name)) << name;
  form(rig, "black", {"n01"});
  rig.run_for(20s);
  EXPECT_FALSE(rig.is_ready("black"));
  for (const char* name : {"blue", "green", "red"}) dissolve(rig, name, {"n01"});
  EXPECT_TRUE(becomes_ready(rig, "black"));
}

TEST(Channels, SurviveThePowerLossOfANode) {
  Rig rig({.seed = 13, .nodes_per_rack = 3, .node_settings = kByChannel});
  ASSERT_TRUE(rig.run_until([&] { return all_daemons_run(rig); }, 30s));
  form(rig, "blue", {"n01", "n02", "n03"});
  ASSERT_TRUE(becomes_ready(rig, "blue"));
  rig.cluster().inject("n02", sandbox::Fault::PowerOff);
  ASSERT_TRUE(rig.run_until([&] { return !rig.is_ready("blue"); }, 120s));
  rig.cluster().heal("n02", sandbox::Fault::PowerOff);
  ASSERT_TRUE(rig.run_until([&] { return all_daemons_run(rig); }, 120s));
  ASSERT_TRUE(rig.run_until([&] { return rig.is_ready("blue"); }, 300s));
}

// After each write that anybody makes the controller dies once, in a run of its own.
TEST(Channels, SurviveAControllerThatDiesAtAnyStep) {
  for (std::uint64_t writes = 1; writes <= 60; writes += 3) {
    SCOPED_TRACE(base::cat("after ", writes, " writes"));
    Rig rig({.seed = writes, .nodes_per_rack = 2, .node_settings = kByChannel});
    rig.run_for(5s);
    std::uint64_t before = rig.writes();
    const auto dies_here = [&] { return rig.writes() >= before + writes; };
    for (const char* name : {"blue", "green"}) form(rig, name, {"n01", "n02"});
    if (rig.run_until(dies_here, 20s)) rig.crash_controller();
    for (const char* name : {"blue", "green"}) ASSERT_TRUE(becomes_ready(rig, name));
    ASSERT_THAT(channels_in(rig, "blue"), SizeIs(1));
    ASSERT_THAT(channels_in(rig, "green"), SizeIs(1));
    ASSERT_NE(channels_in(rig, "blue"), channels_in(rig, "green"));
    before = rig.writes();
    for (const char* name : {"blue", "green"}) dissolve(rig, name, {"n01", "n02"});
    if (rig.run_until(dies_here, 20s)) rig.crash_controller();
    ASSERT_TRUE(rig.run_until([&] { return rig.domains().empty(); }, 60s));
    rig.run_for(30s);
    ASSERT_THAT(rig.node_lists(), SizeIs(1));
    const core::StoredList list = core::stored_list(rig.node_lists().front());
    ASSERT_TRUE(list.list) << list.problem;
    for (const api::Channel& channel : list.list->channels) EXPECT_NE(channel.release, 0);
  }
}

void cordon(Rig& rig, const std::string& node, bool is_cordoned) {
  const auto done = rig.kubectl().patch<api::Node>(
      {"", node}, "",
      base::cat(R"({"spec":{"unschedulable":)", is_cordoned ? "true" : "null", "}}"));
  ASSERT_TRUE(done) << done.error().message;
}

// What has a claim on the other nodes does not notice, and the node comes back in its slot.
// The definition of ComputeDomains has drifted: it lets through what nobody can read.
void apply_loose_definition(Rig& rig) {
  constexpr char kStrict[] =
      "                type: integer\n                minimum: 0\n                default: 0\n";
  std::string definition = source_text("crds/computedomains.yaml");
  const std::size_t at = definition.find(kStrict, definition.find(" numNodes:\n"));
  ASSERT_NE(at, std::string::npos);
  rig.apply(definition.replace(at, sizeof(kStrict) - 1,
                               "                x-kubernetes-preserve-unknown-fields: true\n"));
}

std::string unreadable_yaml(const std::string& domain) {
  std::string yaml = domain_yaml(domain, 2);
  return yaml.replace(yaml.find("numNodes: 2"), 11, "numNodes: odd");
}

// The controller has lost what it knew of the domain, and an API server that names what nobody can
// read proves no end.
TEST(Channels, ADomainThatNobodyCanReadKeepsItsChannelAndHoldsBackNobody) {
  Rig rig({.seed = 21, .nodes_per_rack = 2, .node_settings = kByChannel});
  apply_loose_definition(rig);
  form(rig, "blue", {"n01", "n02"});
  ASSERT_TRUE(becomes_ready(rig, "blue"));
  ASSERT_EQ(channels_in(rig, "blue"), std::set<std::int64_t>{1});
  rig.apply(unreadable_yaml("blue"));
  rig.crash_controller();
  for (const char* pod : {"blue-n01", "blue-n02"}) rig.remove(pod_path(pod));
  rig.run_for(60s);
  form(rig, "green", {"n01", "n02"});
  EXPECT_TRUE(becomes_ready(rig, "green"));
  rig.run_for(60s);
  EXPECT_EQ(channels_in(rig, "green"), std::set<std::int64_t>{2});
  for (const api::Condition& condition : status_of(rig, "green").conditions) {
    EXPECT_THAT(condition.message, Not(HasSubstr("blue"))) << condition.type;
    EXPECT_NE(condition.reason, "WriteRefused") << condition.type;
  }
  const auto list = [&] { return *core::stored_list(rig.node_lists().front()).list; };
  EXPECT_EQ(list().releases, 0);
  rig.remove(domain_path("blue"));
  EXPECT_TRUE(rig.run_until([&] { return list().releases == 1; }, 60s));
}

TEST(Channels, ACordonedNodeRestsAndTroublesNobody) {
  Rig rig({.seed = 31, .node_settings = kByChannel});
  ASSERT_TRUE(rig.run_until([&] { return all_daemons_run(rig); }, 60s));
  const auto nodes = rig.cluster().nodes();
  form(rig, "blue", {nodes[0], nodes[1]});
  ASSERT_TRUE(becomes_ready(rig, "blue"));
  const auto before = status_of(rig, "blue");
  cordon(rig, nodes[2], true);
  const auto rests = [&] {
    return !daemons(rig).contains(nodes[2]) && !report_of(rig, nodes[2]).groups.empty();
  };
  ASSERT_TRUE(rig.run_until(rests, 10s));
  const auto slot = [&] { return report_of(rig, nodes[2]).groups.at(0).slot; };
  const std::int64_t its = slot();
  rig.run_for(60s);
  EXPECT_EQ(daemons(rig).size(), nodes.size() - 1);
  EXPECT_EQ(status_of(rig, "blue"), before);
  form(rig, "green", {nodes[0]});
  EXPECT_TRUE(becomes_ready(rig, "green"));
  cordon(rig, nodes[2], false);
  EXPECT_TRUE(rig.run_until([&] { return all_daemons_run(rig); }, 60s));
  EXPECT_EQ(slot(), its);
  rig.run_for(10s);
  form(rig, "red", nodes);
  EXPECT_TRUE(becomes_ready(rig, "red"));
}

}  // namespace
}  // namespace cdom::system_test
