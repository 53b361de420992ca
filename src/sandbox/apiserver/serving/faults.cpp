#include "compute_domain/sandbox/faults.h"

namespace cdom::sandbox {

namespace {

bool is_of_open_watch(FaultKind kind) {
  return kind == FaultKind::CutWatch || kind == FaultKind::HalfOpenWatch ||
         kind == FaultKind::ExpireWatch;
}

// `*` in the pattern stands for any run of characters.
bool matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool meets(const FaultRule& rule, const FaultTarget& target) {
  return matches(rule.user, target.user) && matches(rule.verb, target.verb) &&
         matches(rule.resource, target.resource) && matches(rule.name, target.name);
}

}  // namespace

std::string_view name_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::Reject:
      return "Reject";
    case FaultKind::Refuse:
      return "Refuse";
    case FaultKind::LoseAnswer:
      return "LoseAnswer";
    case FaultKind::Truncate:
      return "Truncate";
    case FaultKind::Delay:
      return "Delay";
    case FaultKind::CutWatch:
      return "CutWatch";
    case FaultKind::HalfOpenWatch:
      return "HalfOpenWatch";
    case FaultKind::ExpireWatch:
      return "ExpireWatch";
  }
  return "";
}

Faults::Faults(std::uint64_t seed) : random_(seed) {}

int Faults::add(FaultRule rule) {
  const std::lock_guard lock(mutex_);
  rules_[next_rule_] = std::move(rule);
  has_rules_ = true;
  return next_rule_++;
}

void Faults::remove(int rule) {
  const std::lock_guard lock(mutex_);
  rules_.erase(rule);
  has_rules_ = !rules_.empty();
}

void Faults::clear() {
  const std::lock_guard lock(mutex_);
  rules_.clear();
  has_rules_ = false;
}

std::optional<FaultRule> Faults::meet(const FaultTarget& target) { return draw(target, false); }

std::optional<FaultRule> Faults::meet_watch(const FaultTarget& target) {
  return draw(target, true);
}

std::optional<FaultRule> Faults::draw(const FaultTarget& target, bool of_open_watch) {
  const std::lock_guard lock(mutex_);
  for (auto it = rules_.begin(); it != rules_.end(); ++it) {
    FaultRule& rule = it->second;
    if (is_of_open_watch(rule.kind) != of_open_watch || !meets(rule, target)) continue;
    if (rule.probability < 1 && !random_.chance(rule.probability)) continue;
    ++met_[rule.kind];
    const FaultRule met = rule;
    if (rule.count && --*rule.count <= 0) rules_.erase(it);
    has_rules_ = !rules_.empty();
    return met;
  }
  return std::nullopt;
}

void Faults::hold(base::Duration due) {
  const std::lock_guard lock(mutex_);
  held_.insert(due);
}

void Faults::let_go(base::Duration due) {
  const std::lock_guard lock(mutex_);
  if (const auto it = held_.find(due); it != held_.end()) held_.erase(it);
}

std::optional<base::Duration> Faults::next_due() const {
  const std::lock_guard lock(mutex_);
  return held_.empty() ? std::nullopt : std::optional(*held_.begin());
}

std::map<FaultKind, std::uint64_t> Faults::met() const {
  const std::lock_guard lock(mutex_);
  return met_;
}

}  // namespace cdom::sandbox
