#include "compute_domain/core/reconcile_node.h"

#include "core/node/boot.h"
#include "core/node/daemon.h"
#include "core/node/draft.h"
#include "core/node/ending.h"
#include "core/node/prepare.h"
#include "core/node/recovery.h"
#include "core/node/report.h"
#include "core/node/slice.h"

namespace cdom::core {

NodePlan reconcile_node(const NodeWorld& world) {
  NodeDraft draft(world);
  if (has_rebooted(world)) {
    forget_earlier_boot(draft);
    return std::move(draft.plan);
  }
  serve_clique(draft);
  take_over_daemon(draft);

  // What ends comes first: a group that has ended makes room for the next.
  doubt_claims(draft);
  end_claims(draft);
  end_vain_recovery(draft);
  begin_prepares(draft);
  keep_daemon(draft);
  finish_prepares(draft);

  forget_stopped(draft);
  publish_report(draft);
  publish_slice(draft);
  return std::move(draft.plan);
}

}  // namespace cdom::core
