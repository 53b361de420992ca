#include "compute_domain/controller/apply.h"

#include <algorithm>
#include <set>
#include <type_traits>

#include "compute_domain/api/codec.h"
#include "compute_domain/api/names.h"
#include "compute_domain/base/log.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/node_lists.h"
#include "compute_domain/core/reconcile.h"
#include "compute_domain/kube/store.h"
#include "proofs.h"
#include "roll_call.h"

namespace cdom::controller {

namespace {

using base::cat;
using base::Error;
using base::ErrorKind;
using base::Result;

std::string named(const api::ObjectName& name) { return api::to_string(name); }

base::Histogram& formation_seconds(base::Registry& metrics) {
  return metrics.histogram("compute_domain_formation_seconds",
                           "From the first member that was seen to Ready.",
                           {0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300});
}

template <class T>
std::uint64_t& newest_of_kind(Written& written) {
  if constexpr (std::is_same_v<T, api::ComputeDomain>) {
    return written.domains;
  } else if constexpr (std::is_same_v<T, api::ResourceClaimTemplate>) {
    return written.templates;
  } else if constexpr (std::is_same_v<T, api::ConfigMap>) {
    return written.lists;
  } else if constexpr (std::is_same_v<T, api::ComputeDomainClique>) {
    return written.cliques;
  } else if constexpr (std::is_same_v<T, api::Node>) {
    return written.nodes;
  } else {
    static_assert(std::is_same_v<T, api::ResourceSlice>, "no key waits to see this kind");
    return written.slices;
  }
}

// One plan on its way. Each operator() is one action.
class Run : public Proofs {
 public:
  Run(const kube::Client& client, kube::EventRecorder& events, Memory& memory, Workloads& workloads,
      const base::Clock& clock, base::Registry* metrics, RollCall& roll_call,
      std::optional<ListedDomains>& domains, const Apply::Beat& beat, Applied& applied)
      : Proofs(client, memory, clock, roll_call, domains, beat),
        client_(client),
        events_(events),
        memory_(memory),
        workloads_(workloads),
        clock_(clock),
        metrics_(metrics),
        beat_(beat),
        applied_(applied) {}

  using Proofs::operator();

  template <class T>
  Result<void> operator()(const core::Create<T>& action) {
    return noted(client_.create(action.object));
  }

  template <class T>
  Result<void> operator()(const core::Remove<T>& action) {
    return unless_gone(client_.remove<T>(api::name_of(action.object), version_of(action.object)));
  }

  Result<void> operator()(const core::AddFinalizer& action) {
    std::vector<std::string> finalizers = action.domain.finalizers;
    finalizers.emplace_back(api::kDomainFinalizer);
    return write_finalizers(action.domain, finalizers);
  }

  Result<void> operator()(const core::RemoveFinalizer& action) {
    std::vector<std::string> finalizers = action.domain.finalizers;
    std::erase(finalizers, api::kDomainFinalizer);
    Result<void> done = write_finalizers(action.domain, finalizers);
    // The object is removed already, which is what this action is for.
    if (!done && done.error().kind == ErrorKind::NotFound) return {};
    if (!done) return done;
    // With its last finalizer the object goes, and the API server answers with its last version but
    // one: what the watch will show is a later one.
    std::uint64_t& newest = applied_.written.domains;
    newest = std::max(newest, kube::version_number(action.domain.resource_version) + 1);
    memory_.forget_domain(action.domain.uid);
    return done;
  }

  Result<void> operator()(const core::SetStatus& action) {
    const auto after = client_.patch<api::ComputeDomain>(
        api::name_of(action.domain), "status",
        api::status_patch(precondition(action.domain), action.status));
    if (Result<void> done = wrote_domain(after); !done) return done;
    memory_.status_written(action.domain.uid, clock_.now());
    note_pruned(action, after->status.value_or(api::ComputeDomainStatus{}));
    observe_formation(action);
    return {};
  }

  Result<void> operator()(const core::SetOwners& action) {
    return wrote_domain(client_.patch<api::ComputeDomain>(
        api::name_of(action.domain), "",
        api::owners_patch(precondition(action.domain), action.owners)));
  }

