// Channels: which domain has which IMEX channel of a clique.
//
// How it goes: a domain gets the next number when its first claim in the clique is admitted, and
// keeps it while the domain lives and has a claim. Then the number is taken back. Another domain
// gets it only when every node on which the first one was admitted reports that it knows of that
// and has the channel in no container. What it guarantees: a number has one domain at a time, as a
// node list is written under the precondition of the one decided upon; no container has a channel
// that another domain gets. Pure.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compute_domain/core/world.h"

namespace cdom::core {

class Channels {
 public:
  // Starts from what the node list says. When it is lost: from what the domains' statuses remember,
  // and beside that from what nodes report that are no `strangers`. What these report in use is
  // given to nobody, and is on no record.
  explicit Channels(const CliqueWorld& world, const std::set<std::string>& strangers = {});

  // The domain's channel, given to it now if it has none and `is_known` does not hold; notes that
  // it is admitted on the node. nullopt: none is free.
  std::optional<std::int64_t> of(const std::string& domain_uid, const std::string& node,
                                 bool is_known);
  // Whether the domain has a channel already.
  [[nodiscard]] bool has(const std::string& domain_uid) const;
  // Puts the record into the list.
  void write_to(api::NodeList& list) const;
  // UIDs of the domains whose channels are taken back, if the API server proves that they are gone.
  [[nodiscard]] const std::vector<std::string>& released() const { return released_; }
  // For how long channels are kept only because an end could not be proved; nullopt: none is.
  [[nodiscard]] std::optional<base::Duration> next_proof() const { return next_proof_; }

 private:
  struct Record {
    std::int64_t number = 0;
    std::string domain_uid;
    std::int64_t release = 0;
    std::set<std::string> nodes;
    std::string domain = {};
  };

  struct Claim {
    std::string domain_uid;
    std::set<std::string> nodes;
  };

  void read_list();
  void rebuild(const std::set<std::string>& strangers);
  void remember(std::int64_t number, const std::string& domain_uid, const std::string& node);
  void note_containers();
  void note_containers_of(const std::set<std::string>& strangers);
  void take_back();
  [[nodiscard]] std::string name_of(const Record& record) const;
  [[nodiscard]] bool is_number(std::int64_t number) const;
  [[nodiscard]] bool may_be_given(std::int64_t number) const;
  [[nodiscard]] bool is_let_go(const Record& channel) const;
  std::vector<Record>::iterator find(std::int64_t number);

  const CliqueWorld& world_;
  const std::string group_;
  const api::NodeList* before_ = nullptr;
  std::map<std::string, Claim> claims_;  // by UID
  std::vector<Record> records_;
  std::set<std::int64_t> in_containers_;  // by the word of the nodes that the claims are on
  std::int64_t last_ = 0;
  std::int64_t releases_ = 0;
  std::vector<std::string> released_;
  std::optional<base::Duration> next_proof_;
  bool is_scarce_ = false;  // some domain found none
};

// The domain's channel in the clique of the list; nullopt: it has none.
std::optional<std::int64_t> channel_of(const api::NodeList& list, const std::string& domain_uid);

// What still goes into a clique's node list: an API server takes 1 MiB of a ConfigMap.
class ListRoom {
 public:
  explicit ListRoom(const api::NodeList& list);
  // Whether there is room for one more claim, of the domain of this name; then it is taken.
  bool take(std::string_view claim_uid, bool is_first_of_domain, std::string_view domain);

 private:
  std::size_t bytes_ = 0;
};

// How many domains a clique may have at a time: number 0 is no domain's.
inline std::int64_t usable_channels(const Settings& settings) { return settings.channels - 1; }
// Whether a number of the clique is free.
bool has_free_channel(const api::NodeList& list, const Settings& settings);

}  // namespace cdom::core
