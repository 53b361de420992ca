#include "node_check/main/check_command.h"

#include <boost/program_options/value_semantic.hpp>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <utility>

#include "cli/duration_flag.h"
#include "compute_domain/base/text.h"
#include "compute_domain/node_check/findings.h"

namespace cdom::program {

namespace po = boost::program_options;
using base::cat;

namespace {
// NVreg_ImexChannelCount has 20 bits.
constexpr std::int64_t kMostChannels = std::int64_t{1} << 20;
}  // namespace

void add_check_options(CheckFlags& flags, po::options_description& options) {
  options.add_options()(
      "host-root", po::value(&flags.host_root),
      "the node's root as this container sees it, for `check`; without it the driver root, where "
      "that is a whole system with a kubelet")(
      "imex-channels", po::value(&flags.channels)->default_value(flags.channels),
      "that each node's driver has to have (NVreg_ImexChannelCount), for `check` (IMEX_CHANNELS)")(
      "output,o", po::value(&flags.output)->default_value(flags.output),
      "of `check`: text, or json for programs")("stay",
                                                po::value(&flags.stay)->default_value(flags.stay),
                                                "how long `check` goes on after it has printed: of "
                                                "a Job with a pod per node no pod ends before "
                                                "the last one has its node");
}

std::vector<std::string> check_flag_names() {
  return {"host-root", "imex-channels", "output", "stay"};
}

std::string check_flag_of_variable(const std::string& name) {
  return name == "IMEX_CHANNELS" ? "imex-channels" : "";
}

std::string mistake_in(const CheckFlags& flags) {
  if (!flags.host_root.empty() && !flags.host_root.starts_with('/')) {
    return cat("--host-root: \"", flags.host_root, "\" is not an absolute path");
  }
  if (flags.channels < 1 || flags.channels > kMostChannels) {
    return cat("--imex-channels: ", flags.channels, " is not from 1 to ", kMostChannels);
  }
  if (flags.output != "text" && flags.output != "json") {
    return cat("--output: \"", flags.output, "\" is neither text nor json");
  }
  if (!cli::duration_of_flag(flags.stay)) {
    return cat("--stay: \"", flags.stay, "\" is not a duration such as 30s");
  }
  return "";
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
  const base::Duration stay = cli::duration_of_flag(flags.stay).value_or(base::Duration::zero());
  std::condition_variable_any().wait_for(lock, stop, stay, [] { return false; });
  return node_check::exit_code_of(findings);
}

}  // namespace cdom::program
