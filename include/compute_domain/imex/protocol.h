// The protocol between the IMEX supervisor and its agent: lines of text on a unix socket.
//
// A line is a verb and its fields, "want id=3 group=3f0e slot=2 …\n", values percent-encoded. Both
// sides may be of any version: an unknown field is ignored, an absent one has its default, and an
// unknown request is answered with Invalid. The supervisor says hello first, and answers requests
// in order; who is refused gets an error of id 0, and no more. An agent that sent "watch" gets its
// state and the node's fabric at once and at every change; what a request has changed comes before
// its answer.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/daemon_status.h"
#include "compute_domain/base/result.h"
#include "compute_domain/nvidia/fabric_facts.h"

namespace cdom::imex {

using base::DaemonPhase;
using base::DaemonStatus;

// Counts up when a field or verb changes its meaning; what is only added does not count. An agent
// speaks that of its supervisor where it is lower than its own, and says so in its hello. Who hears
// one above its own refuses the other.
inline constexpr std::int64_t kProtocolVersion = 1;

struct Hello {
  std::int64_t version = kProtocolVersion;
  std::string program;  // name and version, for logs
  friend bool operator==(const Hello&, const Hello&) = default;
};

// Have a daemon with this node table. Success also when it runs already; Conflict: another does.
struct Want {
  std::string group;
  std::int64_t slot = -1;  // of this node in the table
  std::string table_text, table_hash;
  std::string address;  // that the daemon binds
  friend bool operator==(const Want&, const Want&) = default;
};
// What the names of the table mean from now on.
struct Hosts {
  std::string text, revision;
  friend bool operator==(const Hosts&, const Hosts&) = default;
};
// SIGUSR1, as soon as the daemon can take it and 5 s after the last.
struct Signal {
  friend bool operator==(const Signal&, const Signal&) = default;
};
// SIGTERM, and no daemon until the next Want.
struct Stop {
  friend bool operator==(const Stop&, const Stop&) = default;
};
// Removes the record of importers for whom this group's daemon would wait. Conflict: a daemon runs.
struct Forget {
  std::string group;
  friend bool operator==(const Forget&, const Forget&) = default;
};
// Ask NVML no more, and end what asks it, as the GPU driver is about to go; or ask it again. The
// daemon is not concerned. Supervisors of before answer with Invalid, and tell no
// DaemonStatus::driver_paused.
struct PauseDriver {
  bool is_paused = false;
  friend bool operator==(const PauseDriver&, const PauseDriver&) = default;
};
struct Watch {
  std::string cdi_root;  // of the agent's CDI files, on the node; "": that by default
  // False: a person looks (`compute-domain-agent fabric`), who counts as no agent of this node.
  bool is_agent = true;
  friend bool operator==(const Watch&, const Watch&) = default;
};
// The answer's text is kubelet's record of claims (dra_manager_state), which only the supervisor
// may read.
struct ReadKubeletState {
  friend bool operator==(const ReadKubeletState&, const ReadKubeletState&) = default;
};
using Request =
    std::variant<Hello, Want, Hosts, Signal, Stop, Forget, PauseDriver, Watch, ReadKubeletState>;

struct Reply {
  std::uint64_t id = 0;
  std::optional<base::Error> error;
  std::string text = {};  // of what was asked for
  friend bool operator==(const Reply&, const Reply&) = default;
};
// The fabric comes once it is known; earlier supervisors never send it.
using Notice = std::variant<Hello, Reply, DaemonStatus, nvidia::FabricFacts>;

// Files beside the supervisor's socket.
//
// The mark that the supervisor and its daemon hold for as long as they live (base::LifeMark): when
// it is free neither runs. Supervisors of before had none.
std::string life_mark_of(const std::string& socket_path);
// An agent that finds no supervisor says here that no daemon is wanted any more: a supervisor that
// comes starts none, and takes the file away.
std::string withdrawal_of(const std::string& socket_path);

// Whole lines, with the line break.
std::string encode(std::uint64_t id, const Request& request);
// Moments travel as ages: `now` is on the clock of those in the notice.
std::string encode(const Notice& notice, base::Duration now = {});

struct NumberedRequest {
  std::uint64_t id = 0;  // 0 when the line has none
  base::Result<Request> request;
};
NumberedRequest decode_request(std::string_view line);
// nullopt: this version does not know the kind, and ignores it.
std::optional<Notice> decode_notice(std::string_view line, base::Duration now = {});

// Cuts what comes from a socket into lines.
class LineBuffer {
 public:
  void add(std::string_view bytes) { bytes_ += bytes; }
  // The next whole line, without its break.
  std::optional<std::string> next();
  // More bytes without a line break than any line of this protocol has: the sender is none of ours.
  [[nodiscard]] bool is_flooded() const { return bytes_.size() > kLongestLine; }

 private:
  static constexpr std::size_t kLongestLine = std::size_t{4}
                                              << 20;  // tables have up to 10,000 names
  std::string bytes_;
};

}  // namespace cdom::imex
