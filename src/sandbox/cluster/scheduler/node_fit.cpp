#include "sandbox/cluster/scheduler/node_fit.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/cluster/node/pod_facts.h"
#include "sandbox/cluster/objects.h"
#include "sandbox/cluster/scheduler/node_selector.h"
#include "sandbox/cluster/scheduler/toleration.h"
#include "sandbox/text/quantity.h"

namespace cdom::sandbox {
namespace {

Amounts amounts_of(const json& quantities) {
  Amounts amounts;
  if (!quantities.is_object()) return amounts;
  for (const auto& [name, value] : quantities.items()) {
    const auto parsed =
        Quantity::parse(value.is_string() ? value.get<std::string>() : value.dump());
    if (parsed) amounts[name] = parsed->milli_value();
  }
  return amounts;
}

Amounts container_requests(const json& container) {
  Amounts amounts = amounts_of(at(container, "/resources/limits"));
  for (const auto& [name, amount] : amounts_of(at(container, "/resources/requests"))) {
    amounts[name] = amount;
  }
  return amounts;
}

bool matches_plain_selector(const json& selector, const json& node) {
  if (!selector.is_object()) return true;
  const auto items = selector.items();
  return std::all_of(items.begin(), items.end(),
                     [&](const auto& item) { return item.value() == label_of(node, item.key()); });
}

}  // namespace

Amounts requests_of(const json& pod) {
  Amounts sum;
  for (const json& container : at(pod, "/spec/containers")) {
    for (const auto& [name, amount] : container_requests(container)) sum[name] += amount;
  }
  for (const json& container : at(pod, "/spec/initContainers")) {
    for (const auto& [name, amount] : container_requests(container)) {
      sum[name] = std::max(sum[name], amount);
    }
  }
  sum["pods"] = 1000;
  return sum;
}

ClusterSnapshot snapshot_of(const JsonInformer& nodes, const JsonInformer& pods) {
  ClusterSnapshot snapshot;
  std::map<std::string, std::size_t> index;
  for (const auto& known : nodes.all()) {
    const ObjectPtr& node = known->document;
    index[known->meta.name] = snapshot.nodes.size();
    snapshot.nodes.push_back({node, amounts_of(at(*node, "/status/allocatable")), {}, {}});
  }
  for (const auto& known : pods.all()) {
    const ObjectPtr& pod = known->document;
    const auto where = index.find(node_of(*pod));
    if (where == index.end() || is_terminal(*pod)) continue;
    NodeSnapshot& node = snapshot.nodes[where->second];
    node.pods.push_back(pod);
    for (const auto& [name, amount] : requests_of(*pod)) node.used[name] += amount;
  }
  return snapshot;
}

std::optional<std::string> reason_against(const json& pod, const Amounts& requests,
                                          const NodeSnapshot& node) {
  const json& tolerations = at(pod, "/spec/tolerations");
  if (at(*node.node, "/spec/unschedulable") == true) return "node(s) were unschedulable";
  const json& taint = untolerated_taint(at(*node.node, "/spec/taints"), tolerations);
  if (!taint.is_null()) {
    return base::cat("node(s) had untolerated taint {", text_at(taint, "/key"), ": ",
                     text_at(taint, "/value"), "}");
  }
  if (!matches_plain_selector(at(pod, "/spec/nodeSelector"), *node.node) ||
      !matches_node_selector(
          at(pod, "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution"),
          *node.node)) {
    return "node(s) didn't match Pod's node affinity/selector";
  }
  for (const auto& [name, amount] : requests) {
    const auto has = node.allocatable.find(name);
    const auto used = node.used.find(name);
    const std::int64_t free = (has == node.allocatable.end() ? 0 : has->second) -
                              (used == node.used.end() ? 0 : used->second);
    if (amount > 0 && amount > free) {
      return name == "pods" ? "Too many pods" : base::cat("Insufficient ", name);
    }
  }
  return std::nullopt;
}

double fill_of(const NodeSnapshot& node, const Amounts& requests) {
  double sum = 0;
  for (const char* name : {"cpu", "memory", "pods"}) {
    const auto has = node.allocatable.find(name);
    if (has == node.allocatable.end() || has->second == 0) continue;
    const auto used = node.used.find(name);
    const auto wanted = requests.find(name);
    const std::int64_t taken = (used == node.used.end() ? 0 : used->second) +
                               (wanted == requests.end() ? 0 : wanted->second);
    sum += static_cast<double>(taken) / static_cast<double>(has->second);
  }
  return sum / 3;
}

}  // namespace cdom::sandbox
