#include "node_check/main/check_command.h"

#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <utility>

#include "compute_domain/base/ranges.h"
#include "compute_domain/node_check/findings.h"

namespace cdom::program {

std::vector<cli::Flag> rows_of(CheckFlags& flags) {
  using namespace cli;  // NOLINT(google-build-using-namespace): the words of a row
  return {
      {"host-root", "", path(flags.host_root, "DIR"),
       "the node's root as this container sees it, for `check`; without it the driver root, where "
       "that is a whole system with a kubelet",
       "check"},
      {"imex-channels", "IMEX_CHANNELS", number<std::int64_t>(flags.channels, 2, base::kRangesEnd),
       "IMEX channels that each node's driver must have (NVreg_ImexChannelCount), as many as the "
       "controller gives: for `check`, and for agents that isolate by channel",
       "check"},
      {"output,o", "", choice(flags.output, "FORMAT", {"text", "json"}),
       "how `check` prints; json is for programs", "check"},
      {"stay", "", duration(flags.stay),
       "how long `check` goes on after it has printed, so that in a Job with a pod per node no pod "
       "ends before the last one has its node",
       "check"},
  };
}

int run_check(const CheckFlags& flags, node_check::Places places,
              std::optional<node_check::Fabric> fabric, const std::stop_token& stop) {
  places.host_root = flags.host_root;
  places.wanted_channels = flags.channels;
  node_check::NodeFacts facts = node_check::gather(places);
  facts.fabric = std::move(fabric);
  const auto findings = node_check::judge(facts);
  const std::string text = flags.output == "json" ? node_check::json_of(places.node, findings)
                                                  : node_check::table_of(places.node, findings);
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any().wait_for(lock, stop, flags.stay, [] { return false; });
  return node_check::exit_code_of(findings);
}

}  // namespace cdom::program
