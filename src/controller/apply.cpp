#include "compute_domain/controller/apply.h"

#include <algorithm>

#include "compute_domain/api/codec.h"
#include "compute_domain/api/names.h"
#include "compute_domain/base/log.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/membership.h"
#include "compute_domain/core/node_lists.h"
#include "compute_domain/core/reconcile.h"
#include "compute_domain/core/templates.h"
#include "compute_domain/kube/store.h"

namespace cdom::controller {

namespace {

using base::cat;
using base::Error;
using base::ErrorKind;
using base::Result;

std::string named(const api::ObjectName& name) { return api::to_string(name); }

void note(std::uint64_t& newest, const api::ObjectMeta& written) {
  newest = std::max(newest, kube::version_number(written.resource_version));
}

// As much of an object as names it.
api::ObjectMeta identity_of(const api::ObjectMeta& meta) {
  return {.name = meta.name, .ns = meta.ns, .uid = meta.uid};
}

// As much of a claim as says whose it is.
api::ResourceClaim allocated_claim(const std::string& uid, core::DomainRef ref) {
  api::ResourceClaim claim;
  claim.meta.uid = uid;
  claim.allocation.emplace();
  claim.domain_ref = std::move(ref);
  return claim;
}

// One plan on its way. Each operator() is one action.
class Run {
 public:
  Run(const kube::Client& client, kube::EventRecorder& events, Memory& memory, Workloads& workloads,
      const base::Clock& clock, base::Registry* metrics, Written& written)
      : client_(client),
        events_(events),
        memory_(memory),
        workloads_(workloads),
        clock_(clock),
        metrics_(metrics),
        written_(written) {}

  Result<void> operator()(const core::AddFinalizer& action) {
    std::vector<std::string> finalizers = action.domain.finalizers;
    finalizers.emplace_back(api::kDomainFinalizer);
    return write_finalizers(action.domain, finalizers);
  }

  Result<void> operator()(const core::RemoveFinalizer& action) {
    std::vector<std::string> finalizers = action.domain.finalizers;
    std::erase(finalizers, api::kDomainFinalizer);
    Result<void> done = write_finalizers(action.domain, finalizers);
    // Whoever removed the object has done what this was for.
    if (!done && done.error().kind == ErrorKind::NotFound) return {};
    if (!done) return done;
    // With its last finalizer the object goes, and the API server answers with its last version but
    // one: what the watch will show is a later one.
    written_.domains =
        std::max(written_.domains, kube::version_number(action.domain.resource_version) + 1);
    memory_.forget_domain(action.domain.uid);
    return done;
  }

  Result<void> operator()(const core::SetStatus& action) {
    const auto after = client_.patch<api::ComputeDomain>(
        api::name_of(action.domain), "status",
        api::status_patch(precondition(action.domain), action.status));
    if (!after) return after.error();
    wrote_domain(after->meta);
    memory_.status_written(action.domain.uid, clock_.now());
    note_pruned(action, after->status.value_or(api::ComputeDomainStatus{}));
    observe_formation(action);
    return {};
  }

  Result<void> operator()(const core::CreateDomain& action) {
    const auto made = client_.create(action.object);
    if (!made) return made.error();
    note(written_.domains, made->meta);
    return {};
  }

  Result<void> operator()(const core::SetOwners& action) {
    const auto after = client_.patch<api::ComputeDomain>(
        api::name_of(action.domain), "",
        api::owners_patch(precondition(action.domain), action.owners));
    if (!after) return after.error();
    wrote_domain(after->meta);
    return {};
  }

  Result<void> operator()(const core::DeleteDomain& action) {
    const auto held = client_.begin_removal<api::ComputeDomain>(
        api::name_of(action.domain), {action.domain.uid, action.domain.resource_version});
    if (!held && held.error().kind == ErrorKind::NotFound) return {};
    if (!held) return held.error();
    // Our finalizer holds it. Until the watch shows that it is being deleted, this key would delete
    // it again, in a version that is not the last one any more.
    if (*held) wrote_domain((*held)->meta);
    return {};
  }

