// Memory: what this process remembers beside its stores. Losing it costs an extra write, never a
// wrong one. Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/shared_bytes.h"
#include "compute_domain/base/sorted_chunks.h"
#include "compute_domain/controller/key.h"
#include "compute_domain/core/plan.h"
#include "compute_domain/core/world.h"

namespace cdom::controller {

// The node of each claim that takes a seat there; "" for one that may be used on any.
using ClaimsOnNodes = std::multiset<std::string>;

class Memory {
 public:
  // A domain of the cache; how long ago this process has first seen it, zero: not yet. Of one that
  // has not been seen, or is forgotten, nothing else is kept: a worker may have begun before it was
  // gone, and nobody forgets it a second time.
  void domain_seen(const std::string& uid, base::Duration elapsed);
  [[nodiscard]] base::Duration domain_known_for(const std::string& uid,
                                                base::Duration elapsed) const;

  // When this process last wrote the status of a domain.
  void status_written(const std::string& uid, base::Time when);
  [[nodiscard]] std::optional<base::Time> status_written(const std::string& uid) const;

  // A status of which it is not known whether the API server has stored it, with the Events that
  // are recorded once it has.
  void status_unheard(const std::string& uid, const api::ComputeDomainStatus& status,
                      std::vector<core::RecordEvent> events);
  // The Events of one that turns out to be stored, once.
  std::vector<core::RecordEvent> events_of_stored(const std::string& uid,
                                                  const api::ComputeDomainStatus& stored);

  // A node reports another daemon than before, or another address. Its first changes in a row are
  // written into node lists at once, and each further one ever later (base::DaemonPolicy): a list
  // is read by all members.
  void daemon_changed(const std::string& node, base::Duration now);
  [[nodiscard]] base::Duration restless_for(const std::string& node, base::Duration now) const;

  // When this process last wrote the node list of a group, and when it wrote the first one of a
  // domain since it last wrote the status.
  void list_written(const core::ImexGroupKey& group, base::Time when);
  [[nodiscard]] std::optional<base::Time> list_written(const core::ImexGroupKey& group) const;
  // Those of a domain's own groups.
  [[nodiscard]] std::map<core::ImexGroupKey, base::Time> lists_written(
      const std::string& uid) const;
  // A node list that is held until nobody comes any more, with this digest; until it is written, or
  // those who had come have gone.
  void list_held(const core::ImexGroupKey& group, std::uint64_t digest, base::Time when);
  void list_not_held(const core::ImexGroupKey& group);
  [[nodiscard]] std::map<core::ImexGroupKey, core::HeldList> lists_held(
      const std::string& uid) const;
  // A list is about to be written for the domain: its status waits for it. The list of a clique may
  // have a channel of one that is gone.
  void list_awaited(const std::string& uid, base::Time when);
  [[nodiscard]] std::optional<base::Time> unreported_list(const std::string& uid) const;

  // Objects that got their Event, by UID: claims, and ComputeDomainCliques of somebody else.
  void object_reported(const std::string& uid);
  [[nodiscard]] bool is_reported(const std::string& uid) const;

  // The agent's pod of a node became ready, stopped being so, or is gone (not ready); since then,
  // on Clock::elapsed(), as the wall clock may be set meanwhile.
  struct SeenAgent {
    bool ready = false;
    base::Duration since{};
  };
  void agent_seen(const std::string& node, const SeenAgent& agent);
  [[nodiscard]] std::optional<SeenAgent> agent(const std::string& node) const;

  // When this process first decided, with all of its caches filled: a node of which it has seen no
  // agent has been without one since then at least. The first call counts.
  void decides(base::Duration elapsed);
  [[nodiscard]] std::optional<base::Duration> decides_since() const;

  // What a LIST has shown of all claims. It is a proof for a second from when it was asked for:
  // what is allocated since then is in the cache.
  void claims_listed(std::shared_ptr<const ClaimsOnNodes> claims, base::Duration asked);
  // Null: none is that young.
  [[nodiscard]] std::shared_ptr<const ClaimsOnNodes> claims_on_nodes(base::Duration now) const;

  // The seats of the cluster. `count` counts them only where one of these numbers is another than
  // when they were last counted: the changes of claims, slices, reports and Nodes, and the moves of
  // shared claims. Taken before the count, so that what comes meanwhile is counted the next time.
  using SeatsCounted = std::array<std::uint64_t, 5>;
  [[nodiscard]] core::SeatCount seats(const SeatsCounted& when,
                                      const std::function<core::SeatCount()>& count) const;

  // What was last found for a domain that wants one clique; whether that is news.
  bool placement_found(const std::string& uid, const core::PlacementVerdict& verdict);
  [[nodiscard]] std::optional<core::PlacementVerdict> placement(const std::string& uid) const;

