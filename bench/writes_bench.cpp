// Write requests of the operator for one formation of 18 nodes, and of whole cliques, in the
// stepped system and virtual time: counts, so no matter of this machine.
// tests/system/writes_test.cpp holds them to the same targets.
#include <algorithm>
#include <cstdio>
#include <exception>

#include "figure.h"
#include "system/formations.h"

namespace {

using namespace cdom::system_test;  // NOLINT(google-build-using-namespace): a main file

constexpr int kNodes = 18;
constexpr std::uint64_t kSeeds = 8;

struct Counts {
  std::vector<double> ours, refused;
};

Counts count(void (*form)(Rig&, int)) {
  Counts counts;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const auto rig = cluster_with_domain(seed, kNodes);
    form(*rig, kNodes);
    counts.ours.push_back(rig->requests().count(is_ours));
    counts.refused.push_back(rig->requests().count(is_refused));
  }
  return counts;
}

void tell(const char* how, void (*form)(Rig&, int), int most) {
  const Counts counts = count(form);
  const std::string name = std::string("stepped: writes for 18 nodes, ") + how;
  cdom::bench::print({name,
                      "writes",
                      counts.ours,
                      {{"max", static_cast<double>(most)}},
                      "8 orders of events; no Events, no Leases"});
  cdom::bench::print({name + ": of them refused", "writes", counts.refused, {{"max", 0}}, ""});
}

bool is_of_a_node_list(const WriteRequest& write) {
  return is_ours(write) && write.resource == "configmaps" && write.status < 300;
}

// What a domain of a whole clique costs, and how large its objects get.
void tell_large_clique(int nodes) {
  constexpr double kMostBytes = 64 << 10, kMostBytesOfAList = 20'000;
  const auto rig = cluster_with_domain(1, nodes, {.slots_per_group = nodes});
  form_in_one_pass(*rig, nodes);
  const std::string name = "stepped: " + std::to_string(nodes) + " nodes, allocated in one pass: ";
  const auto ours = static_cast<double>(rig->requests().count(is_ours));
  cdom::bench::print(
      {name + "writes", "writes", {ours}, {{"max", static_cast<double>(nodes + 8)}}, ""});
  cdom::bench::print({name + "node lists that a member reads",
                      "bytes",
                      {static_cast<double>(rig->requests().bytes(is_of_a_node_list))},
                      {{"max", kMostBytesOfAList}},
                      std::to_string(rig->requests().count(is_of_a_node_list)) + " of them"});
  const auto tell_largest = [&](const char* what, const auto& objects, const char* version,
                                std::vector<cdom::bench::Bound> bounds) {
    double most = 0;
    for (const auto& object : objects) {
      most = std::max(most, static_cast<double>(cdom::api::encode(object, version).size()));
    }
    cdom::bench::print({name + what, "bytes", {most}, std::move(bounds), ""});
  };
  const auto reports = rig->kubectl().list_all<cdom::api::ComputeDomainNode>();
  tell_largest("the ComputeDomain", rig->domains(), "v1beta1", {{"max", kMostBytes}});
  tell_largest("a node's report", *reports, "v1beta1", {});
  tell_largest("the node list", rig->node_lists(), "v1", {{"max", kMostBytesOfAList}});
}

}  // namespace

int main() {
  try {
    tell("allocated in one pass (N + 8)", form_in_one_pass, kNodes + 8);
    tell("one by one, 5 s apart (3 N + 10)", form_one_by_one, 3 * kNodes + 10);
    tell("at random within 2 s (N + 12)", form_at_random, kNodes + 12);
    for (const int nodes : {144, 576}) tell_large_clique(nodes);
    std::vector<double> settled;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const auto rig = cluster_with_domain(seed, kNodes);
      form_at_random(*rig, kNodes);
      rig->requests().clear();
      rig->run_for(std::chrono::minutes(10));
      settled.push_back(rig->requests().count(is_of_operator_but_lease));
    }
    cdom::bench::print({"stepped: writes but Leases in 10 settled minutes",
                        "writes",
                        settled,
                        {{"max", 0}},
                        "Events counted too"});
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "bench_writes: %s\n", failure.what());
    return 1;
  }
  return 0;
}