  Result<void> operator()(const core::ReadPods& action) {
    const base::Duration asked = clock_.elapsed();
    std::vector<core::PodFacts> facts;
    if (action.with_specs) {
      std::vector<api::Unreadable> passed_over;
      auto pods = client_.list_kept<api::Pod>(
          {.ns = action.ns},
          [](api::Pod& pod) {
            core::trim_pod(pod.meta);
            return std::optional(core::facts_of(pod));
          },
          &passed_over);
      if (!pods) return pods.error();
      facts = *std::move(pods);
    } else {
      auto metas = client_.list_metadata<api::Pod>({.ns = action.ns}, core::trim_pod);
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

  Result<void> operator()(const core::CreateTemplate& action) {
    const auto made = client_.create(action.object);
    if (!made) return made.error();
    note(written_.templates, made->meta);
    return {};
  }

  Result<void> operator()(const core::ReplaceTemplate& action) {
    Result<void> gone = client_.remove<api::ResourceClaimTemplate>(
        api::name_of(action.current), {action.current.uid, action.current.resource_version});
    if (!gone && gone.error().kind != ErrorKind::NotFound) return gone;
    return (*this)(core::CreateTemplate{action.object});
  }

  Result<void> operator()(const core::WriteLedger& action) {
    const api::ObjectMeta& current = action.current.meta;
    const api::Precondition if_is{current.uid, current.resource_version};
    if (action.desired.data.empty()) {
      Result<void> gone = client_.remove<api::ConfigMap>(api::name_of(current), if_is);
      if (!gone && gone.error().kind == ErrorKind::NotFound) return {};
      return gone;
    }
    api::ConfigMap before = action.current, after = action.desired;
    // Only what changes: there may be thousands of promises.
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
    if (!written) {
      return written.error().kind == ErrorKind::AlreadyExists
                 ? put_labels_back(action.desired, core::is_ledger)
                 : Result<void>(written.error());
    }
    note(written_.lists, written->meta);
    return {};
  }

  Result<void> operator()(const core::WriteNodeList& action) {
    Result<api::ConfigMap> after =
        action.current.uid.empty()
            ? client_.create(action.desired)
            : client_.patch<api::ConfigMap>(
                  api::name_of(action.desired.meta), "",
                  api::config_map_patch({action.current.uid, action.current.resource_version},
                                        {.meta = action.current, .data = {}}, action.desired));
    if (!after) {
      return after.error().kind == ErrorKind::AlreadyExists
                 ? put_labels_back(action.desired,
                                   [](const auto& map) { return core::stored_list(map).list; })
                 : Result<void>(after.error());
    }
    note(written_.lists, after->meta);
    memory_.list_written({action.desired.meta.label(api::kDomainLabel),
                          action.desired.meta.label(api::kCliqueLabel)},
                         clock_.now());
    return {};
  }

  Result<void> operator()(const core::RemoveNodeList& action) {
    Result<void> done = client_.remove<api::ConfigMap>(
        api::name_of(action.list), {action.list.uid, action.list.resource_version});
    if (!done && done.error().kind == ErrorKind::NotFound) return {};
    return done;
  }

  Result<void> operator()(const core::RecordEvent& action) {
    record(action);
    if (action.involved.kind == "ResourceClaim") memory_.claim_told(action.involved.uid);
    return {};
  }

  Result<void> operator()(const core::EnsureTemplateAbsent& action) {
    return ensure_absent<api::ResourceClaimTemplate>(action.name, [&](const api::ObjectMeta& meta) {
      return core::is_owned_by(meta, action.domain_uid) ||
             (action.predecessors && core::is_predecessors_template(meta, action.domain_uid));
    });
  }

  Result<void> operator()(const core::AdoptTemplate& action) {
    std::vector<std::string> finalizers = action.current.finalizers;
    std::erase(finalizers, api::kDomainFinalizer);
    const auto after = client_.patch<api::ResourceClaimTemplate>(
        api::name_of(action.current), "",
        api::ownership_patch({action.current.uid, action.current.resource_version}, action.owners,
                             finalizers));
    if (!after) return after.error();
    note(written_.templates, after->meta);
    return {};
  }

  Result<void> operator()(const core::EnsureNodeListsAbsent& action) {
    const auto lists = lists_of(action.ns, action.domain_uid);
    if (!lists) return lists.error();
    for (const api::ConfigMap& list : *lists) {
      Result<void> gone = ensure_absent<api::ConfigMap>(
          api::name_of(list.meta),
          [&](const api::ObjectMeta& meta) { return core::is_own(meta, action.domain_uid); });
      if (!gone) return gone;
    }
    return {};
  }

  Result<void> operator()(const core::EnsureDomainGone& action) {
    std::vector<api::Unreadable> unreadable;
    const auto domains = client_.list_kept<api::ComputeDomain>(
        {},
        [&](const api::ComputeDomain& domain) {
          return domain.meta.uid == action.uid ? std::optional(api::name_of(domain.meta))
                                               : std::nullopt;
        },
        &unreadable);
    if (!domains) return domains.error();
    const auto is_it = [&](const api::Unreadable& object) {
      return object.uid.empty() || object.uid == action.uid;
    };
    if (const auto it = std::ranges::find_if(unreadable, is_it); it != unreadable.end()) {
      return base::invalid(it->problem);
    }
    if (!domains->empty()) {
      return Error{ErrorKind::Conflict, cat("ComputeDomain ", named(domains->front()),
                                            " exists and is not in the cache yet")};
    }
    memory_.forget_domain(action.uid);
    return {};
  }

  Result<void> operator()(const core::EnsureClaimsReleased& action) {
    const auto maps = lists_of(action.lists_ns, action.domain_uid);
    if (!maps) return maps.error();
    std::vector<core::StoredList> lists;
    for (const api::ConfigMap& map : *maps) lists.push_back(core::stored_list(map));
    // And those of cliques in which it has a channel.
    const auto cliques = client_.list_all<api::ConfigMap>(
        {.ns = action.lists_ns,
         .label_selector =
             cat(api::kIsolationLabel, "=", api::to_string(api::Isolation::Channel))});
    if (!cliques) return cliques.error();
    for (const api::ConfigMap& map : *cliques) lists.push_back(core::stored_list(map));
    // It has left no list: each of its claims may be in use.
    if (action.has_predecessor) lists.emplace_back();
    std::vector<api::Unreadable> unreadable;
    auto claims = client_.list_kept<api::ResourceClaim>(
        {.ns = action.claims_ns},
        [](const api::ResourceClaim& claim) -> std::optional<api::ResourceClaim> {
          if (!claim.allocation) return std::nullopt;
          return allocated_claim(claim.meta.uid, core::domain_ref_of(claim));
        },
        &unreadable);
    if (!claims) return claims.error();
    // Of these nobody knows what they are allocated for: they may be the domain's.
    for (const api::Unreadable& object : unreadable) {
      claims->push_back(
          allocated_claim(object.uid, {core::DomainRef::Kind::Named, action.domain_uid}));
    }
    auto held = core::held_claims(action.domain_uid, lists, *claims);
    for (const std::string& uid : action.late) held.erase(uid);
    if (held.empty()) return {};
    return Error{
        ErrorKind::Conflict,
        cat(held.size(), held.size() == 1 ? " claim is" : " claims are", " still allocated")};
  }

  // Its template is the sign that something of it may be left, and so goes last.
  Result<void> operator()(const core::EnsurePredecessorGone& action) {
    const std::string labelled = cat(api::kDomainLabel, "=", action.domain_uid);
    for (const auto& step : {&Run::ensure_all_absent<api::DaemonSet>, &Run::ensure_no_pods,
                             &Run::ensure_all_absent<api::ComputeDomainClique>}) {
      for (const std::string& ns : action.namespaces) {
        if (Result<void> done = (this->*step)({.ns = ns, .label_selector = labelled}); !done) {
          return done;
        }
      }
    }
    if (Result<void> done = remove_node_labels(labelled); !done) return done;
    for (const std::string& ns : action.namespaces) {
      Result<void> done = ensure_all_absent<api::ResourceClaimTemplate>(
          {.ns = ns,
           .label_selector = cat(labelled, ",", api::kTargetLabel, "=", api::kTargetDaemon)});
      if (!done) return done;
    }
    return {};
  }

  Result<void> operator()(const core::EnsureNodeGone& action) {
    const auto node = client_.get<api::Node>({"", action.node});
    if (node) return Error{ErrorKind::Conflict, cat("Node ", action.node, " exists")};
    if (node.error().kind != ErrorKind::NotFound) return node.error();
    return {};
  }

  Result<void> operator()(const core::MarkReport& action) {
    const api::ObjectMeta& meta = action.report;
    const auto after = client_.patch<api::ComputeDomainNode>(
        api::name_of(meta), "status",
        api::staleness_patch({meta.uid, meta.resource_version}, action.stale));
    if (!after && after.error().kind != ErrorKind::NotFound) return after.error();
    return {};
  }

  Result<void> operator()(const core::DeleteReport& action) {
    Result<void> done = client_.remove<api::ComputeDomainNode>(
        api::name_of(action.report), {action.report.uid, action.report.resource_version});
    if (!done && done.error().kind == ErrorKind::NotFound) return {};
    return done;
  }

  // Of any version: agents write their reports all the time.
  Result<void> operator()(const core::TellPause& action) {
    const auto value = action.pause.empty() ? std::nullopt : std::optional(action.pause);
    const auto after = client_.patch<api::ComputeDomainNode>(
        api::name_of(action.report), "",
        api::metadata_patch({action.report.uid, {}}, {}, {{api::kPauseAnnotation, value}}));
    if (!after && after.error().kind != ErrorKind::NotFound) return after.error();
    return {};
  }

  Result<void> operator()(const core::WriteSharedSlice& action) {
    const api::ObjectMeta& meta = action.object.meta;
    const std::string version = client_.version_of(api::kind_of<api::ResourceSlice>());
    const auto written =
        meta.uid.empty()
            ? create_shared_slice(action.object)
            : client_.patch<api::ResourceSlice>(
                  api::name_of(meta), "",
                  api::slice_patch({meta.uid, meta.resource_version}, action.object, version),
                  version);
    if (!written) return written.error();
    note(written_.slices, written->meta);
    return {};
  }

  Result<void> operator()(const core::RemoveSharedSlice& action) {
    Result<void> done = client_.remove<api::ResourceSlice>(
        api::name_of(action.slice), {action.slice.uid, action.slice.resource_version});
    if (!done && done.error().kind == ErrorKind::NotFound) return {};
    return done;
  }

  Result<void> operator()(const core::LabelNode& action) {
    return patch_node(action.node, {{api::kNodeCliqueLabel, action.clique}},
                      {{api::kNodeCliqueMark, action.clique}});
  }

  Result<void> operator()(const core::UnmarkNode& action) {
    return patch_node(action.node, {}, {{api::kNodeCliqueMark, std::nullopt}});
  }

  Result<void> operator()(const core::EnsureNodeUnused& action) {
    const auto claims = claims_on_nodes();
    if (!claims) return claims.error();
    const std::size_t used = (*claims)->count("") + (*claims)->count(action.node);
    if (used == 0) return {};
    return Error{ErrorKind::Conflict, cat(used, used == 1 ? " claim" : " claims",
                                          " may be in use on Node ", action.node)};
  }

  Result<void> operator()(const core::LabelForAgents& action) {
    const auto value =
        action.has_agent ? std::optional<std::string>(api::kAgentNodeDetected) : std::nullopt;
    // Of any version: kubelet writes Nodes all the time. A person's value is guarded by the
    // admission policy, which lets this one only replace its own.
    api::ObjectMeta node = action.node;
    node.resource_version.clear();
    return patch_node(node, {{api::kAgentNodeLabel, value}}, {});
  }

 private:
  void record(const core::RecordEvent& event) {
    events_.record(event.involved, event.type, event.reason, event.message);
  }

  // It goes with its class, and so with what has installed it.
  Result<api::ResourceSlice> create_shared_slice(api::ResourceSlice slice) {
    const auto owner = client_.get<api::DeviceClass>({"", api::kSharedClass});
    if (!owner && owner.error().kind == ErrorKind::NotFound) {
      return Error{ErrorKind::Invalid, cat("there is no DeviceClass ", api::kSharedClass,
                                           ", for which it is: apply manifests/shared-claims")};
    }
    if (!owner) return owner.error();
    const api::Kind& kind = api::kind_of<api::DeviceClass>();
    slice.meta.owners = {{.api_version = api::api_version_of(kind, client_.version_of(kind)),
                          .kind = "DeviceClass",
                          .name = owner->meta.name,
                          .uid = owner->meta.uid}};
    return client_.create(slice);
  }

  // A proof for each of the nodes that lose their GPUs at about the same time. A claim that cannot
  // be read has not been prepared by an agent, which reads it as this does; what was read of it
  // before is in the cache, which the plan has looked at.
  Result<std::shared_ptr<const ClaimsOnNodes>> claims_on_nodes() {
    const base::Duration asked = clock_.elapsed();
    if (auto known = memory_.claims_on_nodes(asked)) return known;
    std::vector<api::Unreadable> passed_over;
    const auto claims = client_.list_kept<api::ResourceClaim>(
        {},
        [](const api::ResourceClaim& claim) -> std::optional<std::vector<std::string>> {
          if (core::is_shared(claim)) return std::vector<std::string>{""};
          std::vector<std::string> nodes = core::nodes_of(claim);
          return nodes.empty() ? std::nullopt : std::optional(std::move(nodes));
        },
        &passed_over);
    if (!claims) return claims.error();
    auto by_node = std::make_shared<ClaimsOnNodes>();
    for (const std::vector<std::string>& nodes : *claims)
      by_node->insert(nodes.begin(), nodes.end());
    memory_.claims_listed(by_node, asked);
    return std::shared_ptr<const ClaimsOnNodes>(std::move(by_node));
  }

  Result<void> patch_node(const api::ObjectMeta& node, const api::MetadataValues& labels,
                          const api::MetadataValues& annotations) {
    const auto after = client_.patch<api::Node>(
        api::name_of(node), "",
        api::metadata_patch({node.uid, node.resource_version}, labels, annotations));
    if (!after && after.error().kind != ErrorKind::NotFound) return after.error();
    return {};
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
    note(written_.lists, after->meta);
    record(core::event_on({"v1", "ConfigMap", name.ns, name.name, meta.uid}, "LabelsRestored",
                          "the labels by which the controller knows it were taken, and are put "
                          "back; leave it to the controller"));
    return Error{ErrorKind::Conflict, cat("ConfigMap ", named(name), " had lost its labels")};
  }

  Result<std::vector<api::ConfigMap>> lists_of(const std::string& ns,
                                               const std::string& domain_uid) const {
    return client_.list_all<api::ConfigMap>(
        {.ns = ns, .label_selector = cat(api::kDomainLabel, "=", domain_uid)});
  }

  // Within one plan a later write builds upon an earlier one: the answer to a write whose
  // precondition held proves that nobody else has written in between.
  api::Precondition precondition(const api::ObjectMeta& domain) const {
    return {domain.uid, domain_version_.empty() ? domain.resource_version : domain_version_};
  }

  void wrote_domain(const api::ObjectMeta& after) {
    domain_version_ = after.resource_version;
    note(written_.domains, after);
  }

  Result<void> write_finalizers(const api::ObjectMeta& domain,
                                const std::vector<std::string>& finalizers) {
    const auto after = client_.patch<api::ComputeDomain>(
        api::name_of(domain), "", api::finalizers_patch(precondition(domain), finalizers));
    if (!after) return after.error();
    wrote_domain(after->meta);
    return {};
  }

  // The answer to a DELETE does not say that the object is gone; only a GET does. What the
  // reference driver has made carries its finalizer, which has the name of ours.
  template <class T, class IsOurs>
  Result<void> ensure_absent(const api::ObjectName& name, const IsOurs& is_ours) {
    for (int attempt = 0; attempt < 3; ++attempt) {
      const auto object = client_.get<T>(name);
      if (!object && object.error().kind == ErrorKind::NotFound) return {};
      if (!object) return object.error();
      const api::ObjectMeta& meta = object->meta;
      if (!is_ours(meta)) return {};
      Result<void> done;
      if (!meta.is_deleting()) {
        done = client_.remove<T>(name, {meta.uid, meta.resource_version});
      } else if (meta.has_finalizer(api::kDomainFinalizer)) {
        done = release<T>(meta);
      } else {
        break;
      }
      if (!done && done.error().kind != ErrorKind::NotFound) return done.error();
    }
    return Error{ErrorKind::Invalid, cat(api::kind_of<T>().kind, " ", named(name),
                                         " is still there: somebody else's finalizer holds it")};
  }

  template <class T>
  Result<void> release(const api::ObjectMeta& meta) {
    std::vector<std::string> others = meta.finalizers;
    std::erase(others, api::kDomainFinalizer);
    const auto after = client_.patch<T>(
        api::name_of(meta), "", api::finalizers_patch({meta.uid, meta.resource_version}, others));
    if (!after) return after.error();
    return {};
  }

  template <class T>
  Result<void> ensure_all_absent(const kube::Selection& of) {
    const auto objects = client_.list_kept<T>(
        of, [](const T& object) { return std::optional(identity_of(object.meta)); });
    if (!objects) return objects.error();
    for (const api::ObjectMeta& object : *objects) {
      Result<void> gone = ensure_absent<T>(api::name_of(object), [&](const api::ObjectMeta& meta) {
        return meta.uid == object.uid;
      });
      if (!gone) return gone;
    }
    return {};
  }

  Result<void> ensure_no_pods(const kube::Selection& of) {
    const auto pods = client_.list_kept<api::Pod>(
        of, [](const api::Pod& pod) { return std::optional(api::name_of(pod.meta)); });
    if (!pods) return pods.error();
    if (pods->empty()) return {};
    return Error{ErrorKind::Unavailable,
                 cat(pods->size(), " pods of its DaemonSet have not ended yet, the first: ",
                     named(pods->front()))};
  }

  Result<void> remove_node_labels(const std::string& labelled) {
    const auto nodes = client_.list_kept<api::Node>(
        {.label_selector = labelled},
        [](const api::Node& node) { return std::optional(identity_of(node.meta)); });
    if (!nodes) return nodes.error();
    for (const api::ObjectMeta& node : *nodes) {
      const auto after = client_.patch<api::Node>(
          api::name_of(node), "",
          api::metadata_patch({node.uid, {}}, {{api::kDomainLabel, std::nullopt}}, {}));
      if (!after && after.error().kind != ErrorKind::NotFound) return after.error();
    }
    return {};
  }

  void note_pruned(const core::SetStatus& action, const api::ComputeDomainStatus& kept) {
    if (kept == action.status) return memory_.status_pruned(action.domain.uid, std::nullopt);
    base::log_warning(
        "the API server keeps less of a status than was written: its CustomResourceDefinition of "
        "ComputeDomain is older than this controller; apply crds/",
        {{"domain", named(api::name_of(action.domain))}});
    memory_.status_pruned(action.domain.uid, core::PrunedStatus{action.status, kept});
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
    metrics_
        ->histogram("compute_domain_formation_seconds",
                    "From the first member that was seen to Ready.",
                    {0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300})
        .observe(std::chrono::duration<double>(clock_.elapsed() - *begun).count());
  }

  const kube::Client& client_;
  kube::EventRecorder& events_;
  Memory& memory_;
  Workloads& workloads_;
  const base::Clock& clock_;
  base::Registry* const metrics_;
  Written& written_;
  std::string domain_version_;  // after this plan's own writes
};

}  // namespace

Written newest_of(const Written& a, const Written& b) {
  return {std::max(a.domains, b.domains), std::max(a.templates, b.templates),
          std::max(a.lists, b.lists), std::max(a.slices, b.slices)};
}

Apply::Apply(const kube::Client& client, kube::EventRecorder& events, Memory& memory,
             Workloads& workloads, const base::Clock& clock, base::Registry* metrics)
    : client_(client),
      events_(events),
      memory_(memory),
      workloads_(workloads),
      clock_(clock),
      metrics_(metrics) {}

Applied Apply::operator()(const core::Plan& plan) const {
  Applied applied;
  Run run(client_, events_, memory_, workloads_, clock_, metrics_, applied.written);
  for (const core::Action& action : plan.actions) {
    applied.result = std::visit(run, action);
    if (!applied.result) {
      const Error& error = applied.result.error();
      applied.result =
          Error{error.kind, cat(core::to_string(action), ": ", error.message), error.retry_after};
      return applied;
    }
    ++applied.actions;
  }
  return applied;
}

}  // namespace cdom::controller
