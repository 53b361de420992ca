#include "compute_domain/controller/dry_run.h"

#include <set>

#include "compute_domain/api/codec.h"
#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "compute_domain/controller/gather.h"
#include "compute_domain/core/membership.h"
#include "compute_domain/core/readiness.h"

namespace cdom::controller {

namespace {

using base::cat;
using base::Error;
using base::Result;

// Stores that are filled from files instead of by informers.
struct FilledStores {
  kube::Store<api::ComputeDomain> domains{indexes_of<api::ComputeDomain>()};
  kube::Store<api::ResourceClaim> claims{indexes_of<api::ResourceClaim>()};
  kube::Store<api::ResourceClaimTemplate> templates{indexes_of<api::ResourceClaimTemplate>()};
  kube::Store<api::ConfigMap> lists{indexes_of<api::ConfigMap>()};
  kube::Store<api::ComputeDomainNode> reports{indexes_of<api::ComputeDomainNode>()};
  kube::Store<api::Node> nodes{indexes_of<api::Node>()};
  kube::Store<api::ResourceSlice> slices{indexes_of<api::ResourceSlice>()};
  kube::Store<api::Pod> agents{indexes_of<api::Pod>()};
  std::vector<api::Job> jobs;

  [[nodiscard]] Stores view() const {
    return {domains, claims, templates, lists, reports, nodes, slices, agents};
  }
};

template <class T>
Result<void> put(kube::Store<T>& store, const std::string& json, const std::string& file) {
  Result<T> object = api::decode<T>(json);
  if (!object) {
    return Error{base::ErrorKind::Invalid,
                 cat(file, ": ", api::kind_of<T>().kind, ": ", object.error().message)};
  }
  if (object->meta.uid.empty()) object->meta.uid = cat("(not created) ", object->meta.name);
  store.put(std::move(*object));
  return {};
}

Result<void> put(FilledStores& stores, const std::string& json, const std::string& file,
                 const core::Settings& settings) {
  const Result<api::TypeMeta> type = api::type_meta_in(json);
  if (!type) return Error{base::ErrorKind::Invalid, cat(file, ": ", type.error().message)};
  const std::string& kind = type->kind;
  if (kind == "ComputeDomain") return put(stores.domains, json, file);
  if (kind == "ResourceClaim") return put(stores.claims, json, file);
  if (kind == "ResourceClaimTemplate") return put(stores.templates, json, file);
  if (kind == "ComputeDomainNode") return put(stores.reports, json, file);
  if (kind == "Node") return put(stores.nodes, json, file);
  if (kind == "ResourceSlice") return put(stores.slices, json, file);
  if (kind == "Pod") return put(stores.agents, json, file);
  if (kind == "Job") {
    Result<api::Job> job = api::decode<api::Job>(json);
    if (!job) return Error{base::ErrorKind::Invalid, cat(file, ": Job: ", job.error().message)};
    stores.jobs.push_back(*std::move(job));
    return {};
  }
  if (kind == "ConfigMap") {
    const Result<api::ConfigMap> map = api::decode<api::ConfigMap>(json);
    if (map && map->meta.ns == settings.operator_namespace &&
        !map->meta.label(api::kGroupLabel).empty()) {
      return put(stores.lists, json, file);
    }
  }
  return {};
}

std::string members_text(const core::World& world) {
  const auto memberships = core::memberships_of(world.view, world.nodes, world.lists);
  std::string text;
  for (const core::MemberView& member : core::readiness_of(world, memberships).members) {
    text +=
        cat("    ", member.membership.node, "  clique ",
            member.membership.clique.value_or("unknown"), "  slot ", member.slot, "  ",
            core::to_string(member.state), member.detail.empty() ? "" : ": ", member.detail, "\n");
  }
  return text.empty() ? "    none\n" : text;
}

std::string plan_text(const core::Plan& plan) {
  std::string text;
  int number = 0;
  for (const core::Action& action : plan.actions) {
    text += cat("    ", ++number, ". ", core::to_string(action), "\n");
  }
  if (plan.look_again) {
    text += cat("    look again in ", base::short_duration(*plan.look_again), "\n");
  }
  return text.empty() ? "    nothing\n" : text;
}

// What the running controller reads of pods and Jobs; gives the namespaces with claims that name no
// domain.
std::set<std::string> fill(Workloads& workloads, const FilledStores& stores, base::Duration now) {
  std::set<std::string> namespaces, with_claims;
  for (const auto& claim : stores.claims.all()) {
    const core::DomainRef::Kind kind = core::domain_ref_of(*claim).kind;
    with_claims.insert(claim->meta.ns);
    workloads.consumers_seen(*claim, now);
    using Kind = core::DomainRef::Kind;
    if (kind == Kind::None || kind == Kind::Named) continue;
    if (kind == Kind::Automatic) workloads.claim_seen(*claim, now);
    namespaces.insert(claim->meta.ns);
  }
  for (const api::Job& job : stores.jobs) workloads.job_read(job.meta.uid, job);
  for (const std::string& ns : with_claims) {
    std::vector<core::PodFacts> pods;
    for (const auto& pod : stores.agents.all()) {
      if (pod->meta.ns == ns) pods.push_back(core::facts_of(*pod));
    }
    workloads.pods_read(ns, std::move(pods), /*with_specs=*/true, now);
  }
  for (const auto& domain : stores.domains.all()) workloads.domain_seen(*domain, now);
  return namespaces;
}

std::string workloads_text(const Sources& from, const std::string& ns) {
  return cat("namespace ", ns,
             ", claims that name no ComputeDomain\n  would do for their workloads:\n",
             plan_text(plan_of(from, workloads_key(ns))));
}

// Who would get which clique; carried out on `stores`, as what comes next builds upon it.
std::string placement_text(const Sources& from, Memory& memory, FilledStores& stores) {
  const core::PlacementPlan placement = core::place(gather_placement(from));
  for (const auto& [uid, verdict] : placement.verdicts) memory.placement_found(uid, verdict);
  for (const core::Action& action : placement.plan.actions) {
    if (const auto* write = std::get_if<core::WriteLedger>(&action)) {
      stores.lists.put(write->desired);
    }
  }
  if (placement.plan == core::Plan{}) return {};
  return cat("Placement of all domains that want one clique\n  would do:\n",
             plan_text(placement.plan));
}

std::string domain_text(const Sources& from, const std::string& uid) {
  const core::World world = gather_domain(from, uid);
  std::string text;
  if (world.view.domain) {
    const api::ComputeDomain& domain = *world.view.domain;
    text += cat(
        "ComputeDomain ", api::to_string(api::name_of(domain.meta)), ", UID ", uid,
        domain.meta.is_deleting() ? ", being deleted" : "", "\n  wants ",
        domain.spec.num_nodes == 0 ? "as many nodes as come" : cat(domain.spec.num_nodes, " nodes"),
        world.placement ? cat(" of one clique: ", world.placement->message) : "", "; members:\n",
        members_text(world));
  } else {
    text += cat("ComputeDomain with UID ", uid, ": not among the files\n");
  }
  for (const Key& key : keys_of_domain(from, uid)) {
    switch (key.kind) {
      case Key::Kind::Domain:
        text += "  would do for the domain:\n";
        break;
      case Key::Kind::Clique:
        text += cat("  would do for the node list of all domains of clique \"", key.id, "\":\n");
        break;
      default:
        text += cat("  would do for its node list of clique \"", key.clique, "\":\n");
    }
    text += plan_text(plan_of(from, key));
  }
  return text;
}

}  // namespace

Result<std::string> dry_run(const std::vector<ObjectFile>& files, const core::Settings& settings,
                            const base::Clock& clock) {
  FilledStores stores;
  for (const ObjectFile& file : files) {
    const auto objects = api::objects_in_yaml(file.text, file.name);
    if (!objects) return objects.error();
    for (const std::string& json : *objects) {
      if (Result<void> done = put(stores, json, file.name, settings); !done) return done.error();
    }
  }
  std::set<std::string> uids;
  for (const auto& domain : stores.domains.all()) uids.insert(domain->meta.uid);
  for (const auto& claim : stores.claims.all()) {
    if (const auto uid = core::domain_of(*claim)) uids.insert(*uid);
  }
  for (const auto& list : stores.lists.all()) {
    if (const std::string uid = list->meta.label(api::kDomainLabel); !uid.empty()) uids.insert(uid);
  }
  Workloads workloads;
  const std::set<std::string> namespaces = fill(workloads, stores, clock.elapsed());
  if (uids.empty() && namespaces.empty())
    return std::string("no ComputeDomain, claim or node list among these objects\n");

  Memory memory;
  const Stores view = stores.view();
  ListReader lists;
  const Sources from{view, memory, settings, clock, lists, workloads};
  std::vector<std::string> pages;
  pages.reserve(namespaces.size() + uids.size() + 1);
  for (const std::string& ns : namespaces) pages.push_back(workloads_text(from, ns));
  if (std::string page = placement_text(from, memory, stores); !page.empty()) {
    pages.push_back(std::move(page));
  }
  for (const std::string& uid : uids) pages.push_back(domain_text(from, uid));
  return base::join(pages, "\n");
}

}  // namespace cdom::controller
