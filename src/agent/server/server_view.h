// ServerView: what the node knows of the API server: what the watches show, the answers to its
// questions, and the writes that are under way. An error is an answer. One thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/server/list_history.h"
#include "agent/server/pending_write.h"
#include "agent/server/unanswered_reports.h"
#include "compute_domain/agent/server_mail.h"
#include "compute_domain/base/clock.h"

namespace cdom::agent {

class ServerView {
 public:
  ServerView(const base::Clock& clock, std::string node)
      : clock_(clock), node_(std::move(node)), history_(clock) {}

  void take(const ServerResult& result);
  // Whether a report is on its way that has no result yet: the watch may show an older one.
  void report_is_sent(bool is_sent) { report_is_sent_ = is_sent; }
  // The clique whose lists count; whether it is another one.
  bool follow(const std::string& clique);
  // Drops the answers that are about none of these. Peers are asked about while the daemon
  // recovers; this node itself is not one of them.
  void keep_only(const core::Checkpoint& checkpoint, const std::vector<core::WantedClaim>& wanted,
                 bool is_recovering);
  void show(core::NodeWorld& world) const;
  // When a write that the watches have not shown is not waited for any more.
  [[nodiscard]] std::optional<base::Duration> writes_end() const;

 private:
  void see(const ClaimRead& result);
  void see(const PeerRead& result) { peers_[result.node] = result.reading; }
  void see(const ListRead& result) { old_lists_[result.group] = result.reading; }
  void see(const DomainsRead& result) { domains_[result.ns] = result.reading; }
  void see(const ReportWritten& result);
  void see(const ReportNotWritten& result);
  void see(const SliceWritten& result);
  void see(const SliceRemoved& result);
  void see(const SliceNotWritten& result);
  void see(const CarriedOut&) {}
  void see(const Watched<api::ComputeDomainNode>& shown);
  void see(const Watched<api::ResourceSlice>& shown) { slices_ = shown; }
  void see(const ListsFollowed& result);
  void see(const ListSeen& result) { history_.see(result.name, result.list); }
  void see(const ListsSynced&) { lists_synced_ = true; }

  [[nodiscard]] const api::ComputeDomainNode* shown_report() const;
  void note_unanswered(const core::PublishReport& write);

  const base::Clock& clock_;
  const std::string node_;
  std::map<std::string, core::ClaimReading> claims_;     // by UID
  std::map<std::string, core::PeerReading> peers_;       // by node
  std::map<std::string, core::ListReading> old_lists_;   // by group
  std::map<std::string, core::DomainsReading> domains_;  // by namespace
  std::optional<std::string> wanted_, clique_;           // asked for; watched
  bool lists_synced_ = false;
  ListHistory history_;
  Watched<api::ComputeDomainNode> report_;
  Watched<api::ResourceSlice> slices_;
  PendingWrite slice_write_, report_write_;
  bool report_is_sent_ = false;
  std::optional<api::ComputeDomainNode> stored_report_;  // by our last write that was answered
  UnansweredReports unanswered_;
  bool has_answer_ = false;  // to a report of this process
  std::optional<core::CutReport> cut_report_;
};

}  // namespace cdom::agent