  Result<void> operator()(const core::DeleteDomain& action) {
    const auto held = client_.begin_removal<api::ComputeDomain>(api::name_of(action.object),
                                                                version_of(action.object));
    if (!held) return unless_gone(held);
    // Our finalizer holds it. Until the watch shows that it is being deleted, this key would delete
    // it again, in a version that is not the last one any more.
    if (*held) return wrote_domain(**held);
    return {};
  }

  Result<void> operator()(const core::ReadPods& action) {
    const base::Duration asked = clock_.elapsed();
    std::vector<core::PodFacts> facts;
    if (action.with_specs) {
      std::vector<api::Unreadable> passed_over;
      auto pods = list_kept<api::Pod>(
          {.ns = action.ns},
          [](api::Pod& pod) {
            core::trim_pod(pod.meta);
            return std::optional(core::facts_of(pod));
          },
          &passed_over);
      if (!pods) return pods.error();
      facts = *std::move(pods);
    } else {
      const auto trim = [&](api::ObjectMeta& meta) {
        beat_();
        core::trim_pod(meta);
      };
      auto metas = client_.list_metadata<api::Pod>({.ns = action.ns}, trim);
      if (!metas) return metas.error();
      for (api::ObjectMeta& meta : *metas) facts.push_back({std::move(meta), std::nullopt});
    }
    workloads_.pods_read(action.ns, std::move(facts), action.with_specs, asked);
    return {};
  }

  Result<void> operator()(const core::ReadJob& action) {
    auto job = client_.get<api::Job>(action.name);
    if (!job && job.error().kind != ErrorKind::NotFound) return job.error();
    const bool is_it = job && job->meta.uid == action.uid;
    workloads_.job_read(action.name.ns, action.uid,
                        is_it ? std::optional(*std::move(job)) : std::nullopt);
    return {};
  }

  Result<void> operator()(const core::ReplaceTemplate& action) {
    Result<void> gone = (*this)(core::Remove<api::ResourceClaimTemplate>{action.current});
    if (!gone) return gone;
    return (*this)(core::CreateTemplate{action.object});
  }

  Result<void> operator()(const core::WriteReservations& action) {
    const api::ObjectMeta& current = action.current.meta;
    const api::Precondition if_is = version_of(current);
    if (action.desired.data.empty()) {
      return unless_gone(client_.remove<api::ConfigMap>(api::name_of(current), if_is));
    }
    api::ConfigMap before = action.current, after = action.desired;
    // Only what changes: there may be thousands of reservations.
    for (const auto& [key, value] : action.desired.data) {
      const auto it = before.data.find(key);
      if (it == before.data.end() || it->second != value) continue;
      before.data.erase(it);
      after.data.erase(key);
    }
    const Result<api::ConfigMap> written =
        current.uid.empty()
            ? client_.create(action.desired)
            : client_.patch<api::ConfigMap>(api::name_of(action.desired.meta), "",
                                            api::config_map_patch(if_is, before, after));
    if (!written && written.error().kind == ErrorKind::AlreadyExists) {
      return put_labels_back(action.desired, core::is_reservations);
    }
    return noted(written);
  }

  Result<void> operator()(const core::WriteNodeList& action) {
    Result<api::ConfigMap> after =
        action.current.uid.empty()
            ? client_.create(action.desired)
            : client_.patch<api::ConfigMap>(
                  api::name_of(action.desired.meta), "",
                  api::config_map_patch(version_of(action.current),
                                        {.meta = action.current, .data = {}}, action.desired));
    if (!after && after.error().kind == ErrorKind::AlreadyExists) {
      return put_labels_back(action.desired,
                             [](const auto& map) { return core::stored_list(map).list; });
    }
    if (Result<void> done = noted(after); !done) return done;
    memory_.list_written({action.desired.meta.label(api::kDomainLabel),
                          action.desired.meta.label(api::kCliqueLabel)},
                         clock_.now());
    return {};
  }

  Result<void> operator()(const core::RecordEvent& action) {
    const auto& [api_version, kind, ns, name, uid] = action.involved;
    // With each look at its key, until it has been reported. There may be thousands of these, so
    // those of a namespace after one that found no place are left for the next look.
    const bool comes_again = kind == "ResourceClaim" || kind == "ComputeDomainClique";
    if ((comes_again && without_place_.contains(ns)) || !record(action)) {
      applied_.dropped.insert(applied_.actions);
      applied_.has_untold |= comes_again;
      if (comes_again) without_place_.insert(ns);
    } else if (comes_again) {
      // Also one that has to make room later.
      memory_.object_reported(uid);
    }
    return {};
  }

