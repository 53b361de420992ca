// Questions: what kubelet has asked for, and the answers that it has not fetched yet.
//
// A question is open until it is answered; its answer is given once. A question that nobody asks
// again for longer than kubelet's deadline is forgotten. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compute_domain/agent/node_agent.h"
#include "compute_domain/core/node_world.h"

namespace cdom::agent {

class Questions {
 public:
  explicit Questions(const base::Clock& clock) : clock_(clock) {}

  ClaimStep prepare(const core::ClaimRef& claim);
  // Ends an open question to prepare the same claim.
  ClaimStep unprepare(const core::ClaimRef& claim);
  void withdraw(const std::string& uid);

  // Gives how long ago kubelet asked; nullopt: nobody asks any more.
  std::optional<base::Duration> answer_prepare(const std::string& uid, ClaimStep answer);
  std::optional<base::Duration> answer_unprepare(const std::string& uid, ClaimStep answer);
  // Stands until the claim is prepared, is to be unprepared, or is not asked for any more.
  void remember_refusal(const std::string& uid, const std::string& reason);
  [[nodiscard]] std::map<std::string, std::string> refusals() const;
  // What the open ones wait for, by claim UID.
  void set_reasons(const std::map<std::string, std::string>& reasons);
  void set_reason_of_all(const std::string& reason);

  [[nodiscard]] std::vector<core::WantedClaim> open_prepares() const;
  [[nodiscard]] std::vector<core::WantedClaim> open_unprepares() const;
  void forget_old();
  // Counts up with each question that is new or withdrawn.
  [[nodiscard]] std::uint64_t revision() const { return revision_; }

 private:
  struct Question {
    core::ClaimRef claim;
    base::Duration since{}, asked{};
    std::string reason;
    std::optional<ClaimStep> answer;
  };
  using ByUid = std::map<std::string, Question>;
  struct Refusal {
    std::string reason;
    base::Duration told{};
  };

  ClaimStep ask(ByUid& questions, const core::ClaimRef& claim, const char* first_reason);
  std::optional<base::Duration> answer(ByUid& questions, const std::string& uid,
                                       ClaimStep answer) const;
  static std::vector<core::WantedClaim> open(const ByUid& questions);

  const base::Clock& clock_;
  ByUid prepares_, unprepares_;
  std::map<std::string, Refusal> refusals_;  // by UID
  std::uint64_t revision_ = 0;
};

}  // namespace cdom::agent
