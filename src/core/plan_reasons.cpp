#include "compute_domain/core/plan_reasons.h"

namespace cdom::core {

namespace {

struct ActionReason {
  std::string_view operator()(const AddFinalizer&) const {
    return "it must not go before its template and its node lists have";
  }
  std::string_view operator()(const RemoveFinalizer&) const {
    return "it is being deleted, and nothing of it is left";
  }
  std::string_view operator()(const SetStatus&) const { return "the status says something else"; }
  std::string_view operator()(const CreateDomain&) const {
    return "pods of this workload have claims that name no ComputeDomain";
  }
  std::string_view operator()(const SetOwners&) const {
    return "it ends with what its pods belong to now";
  }
  std::string_view operator()(const DeleteDomain&) const {
    return "it was created for a workload, has no owner, and no claim is left";
  }
  std::string_view operator()(const ReadPods&) const {
    return "a claim says only which pod it is for, not which workload or node";
  }
  std::string_view operator()(const ReadJob&) const {
    return "the Job says how many nodes its domain needs, and who owns it";
  }
  std::string_view operator()(const CreateTemplate&) const {
    return "spec.channel asks for it, and pods name it to get a seat";
  }
  std::string_view operator()(const ReplaceTemplate&) const {
    return "claims made from it would ask for another clique, and its spec is immutable";
  }
  std::string_view operator()(const AdoptTemplate&) const {
    return "the reference driver made it for this domain, and is not there any more";
  }
  std::string_view operator()(const WriteReservations&) const {
    return "no two domains may be given the same seats";
  }
  std::string_view operator()(const WriteNodeList&) const {
    return "agents prepare the claims that it admits, and configure IMEX by it";
  }
  std::string_view operator()(const RemoveNodeList&) const { return "no daemon serves the clique"; }
  std::string_view operator()(const RecordEvent& action) const {
    const auto reason = Reason::find(action.reason);
    return reason ? reason->row().means : "`kubectl describe` shows it";
  }
  std::string_view operator()(const EnsureTemplateAbsent&) const {
    return "its domain does not want it, or is being deleted: no new claim must be made of it";
  }
  std::string_view operator()(const EnsureNodeListsAbsent&) const {
    return "its domain is gone or is being deleted, and no claim is in use";
  }
  std::string_view operator()(const EnsureDomainGone&) const {
    return "that a cache does not show it proves nothing";
  }
  std::string_view operator()(const EnsureDomainLives&) const {
    return "that a cache still shows it proves nothing";
  }
  std::string_view operator()(const EnsureClaimsReleased&) const {
    return "containers that use a claim must not lose their domain";
  }
  std::string_view operator()(const EnsurePredecessorGone&) const {
    return "a domain has one driver at a time";
  }
  std::string_view operator()(const EnsureNodeGone&) const {
    return "that a cache does not show it proves nothing";
  }
  std::string_view operator()(const MarkReport&) const {
    return "an old report must not be taken for the node's state";
  }
  std::string_view operator()(const DeleteReport&) const {
    return "its Node is gone, and no node list names it";
  }
  std::string_view operator()(const LabelNode&) const {
    return "the node publishes another clique";
  }
  std::string_view operator()(const UnmarkNode&) const {
    return "the label is not this operator's";
  }
  std::string_view operator()(const EnsureNodeUnused&) const {
    return "the agent must stay while a claim may be in use on its node";
  }
  std::string_view operator()(const LabelForAgents&) const {
    return "DaemonSets select the nodes of agents by this label";
  }
  std::string_view operator()(const TellPause&) const {
    return "its Node says so, and the GPU driver cannot be replaced while it is in use";
  }
  std::string_view operator()(const WriteSharedSlice&) const {
    return "nodes of the clique share claims";
  }
  std::string_view operator()(const RemoveSharedSlice&) const {
    return "the clique has no node left";
  }
  std::string_view operator()(const WriteCliqueObject&) const {
    return "tools of the reference driver read the domain's daemons there";
  }
  std::string_view operator()(const RemoveCliqueObject&) const {
    return "the domain has no daemon in the clique";
  }
};

}  // namespace

std::string reason_for(const Action& action) {
  return std::string(std::visit(ActionReason{}, action));
}

}  // namespace cdom::core
