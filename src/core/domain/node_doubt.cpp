#include "core/domain/node_doubt.h"

#include <algorithm>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"

namespace cdom::core {

namespace {

using base::cat;

// How the slot of a node that is not there is freed.
std::string fencing_text(const NodeView* view, const std::string& node) {
  std::string text = "there is no such Node; if its machine is off for good, delete its pods";
  if (view == nullptr || !view->report) return text;
  const std::string& boot = view->report->status.boot_id;
  if (!boot.empty() && view->report->meta.annotation(api::kFencedAnnotation) == boot) {
    return "there is no such Node, and it is fenced; delete its pods";
  }
  return cat(text, " and fence it: kubectl annotate cdn ", node, " --overwrite ",
             api::kFencedAnnotation, "=", base::is_dns_label(boot) ? boot : "<its status.bootID>");
}

// Of a Node whose kubelet is silent.
// https://kubernetes.io/docs/concepts/cluster-administration/node-shutdown/
std::string silence_text(const api::Node& node) {
  if (std::ranges::find(node.taints, api::kOutOfServiceTaint, &api::Taint::key) !=
      node.taints.end()) {
    return cat("its kubelet has stopped answering, and it is tainted ", api::kOutOfServiceTaint,
               ": its pods end; take the taint away when the machine is back");
  }
  return cat(
      "its kubelet has stopped answering; check the machine; if it is off for good, taint "
      "the Node ",
      api::kOutOfServiceTaint,
      "=nodeshutdown:NoExecute, which ends its pods too; take the taint away when the "
      "machine is back");
}

}  // namespace

std::optional<NodeDoubt> doubt_of(const NodeView* view, const std::string& node,
                                  base::Duration agent_grace, bool was_without_agent) {
  if (view == nullptr || !view->node) {
    return NodeDoubt{"NodeUnknown", fencing_text(view, node)};
  }
  if (view->node->ready == api::ConditionStatus::Unknown) {
    return NodeDoubt{"NodeUnknown", silence_text(*view->node)};
  }
  if (!view->report) return std::nullopt;
  const std::string& boot = view->node->boot_id;
  const std::string& reported = view->report->status.boot_id;
  if (!boot.empty() && !reported.empty() && boot != reported) {
    return NodeDoubt{"NodeRebooted",
                     "it has rebooted and its agent has not reported since; check the "
                     "compute-domain-agent pod there"};
  }
  const bool is_without_agent = view->agent && !view->agent->ready;
  if (is_without_agent && (was_without_agent || !agent_grace_left(*view, agent_grace))) {
    return NodeDoubt{"AgentUnknown",
                     "its agent is not ready, so what its IMEX daemon does is not known; check the "
                     "compute-domain-agent pod there"};
  }
  return std::nullopt;
}

std::optional<base::Duration> agent_grace_left(const NodeView& view, base::Duration agent_grace) {
  if (!view.agent || view.agent->ready) return std::nullopt;
  const base::Duration left = agent_grace - view.agent->lasts;
  if (left <= base::Duration::zero()) return std::nullopt;
  return left;
}

}  // namespace cdom::core
