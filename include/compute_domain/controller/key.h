// Key: what one reconcile is about.
#pragma once

#include <string>

#include "compute_domain/core/world.h"

namespace cdom::controller {

// Domain: `id` is the UID of a ComputeDomain; template, status and finalizer are decided.
// Group: `id` is the UID of its domain, with `clique`; its node list is decided.
// Clique: `id` is a clique whose domains differ by channel; its node list is decided.
// Report: `id` is the name of a node; what its ComputeDomainNode tells the agent of its Node, and
// whether it outlives its use.
// Label: `id` is the name of a node; its clique label is decided.
// AgentLabel: `id` is the name of a node; whether it is one for agents is decided.
// Workloads: `id` is the name of a namespace; its automatic domains are decided.
// SharedSlice: `id` is a clique; the slice that its nodes share is decided.
// CliqueObjects: `id` is the UID of a ComputeDomain; its ComputeDomainCliques are decided.
// Placement: one for all domains that want one clique; who gets which is decided.
struct Key {
  enum class Kind {
    Domain,
    Group,
    Clique,
    Report,
    Label,
    AgentLabel,
    Workloads,
    Placement,
    SharedSlice,
    CliqueObjects
  };
  Kind kind = Kind::Domain;
  std::string id;
  std::string clique = {};

  friend auto operator<=>(const Key&, const Key&) = default;
};

inline Key domain_key(std::string uid) { return {Key::Kind::Domain, std::move(uid), {}}; }
inline Key clique_key(std::string clique) { return {Key::Kind::Clique, std::move(clique), {}}; }
inline Key group_key(const core::ImexGroupKey& group) {
  if (group.domain_uid.empty()) return clique_key(group.clique);
  return {Key::Kind::Group, group.domain_uid, group.clique};
}
inline Key report_key(std::string node) { return {Key::Kind::Report, std::move(node), {}}; }
inline Key label_key(std::string node) { return {Key::Kind::Label, std::move(node), {}}; }
inline Key agent_label_key(std::string node) {
  return {Key::Kind::AgentLabel, std::move(node), {}};
}
inline Key placement_key() { return {Key::Kind::Placement, "placement", {}}; }
inline Key shared_slice_key(std::string clique) {
  return {Key::Kind::SharedSlice, std::move(clique), {}};
}
inline Key clique_objects_key(std::string domain_uid) {
  return {Key::Kind::CliqueObjects, std::move(domain_uid), {}};
}
inline Key workloads_key(std::string ns) { return {Key::Kind::Workloads, std::move(ns), {}}; }

// "domain 6f0a…", "group 6f0a…/clique", "clique 3f0e….1", "report n01", "label n01", "agent label
// n01", "workloads team-a", "placement", "shared slice 3f0e….1", "clique objects
// 6f0a…"; for logs.
std::string to_string(const Key& key);

}  // namespace cdom::controller
