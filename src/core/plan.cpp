#include "compute_domain/core/plan.h"

#include <utility>

#include "compute_domain/api/kind.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/reservations.h"

namespace cdom::core {

namespace {

using base::cat;

std::string named(const api::ObjectMeta& meta) { return api::to_string(api::name_of(meta)); }

std::string clique_of(const api::ResourceClaimTemplate& object) {
  const auto placement = placement_of(object);
  return placement ? cat(" for clique ", placement->clique) : "";
}

// What is reserved now and was not before, and what is not reserved any more.
std::string reservations_text(const WriteReservations& write) {
  const Reservations before = reservations_in(write.current),
                     after = reservations_in(write.desired);
  std::vector<std::string> changes;
  for (const auto& [uid, reservation] : after.by_domain) {
    const auto it = before.by_domain.find(uid);
    if (it != before.by_domain.end() && it->second == reservation) continue;
    changes.push_back(
        cat("reserve ", reservation.seats, reservation.seats == 1 ? " seat" : " seats",
            " of clique ", reservation.clique, " for domain ", uid,
            reservation.leaving.empty() ? "" : cat(" instead of ", reservation.leaving)));
  }
  for (const auto& [uid, reservation] : before.by_domain) {
    if (!after.by_domain.contains(uid))
      changes.push_back(cat("end the reservation of domain ", uid));
  }
  return base::join(changes, "; ");
}

template <class T>
std::string_view kind() {
  return api::kind_of<T>().kind;
}

std::string purpose_of(const api::ComputeDomain& object) {
  return cat(" for ", object.spec.workload ? api::to_string(*object.spec.workload) : "a workload");
}
std::string purpose_of(const api::ResourceClaimTemplate& object) { return clique_of(object); }

template <class T>
const char* verb(const Write<T>& a) {
  return a.current.uid.empty() ? "create" : "rewrite";
}

struct ActionText {
  template <class T>
  std::string operator()(const Create<T>& a) const {
    return cat("create ", kind<T>(), " ", named(a.object.meta), purpose_of(a.object));
  }
  std::string operator()(const WriteNodeList& a) const {
    return cat(verb(a), " the node list ", named(a.desired.meta));
  }
  std::string operator()(const WriteSharedSlice& a) const {
    return cat(verb(a), " ResourceSlice ", a.desired.meta.name, " of clique ", a.desired.clique);
  }
  std::string operator()(const WriteCliqueObject& a) const {
    return cat(verb(a), " ComputeDomainClique ", named(a.desired.meta), " of ",
               a.desired.daemons.size(), a.desired.daemons.size() == 1 ? " daemon" : " daemons");
  }
  template <class T>
  std::string operator()(const Remove<T>& a) const {
    return cat("delete ", kind<T>(), " ", named(a.object));
  }
  std::string operator()(const RemoveNodeList& a) const {
    return cat("remove node list ", named(a.object));
  }
  std::string operator()(const AddFinalizer& a) const {
    return cat("add the finalizer to ComputeDomain ", named(a.domain));
  }
  std::string operator()(const RemoveFinalizer& a) const {
    return cat("remove the finalizer from ComputeDomain ", named(a.domain));
  }
  std::string operator()(const SetStatus& a) const {
    const api::Condition* ready = api::find_condition(a.status.conditions, "Ready");
    return cat("set the status of ComputeDomain ", named(a.domain), ": ",
               a.status.ready ? "Ready " : "NotReady ", a.status.ready_nodes,
               ready == nullptr ? "" : cat(" (", ready->reason, ": ", ready->message, ")"));
  }
  std::string operator()(const SetOwners& a) const {
    return cat("set the owners of ComputeDomain ", named(a.domain), ": ", a.owners.size());
  }
  std::string operator()(const ReadPods& a) const {
    return cat("read the ", a.with_specs ? "pods" : "metadata of the pods", " of namespace ", a.ns);
  }
  std::string operator()(const ReadJob& a) const {
    return cat("read Job ", api::to_string(a.name));
  }
  std::string operator()(const ReplaceTemplate& a) const {
    return cat("delete ResourceClaimTemplate ", named(a.current), " and create it again",
               clique_of(a.object));
  }
  std::string operator()(const AdoptTemplate& a) const {
    return cat("make ResourceClaimTemplate ", named(a.current), " the ComputeDomain's own");
  }
  std::string operator()(const WriteReservations& a) const { return reservations_text(a); }
  std::string operator()(const RecordEvent& a) const {
    return cat("record ", a.type, " event ", a.reason, " on ", a.involved.kind, " ",
               api::to_string(api::ObjectName{a.involved.ns, a.involved.name}), ": ", a.message);
  }
  std::string operator()(const EnsureTemplateAbsent& a) const {
    return cat("delete ResourceClaimTemplate ", api::to_string(a.name), " and see that it is gone");
  }
  std::string operator()(const EnsureNodeListsAbsent& a) const {
    return cat("delete the node lists of domain ", a.domain_uid, " and see that they are gone");
  }
  std::string operator()(const EnsureDomainGone& a) const {
    return cat("see that there is no ComputeDomain with UID ", a.uid);
  }
  std::string operator()(const EnsureDomainLives& a) const {
    return cat("see that ComputeDomain ", api::to_string(a.name), " is there still");
  }
  std::string operator()(const EnsureClaimsReleased& a) const {
    return cat("see that no claim of domain ", a.domain_uid, " is in use");
  }
  std::string operator()(const EnsurePredecessorGone& a) const {
    return cat("delete what the reference driver has left of domain ", a.domain_uid,
               " and see that it is gone");
  }
  std::string operator()(const EnsureNodeGone& a) const {
    return cat("see that there is no Node ", a.node);
  }
  std::string operator()(const MarkReport& a) const {
    if (!a.stale) return cat("believe ComputeDomainNode ", a.report.name, " again");
    return cat("mark ComputeDomainNode ", a.report.name, " as stale (", a.stale->reason, ": ",
               a.stale->message, ")");
  }
  std::string operator()(const LabelNode& a) const {
    if (!a.clique) return cat("remove the clique label from Node ", a.node.name);
    return cat("label Node ", a.node.name, " with clique ", *a.clique);
  }
  std::string operator()(const EnsureNodeUnused& a) const {
    return cat("see that no claim is in use on Node ", a.node);
  }
  std::string operator()(const LabelForAgents& a) const {
    return cat(a.has_agent ? "add the agent label to Node " : "remove the agent label from Node ",
               a.node.name);
  }
  std::string operator()(const TellPause& a) const {
    return cat("tell the agent of node ", a.report.name, ": ",
               a.pause.empty() ? "neither cordoned nor paused" : a.pause);
  }
  std::string operator()(const UnmarkNode& a) const {
    return cat("leave the clique label of Node ", a.node.name, " to its other writer");
  }
};

}  // namespace

RecordEvent event_on(api::ObjectReference involved, Reason reason, std::string message) {
  return {std::move(involved), reason.event() == EventType::Normal ? "Normal" : "Warning",
          std::string(reason.name()), std::move(message)};
}

std::string to_string(const Action& action) { return std::visit(ActionText{}, action); }

}  // namespace cdom::core
