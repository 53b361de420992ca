// Domains of IMEX daemons each of which is connected with a peer only once it has dialled that peer
// itself. Nothing public says that a real one is, nor that it is not. A daemon that has dialled a
// peer in vain tries again by itself after 15 s, then 31, then 62.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "compute_domain/base/text.h"
#include "system/rig.h"

namespace cdom::system_test {
namespace {

using namespace std::chrono_literals;

constexpr char kDomain[] = "train";
// Until a member that cannot be reached is complained of, and a daemon has its signal then.
constexpr base::Duration kSoon = 8s;

RigOptions nodes(int count, std::uint64_t seed) {
  return {.seed = seed, .nodes_per_rack = count, .incoming_connects = false};
}

void add_pods(Rig& rig, int from, int to) {
  for (int i = from; i < to; ++i) {
    rig.apply(pod_yaml(base::cat(kDomain, "-", i), kDomain));
  }
}

// Whether so many daemons run, each connected with all others.
bool all_meet(Rig& rig, std::size_t daemons) {
  std::size_t meet = 0;
  for (const std::string& node : rig.cluster().nodes()) {
    meet += rig.cluster().imex(node).connected_count() + 1 == daemons ? 1 : 0;
  }
  return meet == daemons;
}

bool meet(Rig& rig, const std::string& a, const std::string& b) {
  const auto has_dialled = [&](const std::string& one, const std::string& other) {
    const std::vector<std::string> peers = rig.cluster().imex(one).connected_nodes();
    return std::ranges::find(peers, other) != peers.end();
  };
  return has_dialled(a, b) && has_dialled(b, a);
}

std::set<std::string> with_a_daemon(Rig& rig) {
  std::set<std::string> those;
  for (const std::string& node : rig.cluster().nodes()) {
    if (rig.cluster().imex(node).is_running()) those.insert(node);
  }
  return those;
}

class Dialling : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Dialling, ConnectsAllBeforeAnybodyComplains) {
  Rig rig(nodes(6, GetParam()));
  rig.apply(domain_yaml(kDomain, 6));
  add_pods(rig, 0, 6);
  ASSERT_TRUE(rig.run_until([&] { return rig.is_ready(kDomain); }, 20s));
  EXPECT_FALSE(rig.run_until([&] { return !rig.is_ready(kDomain); }, 6s)) << "it stays Ready";
  EXPECT_TRUE(all_meet(rig, 6));
}

TEST_P(Dialling, ConnectsOneThatComesLate) {
  Rig rig(nodes(5, GetParam()));
  rig.apply(domain_yaml(kDomain, 0));
  add_pods(rig, 0, 4);
  ASSERT_TRUE(rig.run_until([&] { return all_meet(rig, 4); }, 20s));
  rig.run_for(10min);
  add_pods(rig, 4, 5);
  EXPECT_TRUE(rig.run_until([&] { return all_meet(rig, 5); }, kSoon));
  EXPECT_TRUE(rig.run_until([&] { return rig.is_ready(kDomain); }, 2s));
}

TEST_P(Dialling, ConnectsTheNextOneAlsoBesideOneWhoseDaemonAnswersNobody) {
  Rig rig(nodes(3, GetParam()));
  rig.apply(domain_yaml(kDomain, 0));
  add_pods(rig, 0, 1);
  ASSERT_TRUE(rig.run_until([&] { return rig.is_ready(kDomain); }, 20s));
  rig.run_for(10min);
  const std::string first = *with_a_daemon(rig).begin();
  for (const std::string& node : rig.cluster().nodes()) {
    if (node != first) rig.cluster().inject(node, sandbox::Fault::ImexHang);
  }
  add_pods(rig, 1, 2);
  rig.run_for(1min);
  const std::set<std::string> before = with_a_daemon(rig);
  ASSERT_EQ(before.size(), 2U);
  std::string third;
  for (const std::string& node : rig.cluster().nodes()) {
    if (!before.contains(node)) third = node;
  }
  rig.cluster().heal(third, sandbox::Fault::ImexHang);
  add_pods(rig, 2, 3);
  EXPECT_TRUE(rig.run_until([&] { return meet(rig, first, third); }, kSoon));
}

TEST_P(Dialling, ConnectsANodeThatHasRebooted) {
  Rig rig(nodes(2, GetParam()));
  rig.apply(domain_yaml(kDomain, 2));
  add_pods(rig, 0, 2);
  ASSERT_TRUE(rig.run_until([&] { return all_meet(rig, 2); }, 20s));
  rig.run_for(1min);
  const std::string node = rig.cluster().nodes().back();
  rig.cluster().inject(node, sandbox::Fault::PowerOff);
  rig.run_for(2min);
  rig.cluster().heal(node, sandbox::Fault::PowerOff);
  ASSERT_TRUE(rig.run_until([&] { return rig.cluster().imex(node).is_running(); }, 5min));
  EXPECT_TRUE(rig.run_until([&] { return all_meet(rig, 2); }, kSoon));
}

INSTANTIATE_TEST_SUITE_P(Seeds, Dialling, testing::Range<std::uint64_t>(1, 4));

}  // namespace
}  // namespace cdom::system_test
