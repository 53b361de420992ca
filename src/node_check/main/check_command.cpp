#include "node_check/main/check_command.h"

#include <utility>

#include "cli/command_line.h"
#include "compute_domain/base/pause.h"
#include "compute_domain/base/ranges.h"
#include "compute_domain/node_check/findings.h"

namespace cdom::program {

int run_check(const std::string& program, const NodeFlags& flags, node_check::Places places,
              std::optional<node_check::Fabric> fabric, const std::stop_token& stop) {
  places.wanted_channels = flags.channels;
  node_check::NodeFacts facts = node_check::gather(places);
  facts.fabric = std::move(fabric);
  const auto findings = node_check::judge(facts);
  const std::string text = flags.output == "json" ? node_check::json_of(places.node, findings)
                                                  : node_check::table_of(places.node, findings);
  const int code =
      cli::print(program, text, node_check::has_failure(findings) ? cli::kFoundWrong : 0);
  base::pause(stop, flags.stay);
  return code;
}

}  // namespace cdom::program
