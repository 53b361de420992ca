// What nvidia-imex-ctl says, and what it means. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "compute_domain/base/result.h"

namespace cdom::imex {

struct ToolAnswer {
  enum class Outcome {
    Answer,
    Refusal,  // exited with an error, or is no program that runs here
    Silence,  // did not end in time
    Unasked,  // could not be started for a lack of ours, of processes, files or memory; of our own
              // daemon also where it is no program that runs here, or cannot be loaded
  };
  Outcome outcome = Outcome::Silence;
  std::string text;  // what it printed, or why it could not start
  bool has_run = true;
  int exit_code = 0;
};

// What the dynamic loader says of a program that it has given up, whose own code can have said
// nothing by that; nullopt: it was not the loader.
std::optional<std::string> loader_complaint(const ToolAnswer& answer);

// The states of a daemon that `nvidia-imex-ctl -q` prints (NVIDIA/DCGM, DcgmImexManager).
enum class ReportedState {
  Initializing,
  StartingAuthServer,
  WaitingForPeers,
  WaitingForRecovery,
  InitGpu,
  Ready,
  ShuttingDown,
};
// Reads the output of -q: of its lines that are a single word in capitals the last one is one of
// the states. Unavailable: it is none of them, or the tool could not reach the daemon
// (UNAVAILABLE).
base::Result<ReportedState> reported_state(const std::string& text);

// What -N -j tells of one node.
struct NodeView {
  std::map<std::int64_t, char> letters;  // of its connections, by index, without its own
  bool is_ready = false;                 // its row says READY
};
// Reads what the node with this index sees. Invalid: the text is not such JSON.
base::Result<NodeView> node_view(const std::string& text, std::int64_t own_index);

}  // namespace cdom::imex
