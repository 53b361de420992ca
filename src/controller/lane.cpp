#include "lane.h"

#include "compute_domain/base/text.h"

namespace cdom::controller {

using base::cat;

Lane::Lane(const base::Clock& clock, const std::string& name, base::Registry* metrics)
    : clock_(clock), queue_(clock, name, metrics), apart_(clock, cat(name, "-apart"), metrics) {}

std::string strand_of(const Key& key) {
  switch (key.kind) {
    case Key::Kind::Label:
      return "labels of nodes";
    case Key::Kind::AgentLabel:
      return "agent labels of nodes";
    case Key::Kind::Report:
      return "reports of nodes";
    // A namespace may have the name of a clique, and no name of one has a space.
    case Key::Kind::Workloads:
      return cat("namespace ", key.id);
    case Key::Kind::Placement:
      return "placement of all";
    default:
      return key.id;
  }
}

Lane::Queue& Lane::queue_of(const Key& key) {
  if (strands_apart_ == 0) return queue_;
  const std::string strand = strand_of(key);
  const std::scoped_lock lock(mutex_);
  return long_turns_.contains(strand) ? apart_ : queue_;
}

bool Lane::is_failing(const Key& key) const {
  return queue_.is_failing(key) || apart_.is_failing(key);
}

bool Lane::is_to_be_done(const Key& key, Queue& queue) {
  Queue& its_own = queue_of(key);
  if (&its_own == &queue) return true;
  queue.forget(key);
  its_own.add(key);
  queue.done(key);
  return false;
}

void Lane::end_turn(const Key& key, Queue& queue, base::Duration took, bool is_cut) {
  const bool is_long = took >= kLongTurn, is_apart = &queue == &apart_;
  if (is_cut && !is_apart) queue.forget(key);
  queue.done(key);
  if (is_long || is_apart) note_turn(strand_of(key), is_apart, is_long);
  if (is_cut) queue_of(key).add(key);
}

void Lane::note_turn(const std::string& strand, bool is_apart, bool is_long) {
  const base::Duration now = clock_.elapsed();
  const std::scoped_lock lock(mutex_);
  if (is_long) long_turns_[strand] = now;
  if (is_apart) {
    const bool is_idle = apart_.is_empty();
    std::erase_if(long_turns_, [&](const auto& each) {
      const base::Duration since = now - each.second;
      if (since >= kForgotten) return true;
      if (since < kStaysApart) return false;
      return is_idle || (each.first == strand && !is_failing_apart(strand));
    });
  }
  strands_apart_ = long_turns_.size();
}

bool Lane::is_failing_apart(const std::string& strand) const {
  return apart_.is_any_failing(
      [&](const QueuedKey& key) { return strand_of(key.key()) == strand; });
}

}  // namespace cdom::controller
