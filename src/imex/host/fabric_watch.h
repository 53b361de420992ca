// FabricWatch: what the node's GPUs say about their NVLink fabric, by a process that asks NVML.
//
// A call into the GPU driver may never return, and may crash: then that process is killed or gone,
// and the facts are the error, with the call. The next one asks when the last has ended. Where no
// process can be started, the facts that there are stand. One thread; nothing waits.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compute_domain/base/clock.h"
#include "compute_domain/nvidia/fabric_facts.h"
#include "imex/process/control_tool.h"

namespace cdom::imex {

struct FabricWatchOptions {
  // Prints the lines of imex/fabric_line.h; empty: nothing is asked, and there are never facts.
  std::vector<std::string> command;
  base::Duration refresh = std::chrono::minutes(1);
  base::Duration retry = std::chrono::seconds(5);      // where a GPU has an error or has not joined
  base::Duration patience = std::chrono::seconds(10);  // with one process
};

class FabricWatch {
 public:
  FabricWatch(FabricWatchOptions options, const base::Clock& clock);

  // Starts what is due and takes what has come; whether the facts have changed.
  bool step();
  // Nothing is asked while it is paused, and what was under way is killed; then it is asked at
  // once.
  void pause(bool is_paused);
  [[nodiscard]] bool is_paused() const { return is_paused_; }
  // Nothing is asked any more, and what was under way is killed.
  void end();
  // nullopt until the first answer.
  [[nodiscard]] const std::optional<nvidia::FabricFacts>& facts() const { return facts_; }

  [[nodiscard]] std::optional<base::Duration> next_due() const;
  // Its descriptors are polled by the caller.
  [[nodiscard]] const ControlTool& process() const { return process_; }

 private:
  [[nodiscard]] nvidia::FabricFacts facts_in(const ToolAnswer& answer) const;

  const FabricWatchOptions options_;
  const base::Clock& clock_;
  ControlTool process_;
  base::Duration due_;
  bool is_paused_ = false, has_ended_ = false;
  std::optional<nvidia::FabricFacts> facts_;
};

}  // namespace cdom::imex
