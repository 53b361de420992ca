// Imex: the simulated IMEX daemon of each node, and the network between them.
//
// At most one daemon runs per node; it reads its node table when it starts, compares the whole
// table with each peer, and answers what nvidia-imex-ctl would. Where its behaviour is documented
// and where it is assumed, src/sandbox/cluster/imex_constants.h says. Steppable; one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/random.h"
#include "compute_domain/base/result.h"

namespace cdom::sandbox {

// As `nvidia-imex-ctl -q` prints them.
enum class ImexState {
  Initializing,
  StartingAuthServer,
  WaitingForPeers,
  WaitingForRecovery,
  InitGpu,
  Ready,
  ShuttingDown,
  Unavailable,
};
// "READY", "WAITING_FOR_RECOVERY".
std::string_view name_of(ImexState state);

// As the letters of `nvidia-imex-ctl -N`.
enum class ImexLink : char {
  Connected = 'C',
  Authenticating = 'A',
  Never = 'N',         // never connected
  Recovering = 'R',    // lost; nothing has been cleaned up yet
  Disconnected = 'D',  // the peer said goodbye
  Invalid = 'I',       // its name does not resolve
  MapMismatch = 'M',   // its node table differs
};

struct ImexPeer {
  std::string name;       // in the node table
  std::size_t index = 0;  // there
  ImexLink link = ImexLink::Never;
};

// What the control tool tells of a daemon.
struct ImexView {
  ImexState state = ImexState::Unavailable;
  std::string instance;
  std::vector<ImexPeer> peers;  // in the order of the node table, without the daemon itself
};

struct ImexConfig {
  std::string group;               // whose record of importers the daemon reads and writes
  std::vector<std::string> table;  // the node table: one name (or address) per index
  std::string own_address;         // one entry of the table must resolve to it
};

class ImexNetwork;

// The place of one node's daemon. Made by ImexNetwork::add_node.
class Imex {
 public:
  Imex(ImexNetwork& network, std::string node, std::string address);
  ~Imex();
  Imex(const Imex&) = delete;
  Imex& operator=(const Imex&) = delete;

  // Starts a daemon and gives its instance, a new one at each start. Conflict: one runs already,
  // and a GPU driver takes one session per operating system. Invalid: the node is not in the table.
  base::Result<std::string> start(ImexConfig config);
  // The hosts file, which the daemon reads whenever it connects to a name.
  void set_hosts(std::map<std::string, std::string> address_by_name);
  // SIGUSR1: connects to all peers again, at most once per 5 s. Ends a daemon that has not yet
  // installed its handler.
  void signal_usr1();
  // SIGTERM: the daemon tells its peers and leaves no record of importers. One that hangs gets it
  // when it comes to itself.
  void stop();
  // SIGKILL, or a crash.
  void kill();
  // A daemon that hangs answers neither its peers nor the control tool.
  void set_hung(bool hung);

  [[nodiscard]] bool is_running() const;
  // nullopt: no daemon, or it does not answer (not yet, or it hangs).
  [[nodiscard]] std::optional<ImexView> query() const;
  // The state alone, as query() tells it.
  [[nodiscard]] std::optional<ImexState> state() const;
  // The nodes that the daemon is connected to, by name. What only a simulation can know.
  [[nodiscard]] std::vector<std::string> connected_nodes() const;
  [[nodiscard]] std::size_t connected_count() const;
  // How often a daemon of this node has ended; tells an owner that its child is gone.
  [[nodiscard]] std::uint64_t ends() const { return ends_; }
  // Another number whenever what is_running() and query() tell may be something else.
  [[nodiscard]] std::uint64_t revision() const { return revision_; }
  // How many of these were of a link to one peer, and of nothing else.
  [[nodiscard]] std::uint64_t link_changes() const { return link_changes_; }

  // While a workload with a channel runs here, every connected peer counts as an importer.
  void set_importing(bool importing);
  // The importers for which a daemon of this group would wait, by name.
  [[nodiscard]] std::vector<std::string> record(const std::string& group) const;
  void remove_record(const std::string& group);

 private:
  friend class ImexNetwork;
  struct Daemon;
  struct Link;
  using Table = std::shared_ptr<const std::vector<std::string>>;  // one for all that are equal
  struct Record {
    Table table;
    std::set<std::string> importers;
  };