  Result<void> operator()(const core::AdoptTemplate& action) {
    std::vector<std::string> finalizers = action.current.finalizers;
    std::erase(finalizers, api::kDomainFinalizer);
    const auto after = client_.patch<api::ResourceClaimTemplate>(
        api::name_of(action.current), "",
        api::ownership_patch(version_of(action.current), action.owners, finalizers));
    return noted(after);
  }

  Result<void> operator()(const core::MarkReport& action) {
    const api::ObjectMeta& meta = action.report;
    return unless_gone(client_.patch<api::ComputeDomainNode>(
        api::name_of(meta), "status", api::staleness_patch(version_of(meta), action.stale)));
  }

  // Without a resourceVersion: agents write their reports all the time.
  Result<void> operator()(const core::TellPause& action) {
    const auto value = action.pause.empty() ? std::nullopt : std::optional(action.pause);
    return unless_gone(client_.patch<api::ComputeDomainNode>(
        api::name_of(action.report), "",
        api::metadata_patch({action.report.uid, {}}, {}, {{api::kPauseAnnotation, value}})));
  }

  Result<void> operator()(const core::WriteSharedSlice& action) {
    if (action.current.uid.empty()) return noted(create_shared_slice(action.desired));
    const std::string version = client_.version_of(api::kind_of<api::ResourceSlice>());
    return noted(client_.patch<api::ResourceSlice>(
        api::name_of(action.current), "",
        api::slice_patch(version_of(action.current), action.desired, version), version));
  }

  Result<void> operator()(const core::WriteCliqueObject& action) {
    api::ComputeDomainClique desired = action.desired;
    if (!core::has_cliques_owner(action.current)) {
      auto owner = cliques_owner(desired.meta.ns);
      if (!owner) return owner.error();
      desired.meta.owners = action.current.owners;
      desired.meta.owners.push_back(*std::move(owner));
    }
    const auto after = action.current.uid.empty()
                           ? client_.create(desired)
                           : client_.patch<api::ComputeDomainClique>(
                                 api::name_of(action.current), "",
                                 api::clique_patch(version_of(action.current), desired));
    if (Result<void> done = noted(after); !done) return done;
    note_pruned(action, *after);
    return {};
  }

  Result<void> operator()(const core::LabelNode& action) {
    return patch_node(action.node, {{api::kNodeCliqueLabel, action.clique}},
                      {{api::kNodeCliqueMark, action.clique}});
  }

  Result<void> operator()(const core::UnmarkNode& action) {
    return patch_node(action.node, {}, {{api::kNodeCliqueMark, std::nullopt}});
  }

  Result<void> operator()(const core::LabelForAgents& action) {
    const auto value =
        action.has_agent ? std::optional<std::string>(api::kAgentNodeDetected) : std::nullopt;
    // Without a resourceVersion: kubelet writes Nodes all the time. The admission policy guards a
    // person's value: it lets the controller replace only its own.
    api::ObjectMeta node = action.node;
    node.resource_version.clear();
    return patch_node(node, {{api::kAgentNodeLabel, value}}, {});
  }

 private:
  bool record(const core::RecordEvent& event) {
    return events_.record(event.involved, event.type, event.reason, event.message);
  }

  // It goes with its class, and so with what has installed it.
  Result<api::ResourceSlice> create_shared_slice(api::ResourceSlice slice) {
    const auto owner = client_.get<api::DeviceClass>({"", api::kSharedClass});
    if (!owner && owner.error().kind == ErrorKind::NotFound) {
      return Error{ErrorKind::Invalid, cat("there is no DeviceClass ", api::kSharedClass,
                                           ", for which it is: apply the operator's manifests "
                                           "with the component shared-claims again")};
    }
    if (!owner) return owner.error();
    const api::Kind& kind = api::kind_of<api::DeviceClass>();
    slice.meta.owners = {{.api_version = api::api_version_of(kind, client_.version_of(kind)),
                          .kind = "DeviceClass",
                          .name = owner->meta.name,
                          .uid = owner->meta.uid}};
    return client_.create(slice);
  }

