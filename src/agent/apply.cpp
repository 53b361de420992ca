#include "agent/apply.h"

#include "compute_domain/agent/checkpoint_codec.h"
#include "compute_domain/base/log.h"
#include "compute_domain/base/text.h"

namespace cdom::agent {

using base::Result;

namespace {

template <class... Kinds>
bool is_one_of(const core::NodeIntent& intent) {
  return (std::holds_alternative<Kinds>(intent) || ...);
}

// The key of the setback that a failure of the intent causes; nullopt: it concerns the whole node.
std::optional<std::string> setback_of(const core::NodeIntent& intent) {
  if (const auto* write = std::get_if<core::WriteCdi>(&intent)) return write->claim.uid;
  if (const auto* remove = std::get_if<core::RemoveCdi>(&intent)) return remove->claim_uid;
  const bool is_of_daemon = is_one_of<core::WriteHosts, core::ForgetImporters, core::SignalDaemon,
                                      core::StopDaemon, core::PauseDriver>(intent);
  return is_of_daemon ? std::optional<std::string>(core::kDaemonSetback) : std::nullopt;
}

}  // namespace

Result<bool> Apply::on_the_node(const std::vector<core::NodeIntent>& intents) {
  for (const core::NodeIntent& intent : intents) {
    const auto failed = carry_out(intent);
    const auto of = setback_of(intent);
    if (failed && !of) return *failed;
    if (failed) {
      setbacks_.failed(*of, failed->message);
      return false;
    }
    if (of) setbacks_.succeeded(*of);
  }
  return true;
}

std::optional<base::Error> Apply::carry_out(const core::NodeIntent& intent) {
  const Result<void> done = std::visit([this](const auto& i) { return act(i); }, intent);
  if (!done) {
    base::Error error = done.error();
    error.message = base::cat("cannot ", core::to_string(intent), ": ", error.message);
    return error;
  }
  base::log_debug("applied", {{"node", self_.name}, {"intent", core::to_string(intent)}});
  return std::nullopt;
}

Result<void> Apply::act(const core::WriteCheckpoint& intent) {
  Result<void> saved = ports_.checkpoints.save(encode_checkpoint(intent.checkpoint));
  if (saved) checkpoint_ = intent.checkpoint;
  return saved;
}

Result<void> Apply::act(const core::WriteHosts& intent) { return ports_.imex.write_hosts(intent); }

Result<void> Apply::act(const core::ForgetImporters& intent) {
  return ports_.imex.forget_importers(intent.group);
}

Result<void> Apply::act(const core::StartDaemon& intent) {
  const Result<void> started = ports_.imex.start(intent);
  // The rules of a daemon that does not run take it from here.
  if (!started) daemon_.see_failed_start(intent.group, started.error().message);
  return {};
}

Result<void> Apply::act(const core::SignalDaemon&) { return ports_.imex.signal(); }
Result<void> Apply::act(const core::StopDaemon& intent) {
  return intent.has_ended ? ports_.imex.withdraw() : ports_.imex.stop();
}
Result<void> Apply::act(const core::PauseDriver& intent) {
  return ports_.imex.pause_driver(intent.is_paused);
}

Result<void> Apply::act(const core::WriteCdi& intent) {
  return ports_.channels.write(intent.claim, intent.channels);
}

Result<void> Apply::act(const core::RemoveCdi& intent) {
  return ports_.channels.remove(intent.claim_uid);
}

Result<void> Apply::act(const core::AnswerPrepared& intent) {
  refusals_.was_prepared(intent.claim_uid);
  mailbox_.answer(Operation::Prepare, intent.claim_uid, {.devices = intent.devices});
  return {};
}

Result<void> Apply::act(const core::AnswerFailed& intent) {
  mailbox_.answer(Operation::Prepare, intent.claim_uid,
                  {.error = intent.error, .permanent = intent.permanent});
  refusals_.add(intent.claim_uid, intent.reason.empty() ? intent.error : intent.reason);
  return {};
}

Result<void> Apply::act(const core::AnswerUnprepared& intent) {
  mailbox_.answer(Operation::Unprepare, intent.claim_uid, {});
  return {};
}

}  // namespace cdom::agent