  // That a domain has ended could not be proved, and nobody asks again before `pause` is over.
  void end_unproved(const std::string& uid, base::Duration now, base::Duration pause);
  // How much longer; nullopt: it may be asked.
  [[nodiscard]] std::optional<base::Duration> end_unproved_for(const std::string& uid,
                                                               base::Duration now) const;

  // When a domain that is not Ready was first seen with members; cleared and given back by
  // formation_ended().
  void formation_begun(const std::string& uid, base::Duration elapsed);
  std::optional<base::Duration> formation_ended(const std::string& uid);

  // The API server refuses what a key writes, and what it said. Gives whether that is news: what it
  // says a moment later, with other numbers in it, is not.
  bool refused(const Key& key, const std::string& what, base::Duration elapsed);
  // An action of a domain's key has failed without an answer that a person could act upon, in these
  // words. Once it has failed three times, and for half a minute, it lasts, until the key is
  // accepted or another action fails: an API server that is briefly away brings no writes. Gives
  // whether lasting_failure() differs now.
  struct Failure {
    std::size_t action = 0;  // its index among the kinds of actions
    std::string what;
  };
  bool failed(const Key& key, const Failure& failure, base::Time now, base::Duration elapsed);
  // The status of the domain got no answer either: what lasts of its keys is not told until it has
  // failed once more. So it is tried before that status, which would be out of date where all were
  // without an answer and the first one succeeds now.
  void status_failed(const std::string& uid);
  [[nodiscard]] std::optional<core::LastingFailure> lasting_failure(const Key& key) const;

  // All that the key wrote was accepted; gives whether it was refused before, or failed for long.
  bool accepted(const Key& key);
  [[nodiscard]] std::optional<std::string> refusal(const Key& key) const;
  [[nodiscard]] std::size_t refusals() const;

  // The API server has kept less of a status than was sent; nullopt: all of it.
  void status_pruned(const std::string& uid, std::optional<core::PrunedStatus> pruned);
  [[nodiscard]] std::optional<core::PrunedStatus> pruned(const std::string& uid) const;

  // The same of a ComputeDomainClique, by its own UID; gives whether this is the first time.
  bool daemons_pruned(const std::string& uid, core::PrunedDaemons pruned);
  void daemons_kept(const std::string& uid);
  [[nodiscard]] std::optional<core::PrunedDaemons> pruned_daemons(const std::string& uid) const;

  void forget_domain(const std::string& uid);
  void forget_object(const std::string& uid);
  void forget_node(const std::string& node);

 private:
  // What is of no domain is not.
  [[nodiscard]] bool is_forgotten(const std::string& uid) const;

  mutable std::mutex mutex_;
  std::map<std::string, base::Duration> domains_seen_;
  std::map<std::string, base::Time> status_written_;
  struct Unheard {
    api::ComputeDomainStatus status;
    std::vector<core::RecordEvent> events;
  };
  std::map<std::string, std::vector<Unheard>> unheard_;  // until a later status is written
  struct Restless {
    int changes = 0;  // in a row; those within one interval between signals are one
    base::Duration due{};
    base::Duration until{};
  };
  std::map<std::string, Restless> restless_;  // by node
  std::map<core::ImexGroupKey, base::Time> list_written_;
  std::map<core::ImexGroupKey, core::HeldList> list_held_;
  std::map<std::string, base::Time> unreported_list_;
  std::set<std::string> reported_;
  // As many as nodes.
  struct Agent {
    base::SharedBytes node;
    SeenAgent seen;
  };
  using AgentPlace = base::SortedChunks<Agent>::Place;
  [[nodiscard]] AgentPlace first_agent_from(const std::string& node) const;
  [[nodiscard]] bool is_agent_of(const AgentPlace& place, const std::string& node) const;
  base::SortedChunks<Agent> agents_;  // by node
  std::optional<base::Duration> decides_since_;
  std::shared_ptr<const ClaimsOnNodes> claims_on_nodes_;
  base::Duration claims_asked_{};
  // One counts for all who ask meanwhile.
  mutable std::mutex seats_mutex_;
  mutable std::optional<SeatsCounted> seats_counted_;
  mutable core::SeatCount seats_;
  std::map<std::string, base::Duration> unproved_until_;
  std::map<std::string, base::Duration> forming_since_;
  std::map<std::string, core::PlacementVerdict> placements_;
  struct Refusal {
    std::string what;
    base::Duration since{};
  };
  std::map<Key, Refusal> refusals_;
  struct Failing {
    std::size_t action = 0;
    base::Time since{};
    base::Duration begun{};
    int times = 0;
    std::optional<Refusal> told = std::nullopt;
  };
  std::map<Key, Failing> failing_;
  std::map<std::string, core::PrunedStatus> pruned_;
  std::map<std::string, core::PrunedDaemons> pruned_daemons_;
};

}  // namespace cdom::controller
