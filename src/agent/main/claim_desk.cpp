#include "agent/main/claim_desk.h"

#include <chrono>
#include <utility>

#include "compute_domain/base/log.h"
#include "compute_domain/base/text.h"

namespace cdom::program {

namespace {

using agent::ClaimStep;
using base::cat;
using base::Error;
using base::ErrorKind;
using base::Result;

Error error_of(const ClaimStep& failed) {
  return {failed.permanent ? ErrorKind::Invalid : ErrorKind::Unavailable, failed.reason};
}

}  // namespace

ClaimDesk::ClaimDesk(std::function<void()> on_call, base::Duration patience)
    : on_call_(std::move(on_call)), patience_(patience) {}

Result<std::vector<dra::PreparedDevice>> ClaimDesk::prepare(const dra::Claim& claim,
                                                            std::stop_token stop) {
  const auto step = ask(Operation::Prepare, claim, stop);
  // What a pod's Event begins with for the reference driver, which people and their tools look for.
  if (!step) {
    return Error{step.error().kind, cat("error preparing devices: ", step.error().message)};
  }
  std::vector<dra::PreparedDevice> devices;
  devices.reserve(step->seats.size());
  for (const core::PreparedSeat& prepared : step->seats) {
    devices.push_back({.requests = {prepared.seat.request},
                       .pool = prepared.seat.pool,
                       .device = prepared.seat.device,
                       .cdi_ids = prepared.cdi_ids});
  }
  return devices;
}

Result<void> ClaimDesk::unprepare(const dra::Claim& claim, std::stop_token stop) {
  const auto step = ask(Operation::Unprepare, claim, stop);
  if (!step) return step.error();
  return {};
}

Result<ClaimStep> ClaimDesk::ask(Operation operation, const dra::Claim& claim,
                                 const std::stop_token& stop) {
  const bool prepares = operation == Operation::Prepare;
  const base::SystemClock clock;
  const base::Duration start = clock.elapsed();
  std::list<Call> own;
  own.push_back({operation, {claim.ns, claim.name, claim.uid}, {}, false});
  const Call& call = own.front();
  const std::string name = core::to_string(call.claim);
  {
    const std::lock_guard lock(mutex_);
    calls_.splice(calls_.end(), own);
  }
  on_call_();
  Result<ClaimStep> result = Error{ErrorKind::Cancelled, ""};
  {
    std::unique_lock lock(mutex_);
    answered_.wait_for(lock, stop, patience_, [&] { return call.is_answered; });
    const std::string what =
        cat("ResourceClaim ", name, prepares ? " is not prepared" : " is not unprepared");
    if (!call.is_answered) {
      withdrawn_.push_back(claim.uid);
      const std::string why = call.step.reason.empty() ? "the agent is busy" : call.step.reason;
      result = stop.stop_requested()
                   ? Error{ErrorKind::Cancelled, cat(what, ", the call was given up: ", why)}
                   : Error{ErrorKind::Unavailable,
                           cat(what, " after ", base::short_duration(patience_), ": ", why)};
    } else if (call.step.state == ClaimStep::State::Failed) {
      result = error_of(call.step);
    } else {
      result = call.step;
    }
    calls_.remove_if([&](const Call& one) { return &one == &call; });
  }
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(clock.elapsed() - start);
  if (result) {
    base::log_info(prepares ? "prepared a claim" : "unprepared a claim",
                   {{"claim", name}, {"uid", claim.uid}, {"ms", cat(took.count())}});
  } else {
    if (result.error().kind == ErrorKind::Cancelled) on_call_();
    base::log_warning(prepares ? "a claim is not prepared" : "a claim is not unprepared",
                      {{"claim", name},
                       {"uid", claim.uid},
                       {"ms", cat(took.count())},
                       {"error", result.error().message}});
  }
  return result;
}

void ClaimDesk::serve(agent::NodeAgent& agent) {
  const std::lock_guard lock(mutex_);
  for (const std::string& uid : withdrawn_) agent.withdraw(uid);
  withdrawn_.clear();
  bool has_answers = false;
  for (Call& call : calls_) {
    if (call.is_answered) continue;
    call.step = call.operation == Operation::Prepare ? agent.prepare(call.claim)
                                                     : agent.unprepare(call.claim);
    call.is_answered = call.step.state != ClaimStep::State::Waiting;
    has_answers = has_answers || call.is_answered;
  }
  if (has_answers) answered_.notify_all();
}

}  // namespace cdom::program
