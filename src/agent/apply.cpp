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

// What a failure of the intent is a setback of, as the setbacks name it; nullopt: of the node.
std::optional<std::string> what_it_is_of(const core::NodeIntent& intent) {
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
    const auto of = what_it_is_of(intent);
    if (failed && !of) return *failed;
    if (failed) {
      setbacks_.failed(*of, failed->message);
      return false;
    }
    if (of) setbacks_.succeeded(*of);
  }
  return true;
}

std::optional<base::Error> Apply::one_on_the_server(const core::ServerIntent& intent) {
  return carry_out(intent);
}

template <class Intent>
std::optional<base::Error> Apply::carry_out(const Intent& intent) {
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
Result<void> Apply::act(const core::StopDaemon&) { return ports_.imex.stop(); }
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
  const auto took = mailbox_.answer(Operation::Prepare, intent.claim_uid, {.seats = intent.seats});
  if (took) metrics_.answered_prepare(AgentMetrics::Outcome::Prepared, *took);
  return {};
}

Result<void> Apply::act(const core::AnswerFailed& intent) {
  const auto took = mailbox_.answer(Operation::Prepare, intent.claim_uid,
                                    {.error = intent.error, .permanent = intent.permanent});
  refusals_.add(intent.claim_uid, intent.reason.empty() ? intent.error : intent.reason);
  using Outcome = AgentMetrics::Outcome;
  if (took) {
    metrics_.answered_prepare(intent.permanent ? Outcome::Refused : Outcome::Failed, *took);
  }
  return {};
}

Result<void> Apply::act(const core::AnswerUnprepared& intent) {
  if (mailbox_.answer(Operation::Unprepare, intent.claim_uid, {})) metrics_.answered_unprepare();
  return {};
}

Result<void> Apply::act(const core::PublishReport& intent) {
  const Result<std::string> version = write_report(intent);
  if (!version) {
    watches_.failed_report(version.error());
    return version.error();
  }
  watches_.wrote_report(*version);
  if (*version == intent.current.resource_version) watches_.report_was_cut(intent);
  return {};
}

Result<std::string> Apply::write_report(const core::PublishReport& intent) {
  api::ObjectMeta current = intent.current;
  if (current.uid.empty()) {
    // The controller removes the report of a Node that is gone, and would remove the next one too.
    const auto node = ports_.client.get<api::Node>({"", self_.name});
    if (!node) return node.error();
    const auto made =
        ports_.client.create(api::ComputeDomainNode{.meta = current, .status = intent.report});
    if (!made) return made.error();
    current = made->meta;
  }
  // Its status is a subresource, which a create does not write.
  const auto written = ports_.client.patch<api::ComputeDomainNode>(
      api::name_of(current), "status",
      api::status_patch({current.uid, current.resource_version}, intent.report));
  if (!written) return written.error();
  return written->meta.resource_version;
}

Result<void> Apply::act(const core::PublishSlice& intent) {
  const Result<std::string> version = write_slice(intent);
  if (!version) {
    watches_.failed_slice(version.error());
    return version.error();
  }
  watches_.wrote_slice(*version);
  return {};
}

Result<std::string> Apply::write_slice(const core::PublishSlice& intent) {
  const api::Kind& kind = api::kind_of<api::ResourceSlice>();
  if (!intent.slice.meta.uid.empty()) {
    const api::ObjectMeta& meta = intent.slice.meta;
    const auto written = ports_.client.patch<api::ResourceSlice>(
        api::name_of(meta), "",
        api::slice_patch({meta.uid, meta.resource_version}, intent.slice,
                         ports_.client.version_of(kind)));
    if (!written) return written.error();
    return written->meta.resource_version;
  }
  // Garbage collection takes a slice away with its Node, so the owner is asked for each time.
  const auto node = ports_.client.get<api::Node>({"", self_.name});
  if (!node) return node.error();
  api::ResourceSlice slice = intent.slice;
  slice.meta.owners = {{.api_version = "v1",
                        .kind = "Node",
                        .name = self_.name,
                        .uid = node->meta.uid,
                        .controller = true}};
  const auto made = ports_.client.create(slice);
  if (!made) return made.error();
  return made->meta.resource_version;
}

Result<void> Apply::act(const core::RemoveSlice& intent) {
  Result<void> removed = ports_.client.remove<api::ResourceSlice>(
      api::name_of(intent.slice), {intent.slice.uid, intent.slice.resource_version});
  if (!removed && removed.error().kind != base::ErrorKind::NotFound) {
    watches_.failed_slice(removed.error());
    return removed;
  }
  watches_.removed_slice();
  return {};
}

Result<void> Apply::act(const core::LookUpClaim& intent) {
  answers_.look_up(intent);
  return {};
}

Result<void> Apply::act(const core::LookUpPeer& intent) {
  answers_.look_up(intent);
  return {};
}

Result<void> Apply::act(const core::LookUpList& intent) {
  answers_.look_up(intent);
  return {};
}

Result<void> Apply::act(const core::LookUpDomains& intent) {
  answers_.look_up(intent);
  return {};
}

}  // namespace cdom::agent
