#include "core/node/boot.h"

namespace cdom::core {

bool has_rebooted(const NodeWorld& world) {
  return !world.checkpoint.boot_id.empty() && world.checkpoint.boot_id != world.self.boot_id;
}

void forget_earlier_boot(NodeDraft& draft) {
  const NodeWorld& world = draft.world;
  for (const auto& [uid, claim] : draft.checkpoint.claims) draft.add(RemoveCdi{uid});
  const bool was_served = draft.checkpoint.served.has_value();
  if (was_served && is_running_for(world.daemon, *draft.checkpoint.served)) draft.add(StopDaemon{});
  draft.checkpoint = {};
  draft.checkpoint.boot_id = world.self.boot_id;
  draft.save_checkpoint();
}

void serve_clique(NodeDraft& draft) {
  Checkpoint& checkpoint = draft.checkpoint;
  const std::optional<std::string>& now = draft.world.fabric.clique;
  if (!now || checkpoint.clique == now) return;
  const auto& daemon = draft.world.daemon;
  const bool in_use =
      !checkpoint.claims.empty() || checkpoint.served || (daemon && daemon->running);
  if (checkpoint.clique && in_use) return;
  checkpoint.boot_id = draft.world.self.boot_id;
  checkpoint.clique = now;
  draft.save_checkpoint();
}

void take_over_daemon(NodeDraft& draft) {
  const NodeWorld& world = draft.world;
  if (draft.checkpoint.served || !world.daemon || !world.daemon->running) return;
  const DaemonView& daemon = *world.daemon;
  const SeenList* seen = find_seen_list(world, daemon.group);
  if (seen == nullptr || api::table_hash(*seen->stored.list) != daemon.table_hash) return;
  if (world.report.objects.empty()) return;
  const api::ComputeDomainNodeReport& report = world.report.objects.front().status;
  const api::GroupReport* said = api::find_group(report, daemon.group);
  if (report.boot_id != world.self.boot_id || said == nullptr || said->claims.empty()) return;

  draft.checkpoint.served = ServedGroup{.group = daemon.group,
                                        .slots = seen->stored.list->slots,
                                        .slot = daemon.slot,
                                        .term = said->term,
                                        .started = true,
                                        .peers = {}};
  for (const std::string& uid : said->claims) {
    // Names and devices are not known; a Prepare finds them again.
    draft.checkpoint.claims.try_emplace(uid, PreparedClaim{.claim = {"", "", uid},
                                                           .phase = ClaimPhase::Started,
                                                           .group = daemon.group,
                                                           .channels = {},
                                                           .seats = {},
                                                           .admin_access = false});
  }
  draft.save_checkpoint();
}

}  // namespace cdom::core
