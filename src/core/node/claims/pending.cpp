#include "core/node/claims/pending.h"

#include <map>

namespace cdom::core {

std::vector<api::PendingClaim> pending_claims(NodeDraft& draft) {
  const NodeWorld& world = draft.world;
  // A refusal stands until the claim is prepared: kubelet asks again, and the wait begins anew.
  std::map<std::string, std::string> reasons = world.refused;
  for (const WantedClaim& wanted : world.prepares) {
    const std::string& uid = wanted.claim.uid;
    const auto wait = draft.plan.waits.find(uid);
    if (wait == draft.plan.waits.end()) continue;
    const base::Duration due = wanted.since + world.times.pending_notice;
    if (world.elapsed >= due) {
      // Only an answer tells more than the refusal, which may well come again.
      if (!draft.asking.contains(uid)) reasons.erase(uid);
      reasons.try_emplace(uid, wait->second);
    } else {
      draft.look_again_at(due);
    }
  }
  for (const NodeIntent& intent : draft.plan.on_node) {
    if (const auto* failed = std::get_if<AnswerFailed>(&intent)) {
      reasons[failed->claim_uid] = failed->reason;
    } else if (const auto* prepared = std::get_if<AnswerPrepared>(&intent)) {
      reasons.erase(prepared->claim_uid);
    }
  }
  std::vector<api::PendingClaim> pending;
  pending.reserve(reasons.size());
  for (auto& [uid, reason] : reasons) {
    pending.push_back({uid, std::move(reason)});
  }
  return pending;
}

}  // namespace cdom::core
