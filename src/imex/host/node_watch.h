// NodeWatch: what the node lacks, by a process that looks (`compute-domain-imex check --lines`).
//
// It looks at other processes and at files of the node, which may hang: then that process is
// killed, and what was known stays. It looks first when an agent is connected. One thread; nothing
// waits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/daemon_status.h"
#include "imex/process/control_tool.h"

namespace cdom::imex {

struct NodeWatchOptions {
  // Prints the lines of imex/host/lack_line.h; empty: nobody looks, and nothing is ever lacking.
  std::vector<std::string> command;
  // After a look that has brought news or has not come to its end; then twice as long each time.
  base::Duration shortest = std::chrono::seconds(10), longest = std::chrono::minutes(5);
  base::Duration confirmation = std::chrono::seconds(3);  // from a look with news to the second
  base::Duration patience = std::chrono::seconds(30);     // with one process
};

class NodeWatch {
 public:
  NodeWatch(NodeWatchOptions options, const base::Clock& clock);

  // An agent has come, with its CDI files in this folder of the node ("": that by default): it is
  // looked at once, for this folder from now on.
  void look_for(const std::string& cdi_root);
  // So many are connected: what is found counts only if it stays so meanwhile.
  void see_agents(std::int64_t count) { agents_ = count; }
  // Whether persistence mode is on for every GPU, which only NVML knows: it is looked at once when
  // that has changed.
  void see_persistence(bool is_on);
  // Nothing is looked at any more, and what was under way is killed.
  void end();
  // Starts what is due and takes what has come; whether what is lacking has changed. Each lack is
  // logged once, and its end.
  bool step();
  // nullopt until the first look. What is other than before has been found twice in a row, as an
  // agent that comes or goes is for a moment not connected and listens.
  [[nodiscard]] const std::optional<std::vector<base::NodeLack>>& lacks() const { return lacks_; }

  [[nodiscard]] std::optional<base::Duration> next_due() const;
  // Its descriptors are polled by the caller.
  [[nodiscard]] const ControlTool& process() const { return process_; }

 private:
  const NodeWatchOptions options_;
  const base::Clock& clock_;
  ControlTool process_;
  std::optional<std::string> cdi_root_;
  base::Duration due_{}, interval_;
  bool has_ended_ = false;
  std::int64_t agents_ = 0, asked_agents_ = 0;
  bool is_persistent_ = false;
  std::optional<std::vector<base::NodeLack>> lacks_, found_;  // reported, and by the last look
};

}  // namespace cdom::imex
