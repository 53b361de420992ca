// Rig: nodes with a real supervisor each and stand-in daemons, on loopback addresses of this
// process.
//
// One thread steps all supervisors; a test waits for a condition, never for a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/directory.h"
#include "compute_domain/base/descriptor.h"
#include "compute_domain/imex/protocol.h"
#include "compute_domain/imex/supervisor.h"

namespace cdom::imex {

// Of a test, with what hangs: a disk that is busy with others' files may hold an answer up for
// seconds.
inline constexpr base::Duration kPatience = std::chrono::minutes(1);

// "127.10x.…": another for every process and index.
std::string loopback_address(int index);
// A driver root as public packages make it (stand_in/driver_roots), with the stand-ins for its
// programs, and with an /etc/hosts that is wrong.
void make_driver_root(const base::Directory& dir, const std::string& root,
                      const std::string& shape = "host");
// The program behaves as one whose loader complains so, from its next start on.
void make_unloadable(const std::string& program, const std::string& complaint);
// Children of this process that are daemons, in the order of their start.
std::vector<int> daemon_pids();

// A connection to a supervisor, as an agent has it.
class TestAgent {
 public:
  explicit TestAgent(const std::string& socket_path);
  void send(const std::string& text) const;
  // Takes what has come.
  void read();

  std::optional<Hello> hello;
  std::optional<DaemonStatus> state;  // the newest
  std::vector<DaemonStatus> states;   // all
  std::optional<nvidia::FabricFacts> fabric;
  std::optional<Reply> reply;  // the newest
  bool is_over = false;

 private:
  base::Descriptor socket_;
  LineBuffer in_;
};

class Node {
 public:
  // Options of the stand-in (STAND_IN_…) may be added before open().
  explicit Node(int index);

  base::Result<void> open();
  void close() { supervisor.reset(); }
  void connect();  // a new agent that watches

  int index;
  base::Directory dir;
  std::string address;
  SupervisorOptions options;
  base::SystemClock clock;
  std::unique_ptr<Supervisor> supervisor;
  std::unique_ptr<TestAgent> agent;
  std::uint64_t next_id = 1;
};

class Rig {
 public:
  // A table of `slots` names; a node for each of `nodes`, open and connected.
  explicit Rig(int nodes, int slots = 0);

  Node& node(int index) { return *nodes.at(static_cast<std::size_t>(index)); }
  [[nodiscard]] Want want(int index) const;
  [[nodiscard]] Hosts hosts() const;  // of all nodes
  // Sends it and waits for the answer.
  std::optional<base::Error> ask(Node& node, const Request& request);
  void start(int index);  // hosts, then want
  // Steps all supervisors until it holds; false after kPatience.
  template <class Condition>
  bool until(const Condition& holds) {
    const base::SystemClock clock;
    const base::Duration end = clock.elapsed() + kPatience;
    while (!holds()) {
      if (clock.elapsed() > end) return false;
      step();
    }
    return true;
  }
  bool until_phase(int index, DaemonPhase phase) {
    return until(
        [&] { return node(index).agent->state && node(index).agent->state->phase == phase; });
  }
  bool until_letter(int index, int peer, char letter);
  void step();

  int slots;
  std::vector<std::unique_ptr<Node>> nodes;
};

}  // namespace cdom::imex
