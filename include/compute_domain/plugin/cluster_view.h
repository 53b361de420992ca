// ClusterView: what was read of a cluster at one time, for every sub-command of the kubectl plugin.
//
// It is filled by lists from the API server (read_cluster.h) or from a bundle (bundle.h); in both
// cases reduced() has gone over it, so that the two give the same answers and a bundle has no
// secret. A value.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compute_domain/api/compute_domain.h"
#include "compute_domain/api/compute_domain_node.h"
#include "compute_domain/api/core.h"
#include "compute_domain/api/observed.h"
#include "compute_domain/api/resource.h"
#include "compute_domain/base/clock.h"

namespace cdom::plugin {

// The label by which a pod's nodeSelector names one node.
inline constexpr char kHostNameLabel[] = "kubernetes.io/hostname";

// Where the operator is, and where the user is.
struct Namespaces {
  std::string user = "default";  // of objects that are named without a namespace
  std::string operators = "compute-domain-operator";
  std::string nodes = "compute-domain-nodes";

  friend bool operator==(const Namespaces&, const Namespaces&) = default;
};

// Objects of which a view has no more than this, by the plural of their kind.
using NamesByKind = std::map<std::string, std::set<api::ObjectName>, std::less<>>;

struct ClusterView {
  base::Time taken{};
  std::string server_version;  // "v1.36.2"
  Namespaces namespaces;

  std::vector<api::Definition> definitions;  // CustomResourceDefinitions of resource.nvidia.com
  std::vector<api::DeviceClass> classes;     // of this driver
  std::vector<api::Lease> leases;            // of the operator's namespace
  std::vector<api::DeploymentRollout> deployments;    // the same
  std::vector<api::DaemonSetRollout> daemon_sets;     // of the nodes' namespace
  std::vector<api::ComputeDomain> domains;            // of all namespaces, as what follows
  std::vector<api::ComputeDomainNode> reports;        //
  std::vector<api::Node> nodes;                       // those with GPUs or an agent
  std::vector<api::ResourceSlice> slices;             // of this driver
  std::vector<api::ResourceClaim> claims;             // for this driver
  std::vector<api::ResourceClaimTemplate> templates;  // the same
  std::vector<api::ConfigMap> lists;                  // node lists and the reservations
  std::vector<api::PodState> pods;                    // with claims, and the operator's own
  std::vector<api::Occurrence> events;                // of what is here and of the operator

  // Claims and claim templates for other drivers, and pods without claims in the namespace of which
  // that was read: that they exist.
  NamesByKind of_others;
  std::string pods_read_in;  // that namespace; "": none, as in a bundle of an earlier release
  // What is wrong with objects that cannot be read, in sentences that begin with their names.
  std::map<std::string, std::map<api::ObjectName, std::string>, std::less<>> unreadable;

  friend bool operator==(const ClusterView&, const ClusterView&) = default;
};

// Calls `visit` with the name and the list of each kind: "computedomains", view.domains.
template <class View, class Visit>
void for_each_kind(View& view, const Visit& visit) {
  visit("customresourcedefinitions", view.definitions);
  visit("deviceclasses", view.classes);
  visit("leases", view.leases);
  visit("deployments", view.deployments);
  visit("daemonsets", view.daemon_sets);
  visit("computedomains", view.domains);
  visit("computedomainnodes", view.reports);
  visit("nodes", view.nodes);
  visit("resourceslices", view.slices);
  visit("resourceclaims", view.claims);
  visit("resourceclaimtemplates", view.templates);
  visit("configmaps", view.lists);
  visit("pods", view.pods);
  visit("events", view.events);
}

// The view without what no sub-command reads: objects of others but for their names, annotations
// and labels of others, other drivers' configurations. Times are in whole seconds, as an API server
// has them.
ClusterView reduced(ClusterView view);

// Why an object of that kind that is there cannot be read; "" when nothing is known of that.
template <class T>
std::string unreadable_in(const ClusterView& view, const api::ObjectName& name) {
  const auto problems = view.unreadable.find(api::kind_of<T>().plural);
  if (problems == view.unreadable.end()) return "";
  const auto problem = problems->second.find(name);
  return problem == problems->second.end() ? "" : problem->second;
}

// Whether an object of that kind exists and is for other drivers.
template <class T>
bool is_of_others(const ClusterView& view, const api::ObjectName& name) {
  const auto names = view.of_others.find(api::kind_of<T>().plural);
  return names != view.of_others.end() && names->second.contains(name);
}

// Why nothing can be said of the ComputeDomains of this cluster, in a sentence: it has none of the
// version that we speak, or no reports of nodes. "" when it has.
std::string lacking_api(const ClusterView& view);

}  // namespace cdom::plugin
