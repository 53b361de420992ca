#include "kube/event_correlator.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "compute_domain/base/text.h"

namespace cdom::kube {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kDistinctMessages = 10;
constexpr base::Duration kSimilarWithin = 10min;
constexpr double kBurst = 25;
constexpr base::Duration kRefill = 300s;
constexpr char kCombined[] = "(combined from similar events): ";

}  // namespace

std::string text_of(const EventKey& key) {
  const auto& [api_version, kind, ns, name, uid] = key.involved;
  std::string text;
  for (const std::string* each :
       {&api_version, &kind, &ns, &name, &uid, &key.type, &key.reason, &key.message}) {
    text += base::cat(each->size(), ":", *each);
  }
  text.shrink_to_fit();
  return text;
}

EventKey EventCorrelator::combined(EventKey occurrence, base::Duration now) {
  Similar& similar = similar_.at_or(
      text_of({occurrence.involved, occurrence.type, occurrence.reason, ""}), {{}, now});
  if (now - similar.last > kSimilarWithin) similar.messages.clear();
  similar.last = now;
  if (similar.messages.size() < kDistinctMessages) {
    similar.messages.insert(base::fnv1a64(occurrence.message));
  }
  if (similar.messages.size() >= kDistinctMessages) occurrence.message = kCombined;
  return occurrence;
}

bool EventCorrelator::is_combined(const EventKey& key) { return key.message == kCombined; }

bool EventCorrelator::take_write(const api::ObjectReference& involved, base::Duration now) {
  Budget& budget = budgets_.at_or(text_of({involved, "", "", ""}), {kBurst, now});
  const double refilled = std::chrono::duration<double>(now - budget.as_of) / kRefill;
  budget.writes = std::min(kBurst, budget.writes + refilled);
  budget.as_of = now;
  if (budget.writes < 1) return false;
  budget.writes -= 1;
  return true;
}

}  // namespace cdom::kube
