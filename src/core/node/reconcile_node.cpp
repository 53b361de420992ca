#include "compute_domain/core/reconcile_node.h"

#include "core/node/boot.h"
#include "core/node/claims/ending.h"
#include "core/node/claims/prepare.h"
#include "core/node/daemon/ahead.h"
#include "core/node/daemon/daemon.h"
#include "core/node/daemon/pause.h"
#include "core/node/daemon/recovery.h"
#include "core/node/draft.h"
#include "core/node/report/fabric_doubt.h"
#include "core/node/report/losses.h"
#include "core/node/report/report.h"
#include "core/node/report/slice.h"

namespace cdom::core {

NodePlan reconcile_node(const NodeWorld& world) {
  NodeDraft draft(world);
  if (has_rebooted(world)) {
    forget_earlier_boot(draft);
    return std::move(draft.plan);
  }
  // An older agent only notes what kubelet asks it for, and answers.
  const bool leads = is_newest_agent(world);
  if (leads) {
    doubt_fabric(draft);
    serve_clique(draft);
    take_over_daemon(draft);
    pause_driver(draft);
    doubt_claims(draft);
  }

  // What ends comes first: a group that has ended makes room for the next.
  end_claims(draft);
  if (leads) {
    serve_standing_group(draft);
    serve_ahead(draft);
    end_vain_recovery(draft);
  }
  begin_prepares(draft);
  if (leads) stop_what_has_ended(draft);
  if (leads) keep_daemon(draft);
  finish_prepares(draft);

  if (leads) {
    renew_files(draft);
    note_losses(draft);
    forget_stopped(draft);
    publish_report(draft);
    publish_slice(draft);
  }
  return std::move(draft.plan);
}

}  // namespace cdom::core
