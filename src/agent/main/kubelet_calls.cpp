#include "agent/main/kubelet_calls.h"

#include <chrono>
#include <utility>

#include "compute_domain/base/log.h"
#include "compute_domain/base/text.h"

namespace cdom::program {

namespace {

using base::cat;

dra::ClaimAnswer answer_of(bool prepares, const agent::CallAnswer& answer) {
  dra::ClaimAnswer out;
  for (const core::PreparedDevice& prepared : answer.devices) {
    out.devices.push_back({.requests = {prepared.ref.request},
                           .pool = prepared.ref.pool,
                           .device = prepared.ref.device,
                           .cdi_ids = prepared.cdi_ids});
  }
  // What a pod's Event begins with for the reference driver, which people and their tools look for.
  const bool is_of_prepare = prepares && answer.took && !answer.error.empty();
  out.error = is_of_prepare ? cat("error preparing devices: ", answer.error) : answer.error;
  return out;
}

void log_answer(bool prepares, const core::ClaimRef& claim, const agent::CallAnswer& answer) {
  const std::string name = core::to_string(claim);
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(*answer.took);
  if (answer.error.empty()) {
    base::log_info(prepares ? "prepared a claim" : "unprepared a claim",
                   {{"claim", name}, {"uid", claim.uid}, {"ms", cat(took.count())}});
  } else {
    base::log_warning(
        prepares ? "a claim is not prepared" : "a claim is not unprepared",
        {{"claim", name}, {"uid", claim.uid}, {"ms", cat(took.count())}, {"error", answer.error}});
  }
}

}  // namespace

void KubeletCalls::post(dra::ClaimCall call) {
  const bool prepares = call.operation == dra::Operation::Prepare;
  const core::ClaimRef claim{call.claim.ns, call.claim.name, call.claim.uid};
  mailbox_.post(
      {.operation = prepares ? agent::Operation::Prepare : agent::Operation::Unprepare,
       .claim = claim,
       .reply =
           [prepares, claim, reply = std::move(call.reply)](const agent::CallAnswer& answer) {
             if (answer.took) log_answer(prepares, claim, answer);
             reply(answer_of(prepares, answer));
           },
       .stop = std::move(call.stop)});
}

}  // namespace cdom::program
