#include "compute_domain/core/node_plan.h"

#include "compute_domain/base/text.h"

namespace cdom::core {

namespace {

using base::cat;

struct IntentText {
  std::string operator()(const WriteCheckpoint& i) const {
    return cat("write the checkpoint (", i.checkpoint.claims.size(),
               i.checkpoint.claims.size() == 1 ? " claim)" : " claims)");
  }
  std::string operator()(const WriteHosts& i) const {
    return cat("write the hosts file ", i.revision);
  }
  std::string operator()(const ForgetImporters& i) const {
    return cat("remove the record of importers of IMEX group ", i.group);
  }
  std::string operator()(const StartDaemon& i) const {
    return cat("start the daemon of IMEX group ", i.group, " in slot ", i.slot);
  }
  std::string operator()(const SignalDaemon&) const { return "send SIGUSR1 to the IMEX daemon"; }
  std::string operator()(const StopDaemon& i) const {
    return i.has_ended ? "keep the IMEX daemon that has ended from starting again"
                       : "stop the IMEX daemon";
  }
  std::string operator()(const PauseDriver& i) const {
    return i.is_paused ? "have NVML asked no more" : "have NVML asked again";
  }
  std::string operator()(const WriteCdi& i) const {
    return cat("inject ", i.channels.count,
               i.channels.count == 1 ? " channel from " : " channels from ", i.channels.first,
               " for claim ", to_string(i.claim));
  }
  std::string operator()(const RemoveCdi& i) const {
    return cat("remove the channels of claim ", i.claim_uid);
  }
  std::string operator()(const AnswerPrepared& i) const {
    return cat("answer that claim ", i.claim_uid, " is prepared");
  }
  std::string operator()(const AnswerFailed& i) const {
    return cat("answer that claim ", i.claim_uid, " failed: ", i.error);
  }
  std::string operator()(const AnswerUnprepared& i) const {
    return cat("answer that claim ", i.claim_uid, " is unprepared");
  }
  std::string operator()(const PublishReport& i) const {
    return cat(i.current.uid.empty() ? "create" : "update", " ComputeDomainNode ", i.current.name);
  }
  std::string operator()(const PublishSlice& i) const {
    return cat(i.slice.meta.uid.empty() ? "create" : "update", " ResourceSlice ", i.slice.meta.name,
               " with ", i.slice.devices.size(), " devices");
  }
  std::string operator()(const RemoveSlice& i) const {
    return cat("delete ResourceSlice ", i.slice.name);
  }
  std::string operator()(const LookUpClaim& i) const {
    return cat("read ResourceClaim ", to_string(i.claim));
  }
  std::string operator()(const LookUpPeer& i) const {
    return cat("read Node and ComputeDomainNode ", i.node);
  }
  std::string operator()(const LookUpList& i) const {
    return cat("read the node list of IMEX group ", i.group);
  }
  std::string operator()(const LookUpDomains& i) const {
    return cat("list the ComputeDomains of namespace ", i.ns);
  }
};

}  // namespace

std::string to_string(const ClaimRef& claim) {
  return claim.name.empty() ? claim.uid : cat(claim.ns, "/", claim.name);
}

std::string to_string(const NodeIntent& intent) { return std::visit(IntentText{}, intent); }
std::string to_string(const ServerIntent& intent) { return std::visit(IntentText{}, intent); }

std::string cdi_device_id(const std::string& claim_uid) {
  return cat("k8s.compute-domain.nvidia.com/claim=", claim_uid, "-channel-0");
}

}  // namespace cdom::core
