#include "agent/questions.h"

namespace cdom::agent {

namespace {

constexpr base::Duration kForgottenAfter = std::chrono::seconds(60);  // kubelet's deadline is 45 s
// Kubelet asks again 90 s after a refusal, or when the pod's next sync is due.
constexpr base::Duration kRefusalStands = std::chrono::minutes(5);

}  // namespace

ClaimStep Questions::prepare(const core::ClaimRef& claim) {
  return ask(prepares_, claim, "about to be prepared");
}

ClaimStep Questions::unprepare(const core::ClaimRef& claim) {
  revision_ += prepares_.erase(claim.uid);
  refusals_.erase(claim.uid);
  return ask(unprepares_, claim, "about to be unprepared");
}

void Questions::withdraw(const std::string& uid) {
  revision_ += prepares_.erase(uid) + unprepares_.erase(uid);
}

ClaimStep Questions::ask(ByUid& questions, const core::ClaimRef& claim, const char* first_reason) {
  const base::Duration now = clock_.elapsed();
  const auto [it, is_new] =
      questions.try_emplace(claim.uid, Question{claim, now, now, first_reason, std::nullopt});
  if (is_new) ++revision_;
  Question& question = it->second;
  question.asked = now;
  if (!question.answer) {
    ClaimStep waiting;
    waiting.reason = question.reason;
    return waiting;
  }
  ClaimStep answer = std::move(*question.answer);
  questions.erase(it);
  return answer;
}

std::optional<base::Duration> Questions::answer(ByUid& questions, const std::string& uid,
                                                ClaimStep answer) const {
  const auto it = questions.find(uid);
  if (it == questions.end()) return std::nullopt;
  it->second.answer = std::move(answer);
  return clock_.elapsed() - it->second.since;
}

void Questions::remember_refusal(const std::string& uid, const std::string& reason) {
  refusals_[uid] = {reason, clock_.elapsed()};
}

std::map<std::string, std::string> Questions::refusals() const {
  std::map<std::string, std::string> reasons;
  for (const auto& [uid, refusal] : refusals_) reasons.emplace(uid, refusal.reason);
  return reasons;
}

std::optional<base::Duration> Questions::answer_prepare(const std::string& uid, ClaimStep step) {
  if (step.state == ClaimStep::State::Done) refusals_.erase(uid);
  return answer(prepares_, uid, std::move(step));
}

std::optional<base::Duration> Questions::answer_unprepare(const std::string& uid, ClaimStep step) {
  return answer(unprepares_, uid, std::move(step));
}

void Questions::set_reasons(const std::map<std::string, std::string>& reasons) {
  for (const auto& [uid, reason] : reasons) {
    for (ByUid* questions : {&prepares_, &unprepares_}) {
      if (const auto it = questions->find(uid); it != questions->end()) it->second.reason = reason;
    }
  }
}

void Questions::set_reason_of_all(const std::string& reason) {
  for (ByUid* questions : {&prepares_, &unprepares_}) {
    for (auto& [uid, question] : *questions) question.reason = reason;
  }
}

std::vector<core::WantedClaim> Questions::open(const ByUid& questions) {
  std::vector<core::WantedClaim> wanted;
  for (const auto& [uid, question] : questions) {
    if (!question.answer) wanted.push_back({question.claim, question.since});
  }
  return wanted;
}

std::vector<core::WantedClaim> Questions::open_prepares() const { return open(prepares_); }
std::vector<core::WantedClaim> Questions::open_unprepares() const { return open(unprepares_); }

void Questions::forget_old() {
  const base::Duration before = clock_.elapsed() - kForgottenAfter;
  for (ByUid* questions : {&prepares_, &unprepares_}) {
    std::erase_if(*questions, [&](const auto& entry) { return entry.second.asked < before; });
  }
  const base::Duration told_before = clock_.elapsed() - kRefusalStands;
  std::erase_if(refusals_, [&](const auto& entry) {
    return entry.second.told < told_before && !prepares_.contains(entry.first);
  });
}

}  // namespace cdom::agent
