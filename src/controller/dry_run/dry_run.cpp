#include "compute_domain/controller/dry_run.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <type_traits>

#include "compute_domain/api/codec.h"
#include "compute_domain/api/names.h"
#include "compute_domain/base/result.h"
#include "compute_domain/base/text.h"
#include "compute_domain/controller/filled_cluster.h"
#include "compute_domain/core/membership.h"
#include "compute_domain/core/plan_reasons.h"
#include "compute_domain/core/readiness.h"
#include "dry_run_problems.h"

namespace cdom::controller {

namespace {

using base::cat;
using base::Error;
using base::Result;

// What the API server would have of a domain that is there already and is applied again.
void apply_onto(const Stores& stores, api::ComputeDomain& domain) {
  const auto there = stores.domains.get(api::name_of(domain.meta));
  if (there == nullptr || !domain.meta.uid.empty()) return;
  api::ComputeDomain changed = *there;
  if (changed.spec != domain.spec) ++changed.meta.generation;
  changed.spec = domain.spec;
  domain = std::move(changed);
}

template <class T>
Result<void> put(FilledCluster& cluster, const std::string& json, const std::string& file) {
  Result<T> object = api::decode<T>(json);
  if (!object) {
    return Error{base::ErrorKind::Invalid,
                 cat(file, ": ", api::kind_of<T>().kind, ": ", object.error().message)};
  }
  if constexpr (std::is_same_v<T, api::ComputeDomain>) apply_onto(cluster.stores(), *object);
  if (object->meta.uid.empty()) object->meta.uid = cat("(not created) ", object->meta.name);
  if constexpr (std::is_same_v<T, api::Pod>) cluster.put_pod(core::facts_of(*object));
  cluster.put<T>(std::move(*object));
  return {};
}

// Most ConfigMaps are no node list, and nobody's concern here.
template <>
Result<void> put<api::ConfigMap>(FilledCluster& cluster, const std::string& json,
                                 const std::string& /*file*/) {
  const Result<api::ConfigMap> map = api::decode<api::ConfigMap>(json);
  if (map && map->meta.ns == cluster.sources().settings.operator_namespace &&
      !map->meta.label(api::kGroupLabel).empty()) {
    cluster.put<api::ConfigMap>(stored(*map));
  }
  return {};
}

template <class... T>
Result<void> put_kind(KindList<T...> /*kinds*/, const std::string& kind, FilledCluster& cluster,
                      const std::string& json, const std::string& file) {
  Result<void> done;
  const auto put_if = [&]<class Kind>(KindList<Kind> /*one*/) {
    if (kind == api::kind_of<Kind>().kind) done = put<Kind>(cluster, json, file);
  };
  (put_if(KindList<T>()), ...);
  return done;
}

Result<void> put(FilledCluster& cluster, const std::string& json, const std::string& file) {
  const Result<api::TypeMeta> type = api::type_meta_in(json);
  if (!type) return Error{base::ErrorKind::Invalid, cat(file, ": ", type.error().message)};
  if (type->kind == "Job") {
    Result<api::Job> job = api::decode<api::Job>(json);
    if (!job) return Error{base::ErrorKind::Invalid, cat(file, ": Job: ", job.error().message)};
    cluster.put(*std::move(job));
    return {};
  }
  return put_kind(WatchedKinds(), type->kind, cluster, json, file);
}

std::vector<std::string> members_in(const core::World& world) {
  const auto memberships = core::memberships_of(world.view, world.nodes, world.lists);
  std::vector<std::string> lines;
  for (const core::MemberView& member : core::readiness_of(world, memberships).members) {
    lines.push_back(cat(member.membership.node, "  clique ",
                        member.membership.clique.value_or("unknown"), "  slot ", member.slot, "  ",
                        member.state.name(), member.detail.empty() ? "" : ": ", member.detail));
  }
  return lines;
}

api::PlannedKey planned(std::string about, const core::Plan& plan) {
  api::PlannedKey key{.about = std::move(about), .steps = {}, .look_again = {}};
  for (const core::Action& action : plan.actions) {
    key.steps.push_back({core::to_string(action), core::reason_for(action)});
  }
  if (plan.look_again) key.look_again = base::short_duration(*plan.look_again);
  return key;
}

std::string text_of(const api::PlannedKey& key) {
  std::string text = cat("  would do", key.about.empty() ? "" : " for ", key.about, ":\n");
  int number = 0;
  for (const api::PlanStep& step : key.steps) {
    text += cat("    ", ++number, ". ", step.action, "\n       because ", step.reason, "\n");
  }
  if (!key.look_again.empty()) text += cat("    look again in ", key.look_again, "\n");
  if (key.steps.empty() && key.look_again.empty()) text += "    nothing\n";
  return text;
}

// Gives whether its kind and version are such as there are: else that is what is wrong with it.
bool add_problems(const std::string& json, const std::string& file,
                  std::vector<std::string>& problems) {
  const Result<api::TypeMeta> type = api::type_meta_in(json);
  if (!type) return true;
  const std::string unknown = unknown_kind(*type);
  if (!unknown.empty()) problems.push_back(cat(file, ": ", unknown));
  for (const std::string& line : config_faults(*type, json)) {
    problems.push_back(cat(file, ": ", line));
  }
  if (type->kind != "ComputeDomain") return unknown.empty();
  const Result<api::ComputeDomain> domain = api::decode<api::ComputeDomain>(json);
  const std::string name = domain ? api::to_string(api::name_of(domain->meta)) : "";
  std::vector<std::string> lines = unknown_fields(json);
  if (std::string word = api::unknown_domain_word(json); !word.empty())
    lines.push_back(std::move(word));
  if (domain) std::ranges::move(faults_of(*domain), std::back_inserter(lines));
  for (const std::string& line : lines) {
    problems.push_back(cat(file, ": ComputeDomain ", name, ": ", line));
  }
  return unknown.empty();
}

void put_file(const ObjectFile& file, const std::string& ns, FilledCluster& cluster,
              AskedObjects& asked, std::vector<std::string>& problems) {
  const auto objects = api::objects_in_yaml(file.text, file.name);
  if (!objects) {
    problems.push_back(objects.error().message);
    return;
  }
  if (objects->empty() && !file.may_be_empty) {
    asked.is_whole = false;
    problems.push_back(cat(file.name, ": there is no object in this file"));
  }
  if (!file.is_there) asked.planned_count += objects->size();
  for (const std::string& object : *objects) {
    const std::string json = api::in_namespace(object, ns);
    const bool is_kind = add_problems(json, file.name, problems);
    if (Result<void> done = put(cluster, json, file.name); !done) {
      if (is_kind) problems.push_back(done.error().message);
      continue;
    }
    api::AskedPods pods = api::asked_pods_in(json);
    if (!file.is_there && pods.kind == api::kind_of<api::ComputeDomain>().kind) {
      asked.planned_domains.insert(pods.name);
    }
    if (pods.templates.empty()) continue;
    (file.is_there ? asked.there : asked.planned).push_back(std::move(pods));
  }
}

std::vector<std::string> planned_names(const std::vector<ObjectFile>& files) {
  std::vector<std::string> names;
  for (const ObjectFile& file : files) {
    if (!file.is_there) names.push_back(file.name);
  }
  return names;
}

api::PlanSection workloads_section(const Sources& from, const std::string& ns) {
  api::PlanSection section;
  section.title =
      cat("namespace ", ns.empty() ? "default" : ns, ", claims that name no ComputeDomain");
  section.keys.push_back(planned("their workloads", plan_of(from, workloads_key(ns))));
  return section;
}

// Who would get which clique; carried out, as what comes next builds upon it.
std::optional<api::PlanSection> placement_section(FilledCluster& cluster) {
  const core::PlacementPlan placement = cluster.place();
  if (placement.plan == core::Plan{}) return std::nullopt;
  api::PlanSection section;
  section.title = "Placement of all domains that want one clique";
  section.keys.push_back(planned("", placement.plan));
  return section;
}

std::string wants_text(const core::World& world) {
  const std::int64_t nodes = world.view.domain->spec.num_nodes;
  return cat("wants ",
             nodes == 0 ? "as many nodes as come" : cat(nodes, nodes == 1 ? " node" : " nodes"),
             world.placement ? cat(" of one clique: ", world.placement->message) : "");
}

std::string about_of(const Key& key) {
  if (key.kind == Key::Kind::Domain) return "the domain";
  if (key.kind == Key::Kind::Clique) {
    return cat("the node list of all domains of clique \"", key.id, "\"");
  }
  return cat("its node list of clique \"", key.clique, "\"");
}

api::PlanSection domain_section(const Sources& from, const std::string& uid) {
  const core::World world = gather_domain(from, uid);
  api::PlanSection section;
  if (world.view.domain) {
    const api::ComputeDomain& domain = *world.view.domain;
    section.title = cat("ComputeDomain ", api::to_string(api::name_of(domain.meta)), ", UID ", uid,
                        domain.meta.is_deleting() ? ", being deleted" : "");
    section.facts = {wants_text(world)};
    section.has_members = true;
    section.members = members_in(world);
  } else {
    section.title = cat("ComputeDomain with UID ", uid, ": not among the files");
  }
  for (const Key& key : keys_of(world)) {
    section.keys.push_back(planned(about_of(key), plan_of(from, key)));
  }
  return section;
}

std::string text_of(const api::PlanSection& section) {
  std::string text = cat(section.title, "\n");
  for (const std::string& fact : section.facts) text += cat("  ", fact, "\n");
  if (section.has_members) {
    text += "  members:\n";
    for (const std::string& member : section.members) text += cat("    ", member, "\n");
    if (section.members.empty()) text += "    none\n";
  }
  for (const api::PlannedKey& key : section.keys) text += text_of(key);
  return text;
}

}  // namespace

std::string page_of(const api::PlanReport& report) {
  std::vector<std::string> pages;
  const auto add = [&](const char* title, const std::vector<std::string>& problems) {
    if (problems.empty()) return;
    std::string text = cat(title, "\n");
    for (const std::string& problem : problems) text += cat("  ", problem, "\n");
    pages.push_back(std::move(text));
  };
  add("Problems", report.problems);
  add("Problems of objects that are there already, which these do not touch",
      report.earlier_problems);
  for (const api::PlanSection& section : report.sections) pages.push_back(text_of(section));
  if (pages.empty()) return "no ComputeDomain, claim or node list among these objects\n";
  return base::join(pages, "\n");
}

api::PlanReport dry_run(const std::vector<ObjectFile>& files, const core::Settings& settings,
                        const base::Clock& clock, const std::string& ns) {
  FilledCluster cluster(settings, clock);
  const Stores& stores = cluster.stores();
  api::PlanReport report;
  AskedObjects asked;
  for (const ObjectFile& file : files) {
    put_file(file, ns, cluster, asked, file.is_there ? report.earlier_problems : report.problems);
  }
  const std::vector<std::string> planned = planned_names(files);
  if (asked.planned_count == 0 && report.problems.empty() && !planned.empty()) {
    asked.is_whole = false;
    report.problems.push_back(cat("there is no object in ", base::list_names(planned)));
  }
  report.is_whole = asked.is_whole;
  std::set<std::string> uids;
  for (const auto& domain : stores.domains.all()) uids.insert(domain->meta.uid);
  for (const auto& claim : stores.claims.all()) {
    if (const auto uid = core::domain_of(*claim)) uids.insert(*uid);
  }
  for (const auto& list : stores.lists.all()) {
    if (const std::string uid = list->meta.label(api::kDomainLabel); !uid.empty()) uids.insert(uid);
  }
  const std::set<std::string> namespaces = cluster.learn_workloads();
  Mismatches found = mismatches(stores, asked);
  std::ranges::move(found.planned, std::back_inserter(report.problems));
  std::ranges::move(found.earlier, std::back_inserter(report.earlier_problems));
  const Sources from = cluster.sources();
  for (const std::string& name : namespaces) {
    report.sections.push_back(workloads_section(from, name));
  }
  if (auto section = placement_section(cluster)) {
    report.sections.push_back(*std::move(section));
  }
  for (const std::string& uid : uids) report.sections.push_back(domain_section(from, uid));
  return report;
}

}  // namespace cdom::controller
