#include "sandbox/cluster/scheduler/pod_rules.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "sandbox/cluster/objects.h"
#include "sandbox/text/selector.h"

namespace cdom::sandbox {
namespace {

constexpr char kAntiAffinity[] =
    "/spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution";
constexpr char kAffinity[] =
    "/spec/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution";

// A term of pod (anti-)affinity: which pods it is about, those of its owner's namespace unless it
// names others.
class Term {
 public:
  Term(const json& term, const json& owner)
      : namespaces_(at(term, "/namespaces")),
        owner_ns_(text_at(owner, "/metadata/namespace")),
        key_(text_at(term, "/topologyKey")) {
    const json& selector = at(term, "/labelSelector");
    auto parsed = LabelSelector::from_object(selector);
    if (parsed && !selector.is_null()) selector_.emplace(std::move(*parsed));
  }

  [[nodiscard]] const std::string& key() const { return key_; }
  [[nodiscard]] bool matches(const json& pod) const {
    const std::string ns = text_at(pod, "/metadata/namespace");
    const bool in_namespace =
        namespaces_.empty()
            ? ns == owner_ns_
            : std::find(namespaces_.begin(), namespaces_.end(), ns) != namespaces_.end();
    return in_namespace && selector_ && selector_->matches(at(pod, "/metadata/labels"));
  }

 private:
  const json& namespaces_;
  const std::string owner_ns_, key_;
  std::optional<LabelSelector> selector_;
};

}  // namespace

void PodRules::Places::add(const json& node) {
  std::string value = label_of(node, key);
  if (!value.empty()) values.insert(std::move(value));
}

bool PodRules::Places::contain(const json& node) const {
  return values.contains(label_of(node, key));
}

PodRules::PodRules(const json& pod, const ClusterSnapshot& cluster) {
  const auto is_there = [](const Term& term, const NodeSnapshot& node) {
    return std::ranges::any_of(node.pods, [&](const auto& there) { return term.matches(*there); });
  };
  for (const json& each : at(pod, kAffinity)) {
    const Term term(each, pod);
    Places places{term.key(), {}};
    bool exists_somewhere = false;
    for (const NodeSnapshot& node : cluster.nodes) {
      if (!is_there(term, node)) continue;
      exists_somewhere = true;
      places.add(*node.node);
    }
    // A pod that matches its own term may be the first of its kind.
    if (exists_somewhere || !term.matches(pod)) wanted_.push_back(std::move(places));
  }
  for (const json& each : at(pod, kAntiAffinity)) {
    const Term term(each, pod);
    Places places{term.key(), {}};
    for (const NodeSnapshot& node : cluster.nodes) {
      if (is_there(term, node)) places.add(*node.node);
    }
    unwanted_.push_back(std::move(places));
  }
  for (const NodeSnapshot& node : cluster.nodes) {
    for (const ObjectPtr& there : node.pods) {
      for (const json& each : at(*there, kAntiAffinity)) {
        const Term term(each, *there);
        if (!term.matches(pod)) continue;
        auto places = std::ranges::find(refusing_, term.key(), &Places::key);
        if (places == refusing_.end()) {
          places = refusing_.insert(refusing_.end(), {term.key(), {}});
        }
        places->add(*node.node);
      }
    }
  }
}

std::optional<std::string> PodRules::reason_against(const json& node) const {
  const auto contain = [&](const Places& places) { return places.contain(node); };
  if (!std::ranges::all_of(wanted_, contain)) return "node(s) didn't match pod affinity rules";
  if (std::ranges::any_of(unwanted_, contain)) {
    return "node(s) didn't match pod anti-affinity rules";
  }
  if (std::ranges::any_of(refusing_, contain)) {
    return "node(s) didn't satisfy existing pods anti-affinity rules";
  }
  return std::nullopt;
}

}  // namespace cdom::sandbox