  void boot();
  bool become_ready();
  void end();
  void record_importer(const std::string& name);
  [[nodiscard]] std::optional<std::string> address_of(const std::string& name) const;

  ImexNetwork& network_;
  const std::string node_, address_;
  std::map<std::string, std::string> hosts_;
  std::unique_ptr<Daemon> daemon_;
  std::map<std::string, Record> records_;  // by group
  bool importing_ = false;
  std::uint64_t ends_ = 0;
  std::uint64_t revision_ = 0, link_changes_ = 0;
  // Of the network: which of its nodes this is, when it has something to do there, and which links
  // of other nodes (by their numbers) lead here.
  std::size_t number_ = 0;
  std::optional<base::Duration> due_;
  std::set<std::pair<std::size_t, std::size_t>> callers_;
};

// All times and choices of the simulation.
struct ImexParameters {
  base::Duration ready_delay{};          // from start to READY
  base::Duration handler_delay{};        // from start to the first answer and the signal handler
  std::vector<base::Duration> back_off;  // after the first, second, … failed attempt; then the last
  base::Duration signal_interval{};      // of SIGUSR1 that have an effect
  base::Duration silence_notice{};       // until a peer that fell silent counts as lost
  base::Duration reset_notice{};         // until a peer whose process ended counts as lost
  bool incoming_handshake_connects = true;  // a handshake connects both sides, not just the caller

  // The defaults of imex_constants.h.
  static ImexParameters documented();
};

class ImexNetwork {
 public:
  ImexNetwork(const base::Clock& clock, base::Random random,
              ImexParameters parameters = ImexParameters::documented());
  ~ImexNetwork();

  // Two nodes may not have one name or one address (std::logic_error).
  Imex& add_node(const std::string& node, const std::string& address);
  // The node's network is cut from all others, or healed.
  void set_cut(const std::string& node, bool cut);
  // The nodes of which this is said reach only each other, and all others only all others.
  void set_split(const std::string& node, bool split);
  // The daemon is gone without a word, and what lay in /run with it. The node stays cut until
  // set_cut(node, false).
  void power_off(const std::string& node);

  // One unit of one daemon's work, if any has some.
  bool step();
  [[nodiscard]] std::optional<base::Duration> next_due() const;

 private:
  friend class Imex;

  [[nodiscard]] Imex* at(const std::string& address) const;
  [[nodiscard]] bool hear_each_other(const Imex& one, const Imex& other) const;
  void advance(Imex& imex);
  void attempt(Imex& imex, std::size_t index);
  void join(Imex& caller, std::size_t index, Imex& callee);
  void fail(Imex& imex, std::size_t index, ImexLink letter);
  // The only way in which a link becomes another one.
  void set_link(Imex& imex, std::size_t index, Imex::Link link);
  void forget_links(Imex& imex);
  // To be called when what a daemon waits for may have changed.
  void plan(Imex& imex);
  [[nodiscard]] Imex::Table shared(std::vector<std::string> table);
  // Everybody who is connected with `imex` notices after `delay` that it has gone.
  void lose(Imex& imex, base::Duration delay);
  // The same, of those only whom the network has cut off from `imex`, after the notice of silence.
  void lose_unheard(Imex& imex);
  void lose_link(Imex& one, std::size_t index, base::Duration when);
  // Those of others that lead to `imex`, and its own.
  void for_each_link(Imex& imex, const std::function<void(Imex&, std::size_t)>& visit);
  void say_goodbye(Imex& imex);
  // Losses of which nobody has taken notice yet are none where both sides hear each other again.
  void heal(Imex& imex);

  const base::Clock& clock_;
  base::Random random_;
  const ImexParameters parameters_;
  std::map<std::string, std::unique_ptr<Imex>> nodes_;
  std::map<std::string, Imex*> by_address_;
  std::vector<Imex*> by_number_;
  std::set<std::string> cut_, split_;
  std::set<std::pair<base::Duration, std::size_t>> agenda_;  // when which node has something to do
  std::vector<std::weak_ptr<const std::vector<std::string>>> tables_;  // of daemons and records
};

}  // namespace cdom::sandbox
