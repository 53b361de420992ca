#include "compute_domain/core/plan_reasons.h"

namespace cdom::core {

namespace {

struct ActionReason {
  const char* operator()(const AddFinalizer&) const {
    return "it must not go before its template and its node lists have";
  }
  const char* operator()(const RemoveFinalizer&) const {
    return "it is being deleted, and nothing of it is left";
  }
  const char* operator()(const SetStatus&) const { return "the status says something else"; }
  const char* operator()(const CreateDomain&) const {
    return "pods of this workload have claims that name no ComputeDomain";
  }
  const char* operator()(const SetOwners&) const {
    return "it ends with what its pods belong to now";
  }
  const char* operator()(const DeleteDomain&) const {
    return "it was created for a workload, has no owner, and no claim is left";
  }
  const char* operator()(const ReadPods&) const {
    return "a claim says only which pod it is for, not which workload or node";
  }
  const char* operator()(const ReadJob&) const {
    return "the Job says how many nodes its domain needs, and who owns it";
  }
  const char* operator()(const CreateTemplate&) const {
    return "spec.channel asks for it, and pods name it to get a seat";
  }
  const char* operator()(const ReplaceTemplate&) const {
    return "claims made from it would ask for another clique, and its spec is immutable";
  }
  const char* operator()(const AdoptTemplate&) const {
    return "the reference driver made it for this domain, and is not there any more";
  }
  const char* operator()(const WriteLedger&) const {
    return "no two domains may be given the same seats";
  }
  const char* operator()(const WriteNodeList&) const {
    return "agents prepare the claims that it admits, and configure IMEX by it";
  }
  const char* operator()(const RemoveNodeList&) const { return "no daemon serves the clique"; }
  const char* operator()(const RecordEvent&) const {
    return "`kubectl describe` and `kubectl get events` show it to people";
  }
  const char* operator()(const EnsureTemplateAbsent&) const {
    return "its domain does not want it, or is being deleted: no new claim must be made of it";
  }
  const char* operator()(const EnsureNodeListsAbsent&) const {
    return "its domain is gone or is being deleted, and no claim is in use";
  }
  const char* operator()(const EnsureDomainGone&) const {
    return "that a cache does not show it proves nothing";
  }
  const char* operator()(const EnsureClaimsReleased&) const {
    return "containers that use a claim must not lose their domain";
  }
  const char* operator()(const EnsurePredecessorGone&) const {
    return "a domain has one driver at a time";
  }
  const char* operator()(const EnsureNodeGone&) const {
    return "that a cache does not show it proves nothing";
  }
  const char* operator()(const MarkReport&) const {
    return "nobody shall take an old report for the node's state";
  }
  const char* operator()(const DeleteReport&) const {
    return "its Node is gone, and no node list names it";
  }
  const char* operator()(const LabelNode&) const { return "the node publishes another clique"; }
  const char* operator()(const UnmarkNode&) const { return "the label is not this operator's"; }
  const char* operator()(const EnsureNodeUnused&) const {
    return "the agent must stay while a claim may be in use on its node";
  }
  const char* operator()(const LabelForAgents&) const {
    return "DaemonSets select the nodes of agents by this label";
  }
  const char* operator()(const TellPause&) const {
    return "its Node says so, and the GPU driver cannot be replaced while it is in use";
  }
  const char* operator()(const WriteSharedSlice&) const {
    return "nodes of the clique share claims";
  }
  const char* operator()(const RemoveSharedSlice&) const { return "the clique has no node left"; }
};

}  // namespace

std::string reason_for(const Action& action) { return std::visit(ActionReason{}, action); }

}  // namespace cdom::core
