// Faults: how requests of clients to the API server go wrong on purpose.
//
// A rule says which requests it meets (user, verb, resource, name; `*` matches any run of
// characters), what happens to them, and how often. The first rule that meets a request and whose
// (seeded) dice fall decides. Met by ApiServer::client() and ApiFront, not by handle() and open().
// Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/random.h"

namespace cdom::sandbox {

enum class FaultKind {
  Reject,         // answered with `status`, and Retry-After when given
  Refuse,         // the connection breaks before the request is carried out
  LoseAnswer,     // the request is carried out, the connection breaks before the answer
  Truncate,       // the answer is whole as HTTP, and half of the JSON is missing
  Delay,          // answered after `delay`; each event of a watch comes that much later
  CutWatch,       // an open watch breaks
  HalfOpenWatch,  // an open watch stays open and gives nothing any more
  ExpireWatch,    // an open watch ends with an ERROR event 410
};

std::string_view name_of(FaultKind kind);

struct FaultRule {
  FaultKind kind = FaultKind::Reject;
  // What it meets.
  std::string user = "*";
  std::string verb = "*";      // get, list, watch, create, update, patch, delete, deletecollection
  std::string resource = "*";  // "resourceclaims", "resourceclaims/status"
  std::string name = "*";
  // How often.
  double probability = 1;
  std::optional<int> count = std::nullopt;  // of requests met; unset: until removed

  int status = 503;  // of Reject: 429, 500, 503, …
  std::optional<int> retry_after_seconds = std::nullopt;
  base::Duration delay{};
};

// What a request is, as far as rules ask.
struct FaultTarget {
  std::string_view user, verb, resource, name;
};

class Faults {
 public:
  explicit Faults(std::uint64_t seed);

  // Gives the number by which remove() takes the rule out again.
  int add(FaultRule rule);
  void remove(int rule);
  void clear();

  // Whether there are any. Needs no lock.
  [[nodiscard]] bool has_rules() const { return has_rules_; }

  // The rule that meets this request, if any; counts it. Not one of the …Watch kinds.
  std::optional<FaultRule> meet(const FaultTarget& target);
  // The same for a watch that is already open, asked before each of its events: …Watch kinds only.
  std::optional<FaultRule> meet_watch(const FaultTarget& target);

  // An event of a watch comes at `due`, on Clock::elapsed(), and until let_go() is behind.
  void hold(base::Duration due);
  void let_go(base::Duration due);
  // When the first of the events comes that Delay holds back; nullopt: none is held back.
  [[nodiscard]] std::optional<base::Duration> next_due() const;

  // How many requests each kind has met so far.
  [[nodiscard]] std::map<FaultKind, std::uint64_t> met() const;

 private:
  std::optional<FaultRule> draw(const FaultTarget& target, bool of_open_watch);

  mutable std::mutex mutex_;
  base::Random random_;
  int next_rule_ = 1;
  std::map<int, FaultRule> rules_;
  std::atomic<bool> has_rules_ = false;
  std::map<FaultKind, std::uint64_t> met_;
  std::multiset<base::Duration> held_;
};

}  // namespace cdom::sandbox
