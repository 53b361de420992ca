#include "imex/host/fabric_watch.h"

#include <algorithm>
#include <utility>

#include "compute_domain/base/log.h"
#include "compute_domain/base/text.h"
#include "imex/host/fabric_line.h"

namespace cdom::imex {

namespace {

using base::cat;
using nvidia::FabricFacts;
using nvidia::FabricState;
using nvidia::GpuFacts;

// Whether asking again soon may bring something better.
bool is_unsettled(const FabricFacts& facts) {
  return !facts.error.empty() || std::ranges::any_of(facts.gpus, [](const GpuFacts& gpu) {
    return !gpu.error.empty() || gpu.state == FabricState::NotStarted ||
           gpu.state == FabricState::InProgress || gpu.status != 0;
  });
}

}  // namespace

FabricWatch::FabricWatch(FabricWatchOptions options, const base::Clock& clock)
    : options_(std::move(options)), clock_(clock), process_(clock), due_(clock.elapsed()) {}

FabricFacts FabricWatch::facts_in(const ToolAnswer& answer) const {
  std::string call = "starting";
  for (const std::string& text : base::split(answer.text, '\n')) {
    const Line line = decode_line(text);
    if (line.verb == kFabricVerb) return fabric_of(line);
    if (line.verb == kCallVerb) call = line.text("name");
  }
  FabricFacts facts;
  facts.source = "NVML";
  if (!answer.has_run) {
    facts.error = cat("NVML cannot be asked: ", answer.text);
    return facts;
  }
  facts.error = answer.outcome == ToolAnswer::Outcome::Silence
                    ? cat("NVML has not answered for ", base::short_duration(options_.patience),
                          " (", call, "): a GPU or its driver hangs")
                    : cat("the GPU driver's library has failed (", call,
                          "): see the kernel log for Xid errors, and the log of "
                          "compute-domain-imex on this node");
  return facts;
}

bool FabricWatch::step() {
  if (!next_due()) return false;
  if (process_.child() == nullptr && !process_.next_due() && clock_.elapsed() >= due_) {
    // A process that does not die is inside the driver: another one would join it.
    if (process_.has_dying()) {
      due_ = clock_.elapsed() + options_.retry;
      return false;
    }
    process_.ask({.arguments = options_.command, .environment = {}}, options_.patience);
  }
  const auto answer = process_.poll();
  if (!answer) return false;
  FabricFacts facts = facts_in(*answer);
  if (answer->outcome == ToolAnswer::Outcome::Unasked && facts_) {
    // This is about us; what the GPUs have said before stands.
    base::log_warning("cannot read the NVLink fabric again", {{"error", facts.error}});
    due_ = clock_.elapsed() + options_.retry;
    return false;
  }
  due_ = clock_.elapsed() + (is_unsettled(facts) ? options_.retry : options_.refresh);
  if (facts_ == facts) return false;
  facts_ = std::move(facts);
  return true;
}

void FabricWatch::pause(bool is_paused) {
  if (is_paused == is_paused_) return;
  is_paused_ = is_paused;
  process_.forget();
  due_ = clock_.elapsed();
}

void FabricWatch::end() {
  has_ended_ = true;
  process_.forget();
}

std::optional<base::Duration> FabricWatch::next_due() const {
  if (options_.command.empty() || is_paused_ || has_ended_) return std::nullopt;
  const auto answer_due = process_.next_due();
  return answer_due ? answer_due : std::optional(due_);
}

}  // namespace cdom::imex
