#include "imex/host/node_watch.h"

#include <algorithm>
#include <utility>

#include "compute_domain/base/log.h"
#include "compute_domain/base/text.h"
#include "imex/host/lack_line.h"

namespace cdom::imex {

namespace {

using base::NodeLack;

void tell_changes(const std::vector<NodeLack>& before, const std::vector<NodeLack>& now) {
  for (const NodeLack& lack : now) {
    if (std::ranges::find(before, lack) != before.end()) continue;
    base::log_warning("this node lacks something",
                      {{"reason", lack.reason}, {"message", lack.message}});
  }
  for (const NodeLack& lack : before) {
    if (std::ranges::find(now, lack.reason, &NodeLack::reason) != now.end()) continue;
    base::log_info("this node no longer lacks this", {{"reason", lack.reason}});
  }
}

std::string failure_of(ToolAnswer::Outcome outcome) {
  if (outcome == ToolAnswer::Outcome::Silence) return "the look did not end in time";
  return outcome == ToolAnswer::Outcome::Unasked ? "the look could not be started"
                                                 : "the look has failed";
}

// nullopt: the process has not come to its end.
std::optional<std::vector<NodeLack>> lacks_in(const ToolAnswer& answer) {
  std::vector<NodeLack> lacks;
  for (const std::string& text : base::split(answer.text, '\n')) {
    const Line line = decode_line(text);
    if (line.verb == kLookedVerb) return lacks;
    if (line.verb == kLackVerb && lacks.size() < kMostLacks) lacks.push_back(lack_of(line));
  }
  return std::nullopt;
}

}  // namespace

NodeWatch::NodeWatch(NodeWatchOptions options, const base::Clock& clock)
    : options_(std::move(options)), clock_(clock), process_(clock), interval_(options_.shortest) {}

void NodeWatch::look_for(const std::string& cdi_root) {
  if (cdi_root_ != cdi_root) {
    process_.forget();
    found_.reset();
  }
  cdi_root_ = cdi_root;
  interval_ = options_.shortest;
  due_ = clock_.elapsed();
}

void NodeWatch::see_persistence(bool is_on) {
  if (is_persistent_ == is_on) return;
  is_persistent_ = is_on;
  // What is being found does not know of it.
  process_.forget();
  found_.reset();
  if (cdi_root_) look_for(std::string(*cdi_root_));
}

void NodeWatch::end() {
  has_ended_ = true;
  process_.forget();
}

bool NodeWatch::step() {
  if (!next_due()) return false;
  if (process_.child() == nullptr && !process_.next_due() && clock_.elapsed() >= due_) {
    // What one waits for another would wait for as well.
    constexpr base::Duration kDeath = std::chrono::seconds(1);
    if (process_.has_dying()) {
      due_ = clock_.elapsed() + kDeath;
      return false;
    }
    std::vector<std::string> command = options_.command;
    if (!cdi_root_->empty()) command.push_back(base::cat("--cdi-root=", *cdi_root_));
    asked_agents_ = agents_;
    command.push_back(base::cat("--agents=", agents_));
    if (is_persistent_) command.emplace_back("--persistent");
    process_.ask({.arguments = std::move(command), .environment = {}}, options_.patience);
    due_ = clock_.elapsed() + options_.longest;
  }
  const auto answer = process_.poll();
  if (!answer) return false;
  auto lacks = lacks_in(*answer);
  if (!lacks) {
    base::log_warning(
        "cannot look at what this node lacks",
        {{"error", failure_of(answer->outcome)}, {"output", base::shortened(answer->text, 200)}});
  } else if (lacks != lacks_ && (agents_ != asked_agents_ || lacks != found_)) {
    found_ = agents_ == asked_agents_ ? std::move(lacks) : std::nullopt;
    due_ = clock_.elapsed() + options_.confirmation;
    return false;
  }
  const bool is_news = lacks && lacks != lacks_;
  interval_ = is_news ? options_.shortest : std::min(2 * interval_, options_.longest);
  due_ = clock_.elapsed() + interval_;
  if (lacks) found_ = lacks;
  if (is_news) {
    tell_changes(lacks_.value_or(std::vector<NodeLack>()), *lacks);
    lacks_ = std::move(lacks);
  }
  return is_news;
}

std::optional<base::Duration> NodeWatch::next_due() const {
  if (options_.command.empty() || !cdi_root_ || has_ended_) return std::nullopt;
  const auto answer_due = process_.next_due();
  return answer_due ? answer_due : std::optional(due_);
}

}  // namespace cdom::imex