  // A domain is in another namespace, so it cannot own them. They go with what has switched them
  // on.
  Result<api::OwnerReference> cliques_owner(const std::string& ns) {
    const auto owner = client_.get<api::ConfigMap>({ns, api::kCliquesOwner});
    if (!owner && owner.error().kind == ErrorKind::NotFound) {
      return Error{ErrorKind::Invalid,
                   cat("there is no ConfigMap ", ns, "/", api::kCliquesOwner,
                       ", which is to own it: apply the operator's manifests with the component "
                       "compute-domain-cliques again")};
    }
    if (!owner) return owner.error();
    return api::OwnerReference{
        .api_version = "v1", .kind = "ConfigMap", .name = owner->meta.name, .uid = owner->meta.uid};
  }

  Result<void> patch_node(const api::ObjectMeta& node, const api::MetadataValues& labels,
                          const api::MetadataValues& annotations) {
    return unless_gone(noted(client_.patch<api::Node>(
        api::name_of(node), "", api::metadata_patch(version_of(node), labels, annotations))));
  }

  // What is there under a name that the cache does not have has lost the labels by which the cache
  // knows it, unless the cache is late. If its text is ours it gets them back, and is read before
  // anything is written into it; what is not ours is left to a person.
  template <class IsOurs>
  Result<void> put_labels_back(const api::ConfigMap& desired, const IsOurs& is_ours) {
    const api::ObjectName name = api::name_of(desired.meta);
    auto found = client_.get<api::ConfigMap>(name);
    if (!found) return found.error();
    api::MetadataValues missing;
    for (const auto& [key, value] : desired.meta.labels) {
      if (found->meta.label(key) != value) missing[key] = value;
    }
    if (missing.empty()) {
      return Error{ErrorKind::Conflict, cat("ConfigMap ", named(name), " is not in the cache yet")};
    }
    const api::ObjectMeta meta = found->meta;
    found->meta.labels = desired.meta.labels;
    if (!is_ours(*found)) {
      return Error{ErrorKind::Invalid, cat("ConfigMap ", named(name),
                                           " is in the way and was not written by the controller: "
                                           "delete it")};
    }
    const auto after = client_.patch<api::ConfigMap>(
        name, "", api::metadata_patch({meta.uid, meta.resource_version}, missing, {}));
    if (!after) return after.error();
    note<api::ConfigMap>(after->meta);
    record(core::event_on({"v1", "ConfigMap", name.ns, name.name, meta.uid}, "LabelsRestored",
                          "the labels by which the controller knows it were taken, and are put "
                          "back; leave it to the controller"));
    return Error{ErrorKind::Conflict, cat("ConfigMap ", named(name), " had lost its labels")};
  }

  // Within one plan a later write builds upon an earlier one: the answer to a write whose
  // precondition held proves that nobody else has written in between.
  api::Precondition precondition(const api::ObjectMeta& domain) const {
    return {domain.uid, domain_version_.empty() ? domain.resource_version : domain_version_};
  }

  Result<void> wrote_domain(const Result<api::ComputeDomain>& after) {
    if (after) domain_version_ = after->meta.resource_version;
    return noted(after);
  }

  // What the key has to see of the kind before it goes on.
  template <class T>
  Result<void> noted(const Result<T>& written) {
    if (!written) return written.error();
    note<T>(written->meta);
    return {};
  }
  template <class T>
  void note(const api::ObjectMeta& written) {
    std::uint64_t& newest = newest_of_kind<T>(applied_.written);
    newest = std::max(newest, kube::version_number(written.resource_version));
  }

  Result<void> write_finalizers(const api::ObjectMeta& domain,
                                const std::vector<std::string>& finalizers) {
    return wrote_domain(client_.patch<api::ComputeDomain>(
        api::name_of(domain), "", api::finalizers_patch(precondition(domain), finalizers)));
  }

  void note_pruned(const core::SetStatus& action, const api::ComputeDomainStatus& kept) {
    if (kept == action.status) return memory_.status_pruned(action.domain.uid, std::nullopt);
    base::log_warning(
        "the API server keeps less of a status than was written: its CustomResourceDefinition of "
        "ComputeDomain is older than this controller; apply the manifests of this version again",
        {{"domain", named(api::name_of(action.domain))}});
    memory_.status_pruned(action.domain.uid, core::PrunedStatus{action.status, kept});
  }

