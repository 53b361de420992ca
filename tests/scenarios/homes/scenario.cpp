#include "scenarios/homes/scenario.h"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <regex>
#include <stdexcept>

#include "compute_domain/api/names.h"
#include "compute_domain/base/random.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/node_lists.h"
#include "compute_domain/sandbox/cluster.h"

namespace cdom::scenarios {
namespace {

using base::cat;
using json = nlohmann::json;
using testing::AssertionFailure;
using testing::AssertionResult;
using testing::AssertionSuccess;

constexpr char kOperatorNamespace[] = "compute-domain-operator";
constexpr char kCliqueOfNode[] = "nvidia.com/gpu.clique";

std::size_t number_in(const char* variable, std::size_t otherwise) {
  const char* value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): nobody sets any
  return value == nullptr ? otherwise : std::stoul(value);
}

template <class T>
T or_throw(base::Result<T> result) {
  if (!result) throw std::runtime_error(base::to_string(result.error()));
  return *std::move(result);
}

std::vector<std::string> first(const std::vector<std::string>& names, std::size_t count) {
  if (names.size() < count) throw std::runtime_error("too few nodes in a rack");
  return {names.begin(), names.begin() + static_cast<std::ptrdiff_t>(count)};
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

Scenario::Scenario(const Size& size) : home_(make_home(size)) {
  const std::string ns = cat("scenario-", base::hex64(base::entropy_seed()).substr(0, 8));
  kubectl_ = std::make_unique<Kubectl>(home_->administrator(), home_->clock(), ns);
}

void Scenario::SetUp() {
  kubectl().apply(cat("{apiVersion: v1, kind: Namespace, metadata: {name: ", kubectl().ns(), "}}"));
  const std::size_t shards = number_in("GTEST_TOTAL_SHARDS", 1);
  const std::size_t shard = number_in("GTEST_SHARD_INDEX", 0);
  std::map<std::string, std::vector<std::string>> all;
  for (const api::Node& node : or_throw(kubectl().client().list_all<api::Node>())) {
    const std::string clique = node.meta.label(kCliqueOfNode);
    if (!clique.empty()) all[clique].push_back(node.meta.name);
  }
  if (all.size() < 2) throw std::runtime_error("scenarios need two racks");
  std::vector<std::vector<std::string>> racks;
  for (auto& [clique, names] : all) {
    std::ranges::sort(names);
    racks.push_back(std::move(names));
  }
  // One rack after the other gets a shard; those of one rack take turns in its nodes.
  const std::size_t turns = (shards + racks.size() - 1) / racks.size();
  const std::vector<std::string>& rack = racks[shard % racks.size()];
  for (std::size_t i = shard / racks.size(); i < rack.size(); i += turns) {
    nodes_.push_back(rack[i]);
  }
  others_ = racks[(shard + 1) % racks.size()];
}

void Scenario::TearDown() {
  for (const std::string& node : std::set(faulty_)) heal(node);
  for (const char* kind : {"Job", "Pod", "ComputeDomain"}) kubectl().remove_all(kind);
  EXPECT_TRUE(eventually(
      "nothing is left", [&] { return leftovers().empty(); }, kLate))
      << leftovers();
  kubectl().remove("Namespace", kubectl().ns());
}

std::vector<std::string> Scenario::nodes(std::size_t count) const { return first(nodes_, count); }

std::vector<std::string> Scenario::nodes_of_another_rack(std::size_t count) const {
  return first(others_, count);
}

void Scenario::form(const std::string& name, std::int64_t num_nodes,
                    const std::vector<std::string>& on) {
  kubectl().apply(domain_yaml(name, num_nodes));
  for (std::size_t i = 0; i < on.size(); ++i) {
    kubectl().apply(pod_yaml(cat(name, "-", i), cat(name, "-channel"), on[i]));
  }
}

void Scenario::settle(const std::string& name, const std::vector<std::string>& on) {
  form(name, std::ssize(on), on);
  const std::string count = cat(on.size(), "/", on.size());
  ASSERT_TRUE(becomes(name, "Ready", count, "AllNodesReady"));
  // Real containers start a moment later.
  ASSERT_TRUE(eventually("its pods run", [&] {
    for (std::size_t i = 0; i < on.size(); ++i) {
      if (phase_of(cat(name, "-", i)) != "Running") return false;
    }
    return true;
  }));
  // The list's first instances are written a moment later.
  ASSERT_TRUE(stays(name, "Ready", count, 200ms));
}

void Scenario::fault(const std::string& node, const std::string& fault) {
  faulty_.insert(node);
  kubectl().annotate("Node", node, sandbox::kFaultAnnotation, fault);
}

void Scenario::heal(const std::string& node) {
  faulty_.erase(node);
  kubectl().annotate("Node", node, sandbox::kFaultAnnotation, std::nullopt);
}

std::string Scenario::line_of(const std::string& domain) const {
  for (const DomainRow& row : kubectl().computedomains()) {
    if (row.name != domain) continue;
    return cat(row.name, ": ", row.status, " ", row.ready, " ", row.cliques, " ", row.reason, " ",
               row.message);
  }
  return cat("no ComputeDomain ", domain);
}

AssertionResult Scenario::eventually(const std::string& what, const std::function<bool()>& done,
                                     base::Duration span) {
  if (home_->eventually(done, span)) return AssertionSuccess() << what;
  return AssertionFailure() << "not within " << base::short_duration(span) << ": " << what;
}

AssertionResult Scenario::becomes(const std::string& domain, const std::string& status,
                                  const std::string& ready, const std::string& reason,
                                  const std::string& message, base::Duration span) {
  const auto says = [&] {
    const auto rows = kubectl().computedomains();
    return std::ranges::any_of(rows, [&](const DomainRow& row) {
      return row.name == domain && row.status == status && row.ready == ready &&
             row.reason == reason && has(row.message, message);
    });
  };
  return eventually(cat(status, " ", ready, " ", reason, " ", message), says, span)
         << "; last: " << line_of(domain) << "\n"
         << events_of(domain);
}

AssertionResult Scenario::node_shows(const std::string& node, const NodeRow& wanted,
                                     base::Duration span) {
  std::string last;
  const auto says = [&] {
    const auto rows = kubectl().computedomainnodes();
    return std::ranges::any_of(rows, [&](const NodeRow& row) {
      if (row.name != node) return false;
      last = cat(row.state, " ", row.domains, " ", row.unreachable, " ", row.message);
      return row.state == wanted.state && row.domains == wanted.domains &&
             row.unreachable == wanted.unreachable && has(row.message, wanted.message);
    });
  };
  return eventually(cat(node, " shows ", wanted.state), says, span) << "; last: " << last;
}

AssertionResult Scenario::stays(const std::string& domain, const std::string& status,
                                const std::string& ready, base::Duration span) {
  std::string other;
  const auto changes = [&] {
    const auto rows = kubectl().computedomains();
    const bool same = std::ranges::any_of(rows, [&](const DomainRow& row) {
      return row.name == domain && row.status == status && row.ready == ready;
    });
    if (!same) other = line_of(domain);
    return !same;
  };
  if (!home_->eventually(changes, span)) return AssertionSuccess() << "it stays so";
  return AssertionFailure() << "not " << status << " " << ready << " for "
                            << base::short_duration(span) << ": " << other;
}

AssertionResult Scenario::tells(const std::string& kind, const std::string& name,
                                const std::string& reason, const std::string& message,
                                base::Duration span) {
  const auto is_told = [&] {
    return std::ranges::any_of(all<api::Event>(), [&](const api::Event& event) {
      return event.involved.kind == kind && event.involved.name == name && event.reason == reason &&
             has(event.message, message);
    });
  };
  return eventually(cat("an Event ", reason, " ", message, " of ", kind, " ", name), is_told, span)
         << "; there are:\n"
         << events_of(name);
}

AssertionResult Scenario::sees_only_channel(std::int64_t channel, const std::string& pod,
                                            base::Duration span) {
  const std::string device = cat("channel", channel);
  // Its major number is the one of tools/cluster.
  const std::regex one_device(cat("crw-rw-rw- .* 235, +", channel, " .* ", device, "\n"));
  std::string last;
  const auto sees = [&] {
    const auto listed =
        home_->in_pod(kubectl().ns(), pod, "ls -l /dev/nvidia-caps-imex-channels | tail -n +2");
    if (!listed) return true;
    last = *listed;
    return std::regex_match(last, one_device);
  };
  return eventually(cat(pod, " sees ", device, " and no other"), sees, span) << "; last: " << last;
}

std::string Scenario::daemons_on(const std::vector<std::string>& on) const {
  std::string text;
  for (const std::string& node : on) {
    const auto pids = home_->on_node(node, "pgrep -x nvidia-imex");
    if (pids && !pids->empty()) text += cat(node, ": ", *pids);
  }
  return text;
}

AssertionResult Scenario::goes(const std::string& domain, base::Duration span) {
  const auto is_gone = [&] {
    return std::ranges::none_of(kubectl().computedomains(),
                                [&](const DomainRow& row) { return row.name == domain; });
  };
  return eventually(cat(domain, " is gone"), is_gone, span) << "; " << line_of(domain);
}

std::string Scenario::events_of(const std::string& name) const {
  std::string text;
  for (const api::Event& event : all<api::Event>()) {
    if (event.involved.name != name) continue;
    text += cat("  ", event.type, " ", event.reason, ": ", event.message, "\n");
  }
  return text;
}

api::ComputeDomain Scenario::domain(const std::string& name) const {
  return or_throw(kubectl().client().get<api::ComputeDomain>({kubectl().ns(), name}));
}

api::ConfigMap Scenario::node_list_map(const std::string& name) const {
  const auto maps = or_throw(kubectl().client().list_all<api::ConfigMap>(
      {.ns = kOperatorNamespace,
       .label_selector = cat(api::kDomainLabel, "=", domain(name).meta.uid)}));
  if (maps.size() != 1) throw std::runtime_error(cat(maps.size(), " node lists of ", name));
  return maps.front();
}

api::NodeList Scenario::node_list(const std::string& name) const {
  return or_throw(api::decode_node_list(node_list_map(name)));
}

std::map<std::string, std::int64_t> Scenario::slots(const std::string& name) const {
  std::map<std::string, std::int64_t> slot_by_node;
  for (const api::NodeListEntry& entry : node_list(name).entries) {
    slot_by_node[entry.node] = entry.slot;
  }
  return slot_by_node;
}

std::string Scenario::phase_of(const std::string& pod) const {
  const auto object = kubectl().client().get<api::Pod>({kubectl().ns(), pod});
  return object ? object->phase : "";
}

int Scenario::restarts_of(const std::string& pod) const {
  const auto object = json::parse(kubectl().get("Pod", pod));
  return object.at("/status/containerStatuses/0/restartCount"_json_pointer).get<int>();
}

bool Scenario::exists_pod(const std::string& pod) const {
  return kubectl().client().get<api::Pod>({kubectl().ns(), pod}).has_value();
}

// "" when nothing of this scenario is left anywhere.
std::string Scenario::leftovers() const {
  for (const api::ComputeDomain& left : all<api::ComputeDomain>()) {
    return cat("ComputeDomain ", left.meta.name, left.meta.is_deleting() ? " (being deleted)" : "",
               ", finalizers ", base::join(left.meta.finalizers, ", "));
  }
  for (const api::Pod& left : all<api::Pod>()) return cat("Pod ", left.meta.name);
  for (const api::ResourceClaim& left : all<api::ResourceClaim>()) {
    return cat("ResourceClaim ", left.meta.name);
  }
  for (const api::ResourceClaimTemplate& left : all<api::ResourceClaimTemplate>()) {
    return cat("ResourceClaimTemplate ", left.meta.name);
  }
  const auto maps = or_throw(kubectl().client().list_all<api::ConfigMap>(
      {.ns = kOperatorNamespace,
       .label_selector = cat(api::kDomainNamespaceLabel, "=", kubectl().ns())}));
  for (const api::ConfigMap& left : maps) return cat("ConfigMap ", left.meta.name);
  const std::set<std::string> own(nodes_.begin(), nodes_.end());
  for (const auto& node : or_throw(kubectl().client().list_all<api::ComputeDomainNode>())) {
    if (!own.contains(node.meta.name)) continue;
    for (const api::ImexGroupReport& group : node.status.groups) {
      // A clique's group is served whether or not there is a claim.
      const bool by_channel = node.status.isolation == api::Isolation::Channel;
      if (by_channel && group.claims.empty() && group.channels.empty()) continue;
      return cat("ComputeDomainNode ", node.meta.name, " serves a group");
    }
  }
  for (const api::Node& node : or_throw(kubectl().client().list_all<api::Node>())) {
    if (own.contains(node.meta.name) && node.ready != api::ConditionStatus::True) {
      return cat("Node ", node.meta.name, " is not Ready");
    }
  }
  return "";
}

std::string domain_yaml(const std::string& name, std::int64_t num_nodes) {
  return cat(R"(apiVersion: resource.nvidia.com/v1beta1
kind: ComputeDomain
metadata: {name: )",
             name, R"(}
spec:
  numNodes: )",
             num_nodes, R"(
  channel: {resourceClaimTemplate: {name: )",
             name, "-channel}}\n");
}

std::string pod_yaml(const std::string& name, const std::string& template_name,
                     const std::string& node) {
  return cat(R"(apiVersion: v1
kind: Pod
metadata: {name: )",
             name, R"(}
spec:
  terminationGracePeriodSeconds: 1)",
             node.empty() ? "" : cat("\n  nodeSelector: {kubernetes.io/hostname: ", node, "}"), R"(
  containers:
  - name: worker
    image: busybox
    command: [sleep, infinity]
    resources: {claims: [{name: channel}]}
  resourceClaims:
  - {name: channel, resourceClaimTemplateName: )",
             template_name, "}\n");
}

}  // namespace cdom::scenarios
