#include "system/formations.h"

#include <stdexcept>
#include <utility>

namespace cdom::system_test {

namespace {

using namespace std::chrono_literals;

void add_pod(Rig& rig, int number) {
  rig.apply(pod_yaml("train-" + std::to_string(number), "train"));
}

int bound_pods(const Rig& rig) {
  const auto pods = rig.kubectl().list_all<api::Pod>({.ns = "default"});
  int bound = 0;
  for (const api::Pod& pod : *pods) bound += pod.node.empty() ? 0 : 1;
  return bound;
}

void settle(Rig& rig) {
  // A domain of many is a long text to read, after each step.
  std::uint64_t read_at = 0;
  const auto is_ready = [&] {
    return std::exchange(read_at, rig.writes()) != rig.writes() && rig.is_ready("train");
  };
  if (!rig.run_until(is_ready, 30s)) {
    throw std::runtime_error("the domain is not Ready after half a minute");
  }
  rig.run_for(30s);
}

}  // namespace

std::unique_ptr<Rig> cluster_with_domain(std::uint64_t seed, int nodes, RigOptions options) {
  options.seed = seed;
  options.nodes_per_rack = nodes;
  auto rig = std::make_unique<Rig>(options);
  rig->run_for(5s);
  rig->requests().clear();
  rig->apply(domain_yaml("train", nodes));
  rig->run_for(2s);
  return rig;
}

void form_in_one_pass(Rig& rig, int nodes) {
  rig.freeze_controller(true);
  for (int i = 0; i < nodes; ++i) add_pod(rig, i);
  // Each takes a write, so that many are counted again only when all may be bound.
  std::uint64_t count_again_at = 0;
  const auto are_all_bound = [&] {
    if (rig.writes() < count_again_at) return false;
    const int unbound = nodes - bound_pods(rig);
    count_again_at = rig.writes() + static_cast<std::uint64_t>(unbound);
    return unbound == 0;
  };
  if (!rig.run_until(are_all_bound, 10s)) {
    throw std::runtime_error("not all pods are bound after ten seconds");
  }
  rig.freeze_controller(false);
  settle(rig);
}

void form_one_by_one(Rig& rig, int nodes) {
  for (int i = 0; i < nodes; ++i) {
    add_pod(rig, i);
    rig.run_for(5s);
  }
  settle(rig);
}

void form_at_random(Rig& rig, int nodes) {
  for (int i = 0; i < nodes; ++i) {
    add_pod(rig, i);
    rig.run_for(std::chrono::milliseconds(rig.random().below(220)));
  }
  settle(rig);
}

bool is_refused(const WriteRequest& write) {
  return is_ours(write) && (write.status == 0 || write.status >= 300);
}

bool is_of_operator_but_lease(const WriteRequest& write) {
  return write.user.starts_with("system:serviceaccount:") && write.resource != "leases";
}

}  // namespace cdom::system_test