  // What cuts one of them cuts all, and the log says so once for each.
  void note_pruned(const core::WriteCliqueObject& action, const api::ComputeDomainClique& kept) {
    const std::string& uid = kept.meta.uid;
    if (kept.daemons == action.desired.daemons) return memory_.daemons_kept(uid);
    if (!memory_.daemons_pruned(uid, {action.desired.daemons, kept.daemons})) return;
    base::log_warning(
        "the API server keeps less of a ComputeDomainClique than was written: its "
        "CustomResourceDefinition is older than this controller; apply the manifests of this "
        "version again",
        {{"object", named(api::name_of(kept.meta))}});
  }

  void observe_formation(const core::SetStatus& action) {
    if (!action.status.ready) {
      if (!action.status.nodes.empty()) {
        memory_.formation_begun(action.domain.uid, clock_.elapsed());
      }
      return;
    }
    const auto begun = memory_.formation_ended(action.domain.uid);
    if (!begun || metrics_ == nullptr) return;
    formation_seconds(*metrics_).observe(
        std::chrono::duration<double>(clock_.elapsed() - *begun).count());
  }

  const kube::Client& client_;
  kube::EventRecorder& events_;
  Memory& memory_;
  Workloads& workloads_;
  const base::Clock& clock_;
  base::Registry* const metrics_;
  const Apply::Beat& beat_;
  Applied& applied_;
  std::string domain_version_;           // after this plan's own writes
  std::set<std::string> without_place_;  // namespaces whose Events find no place
};

}  // namespace

Written newest_of(const Written& a, const Written& b) {
  return {std::max(a.domains, b.domains), std::max(a.templates, b.templates),
          std::max(a.lists, b.lists),     std::max(a.slices, b.slices),
          std::max(a.cliques, b.cliques), std::max(a.nodes, b.nodes)};
}

Apply::Apply(const kube::Client& client, kube::EventRecorder& events, Memory& memory,
             Workloads& workloads, const base::Clock& clock, base::Registry* metrics)
    : client_(client),
      events_(events),
      memory_(memory),
      workloads_(workloads),
      clock_(clock),
      metrics_(metrics),
      roll_call_(std::make_unique<RollCall>(clock)) {
  // Who asks for a rate sees the first formation only if there was a 0 before.
  if (metrics_ != nullptr) formation_seconds(*metrics_);
}

Apply::~Apply() = default;

Applied Apply::operator()(const core::Plan& plan, const Beat& beat) const {
  std::optional<ListedDomains> domains;
  return (*this)(plan, domains, beat);
}

// The connection may have ended when the status was stored; and where the HTTP client asks once
// more, the write meets what it has written itself.
void Apply::note_unheard(const core::Plan& plan, std::size_t at, const Error& error) const {
  const auto* write = std::get_if<core::SetStatus>(&plan.actions[at]);
  if (write == nullptr || (error.is_answer && error.kind != ErrorKind::Conflict)) return;
  std::vector<core::RecordEvent> events;
  for (std::size_t i = at + 1; i < plan.actions.size(); ++i) {
    const auto* event = std::get_if<core::RecordEvent>(&plan.actions[i]);
    // Those of claims come again until they are recorded.
    if (event != nullptr && event->involved.kind != "ResourceClaim") events.push_back(*event);
  }
  memory_.status_unheard(write->domain.uid, write->status, std::move(events));
}

Applied Apply::operator()(const core::Plan& plan, std::optional<ListedDomains>& domains,
                          const Beat& beat) const {
  Applied applied;
  Run run(client_, events_, memory_, workloads_, clock_, metrics_, *roll_call_, domains, beat,
          applied);
  for (const core::Action& action : plan.actions) {
    beat();
    applied.result = std::visit(run, action);
    if (!applied.result) {
      const Error& error = applied.result.error();
      note_unheard(plan, applied.actions, error);
      applied.result =
          Error{error.kind, cat(core::to_string(action), ": ", error.message), error.retry_after};
      return applied;
    }
    ++applied.actions;
  }
  return applied;
}

}  // namespace cdom::controller
