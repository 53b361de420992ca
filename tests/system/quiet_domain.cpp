#include "system/quiet_domain.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "compute_domain/base/text.h"

namespace cdom::system_test {

namespace {

using base::cat;
using namespace std::chrono_literals;

constexpr char kQuietName[] = "quiet";
constexpr std::array<std::string_view, 2> kQuietNodes{"n08", "n09"};

std::string in_its_namespace(std::string yaml) {
  constexpr std::string_view kDefault = "namespace: default";
  return yaml.replace(yaml.find(kDefault), kDefault.size(),
                      cat("namespace: ", QuietDomain::kNamespace));
}

}  // namespace

bool QuietDomain::is_on(const std::string& node) {
  return std::ranges::count(kQuietNodes, node) > 0;
}

bool QuietDomain::form() {
  rig_.apply(cat("apiVersion: v1\nkind: Namespace\nmetadata: {name: ", kNamespace, "}\n"));
  rig_.apply(in_its_namespace(domain_yaml(kQuietName, 2)));
  for (const std::string_view node : kQuietNodes) {
    rig_.apply(cat(in_its_namespace(pod_yaml(cat(kQuietName, "-", node), kQuietName)),
                   "  nodeSelector: {kubernetes.io/hostname: ", node, "}\n"));
  }
  if (!rig_.run_until([&] { return status().ready; }, 60s)) return false;
  rig_.run_for(5s);
  status_ = status();
  channels_ = channels();
  return true;
}

std::string QuietDomain::disturbance(bool is_at_rest) const {
  const Channels now = channels();
  for (const auto& [node, claims] : channels_) {
    for (const auto& [claim, range] : claims) {
      const auto found = now.at(node).find(claim);
      if (found == now.at(node).end() || found->second != range) {
        return cat("containers in namespace ", kNamespace, " have another channel on ", node);
      }
    }
  }
  const api::ComputeDomainStatus is = status();
  if (!by_channel_ && is == status_) return "";
  if (!by_channel_ || (is_at_rest && !is.ready)) {
    const auto* ready = api::find_condition(is.conditions, "Ready");
    return cat("the domain in namespace ", kNamespace, " says ", is.ready_nodes, " ",
               ready == nullptr ? "" : ready->message);
  }
  for (const api::ComputeDomainNodeStatus& was : status_.nodes) {
    const auto node = std::ranges::find(is.nodes, was.name, &api::ComputeDomainNodeStatus::name);
    if (node == is.nodes.end() || node->index != was.index || node->channel != was.channel) {
      return cat("another slot or channel in namespace ", kNamespace, " on ", was.name);
    }
  }
  return "";
}

api::ComputeDomainStatus QuietDomain::status() const {
  const auto domain = rig_.kubectl().get<api::ComputeDomain>({kNamespace, kQuietName});
  return domain && domain->status ? *domain->status : api::ComputeDomainStatus{};
}

QuietDomain::Channels QuietDomain::channels() const {
  Channels channels;
  for (const std::string_view node : kQuietNodes) {
    channels.emplace(node, rig_.injected(std::string(node)));
  }
  return channels;
}

}  // namespace cdom::system_test
