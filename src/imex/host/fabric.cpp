#include "compute_domain/imex/fabric.h"

#include <thread>
#include <utility>

#include "imex/host/fabric_line.h"
#include "imex/host/fabric_watch.h"

namespace cdom::imex {

namespace {

constexpr base::Duration kPoll = std::chrono::milliseconds(20);

}  // namespace

void print_fabric_lines(const nvidia::NvmlOptions& options, std::FILE* out) {
  const auto print = [out](const Line& line) {
    std::fputs(encode_line(line).c_str(), out);
    std::fflush(out);  // the next call may be the last
  };
  const nvidia::FabricFacts facts = nvidia::ask_nvml(options, [&](const std::string& call) {
    Line line{kCallVerb, {}};
    print(line.with("name", call));
  });
  print(line_of(facts));
}

std::optional<nvidia::FabricFacts> read_fabric(std::vector<std::string> command,
                                               const std::stop_token& stop) {
  const base::SystemClock clock;
  FabricWatch watch({.command = std::move(command)}, clock);
  while (!watch.step()) {
    if (stop.stop_requested()) return std::nullopt;
    std::this_thread::sleep_for(kPoll);
  }
  return watch.facts();
}

}  // namespace cdom::imex
