#include "compute_domain/agent/checkpoint_codec.h"

#include <algorithm>
#include <exception>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <utility>

#include "agent/whole_number.h"
#include "compute_domain/base/text.h"

namespace cdom::agent {

namespace {

using base::cat;
using Json = nlohmann::json;

constexpr int kFormat = 1;

// A message of a loss has words of other programs, which may be no UTF-8.
std::string text_of(const Json& content) {
  return content.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string checksum_of(const Json& content) {
  return base::hex64(base::fnv1a64(text_of(content)));
}

// The members of an object that this version does not know.
std::string later_in(const Json& object, std::initializer_list<const char*> known) {
  Json later = Json::object();
  for (const auto& [name, value] : object.items()) {
    if (std::ranges::find(known, name) == known.end()) later[name] = value;
  }
  return later.empty() ? "" : later.dump();
}

Json with_later(Json object, const std::string& text) {
  if (text.empty()) return object;
  const Json later = Json::parse(text);
  object.insert(later.begin(), later.end());
  return object;
}

const char* name_of(core::ClaimPhase phase) {
  switch (phase) {
    case core::ClaimPhase::Started:
      return "PrepareStarted";
    case core::ClaimPhase::Completed:
      return "PrepareCompleted";
    case core::ClaimPhase::Ending:
      return "Ending";
  }
  return "PrepareStarted";
}

// A phase that a later release has added is of a claim that is held, which goes on being: an agent
// that goes back a version ends nothing by that.
core::ClaimPhase phase_named(const std::string& name) {
  for (const auto phase : {core::ClaimPhase::Started, core::ClaimPhase::Ending}) {
    if (name == name_of(phase)) return phase;
  }
  return core::ClaimPhase::Completed;
}

std::string phase_word(const core::PreparedClaim& claim) {
  const bool is_later = claim.phase == core::ClaimPhase::Completed && !claim.later_phase.empty();
  return is_later ? claim.later_phase : name_of(claim.phase);
}

Json json_of(const core::PreparedClaim& claim) {
  Json devices = Json::array();
  for (const core::DeviceRef& device : claim.devices) {
    devices.push_back(
        with_later({{"request", device.request}, {"pool", device.pool}, {"device", device.device}},
                   device.later));
  }
  Json json = {{"namespace", claim.claim.ns},
               {"name", claim.claim.name},
               {"phase", phase_word(claim)},
               {"group", claim.group},
               {"firstChannel", claim.channels.first},
               {"channels", claim.channels.count},
               {"seats", devices},
               {"adminAccess", claim.admin_access}};
  if (!claim.pods.empty()) json["pods"] = claim.pods;
  if (!claim.held_by.empty()) json["heldBy"] = claim.held_by;
  if (!claim.daemon.empty()) json["daemon"] = claim.daemon;
  if (claim.lost_memory) json["lostMemory"] = true;
  return with_later(std::move(json), claim.later);
}

core::PreparedClaim claim_of(const std::string& uid, const Json& json) {
  core::PreparedClaim claim;
  claim.claim = {json.at("namespace"), json.at("name"), uid};
  const std::string phase = json.at("phase");
  claim.phase = phase_named(phase);
  if (phase != name_of(claim.phase)) claim.later_phase = phase;
  claim.group = json.at("group");
  claim.channels = {whole_number(json.at("firstChannel")), whole_number(json.at("channels"))};
  for (const Json& device : json.at("seats")) {
    claim.devices.push_back({device.at("request"), device.at("pool"), device.at("device"),
                             later_in(device, {"request", "pool", "device"})});
  }
  claim.admin_access = json.at("adminAccess");
  if (json.contains("pods")) claim.pods = json.at("pods").get<std::set<std::string>>();
  if (json.contains("heldBy")) {
    for (const auto& [pod, grace] : json.at("heldBy").items()) {
      claim.held_by[pod] = whole_number(grace);
    }
  }
  claim.daemon = json.value("daemon", "");
  claim.lost_memory = json.value("lostMemory", false);
  claim.later = later_in(json, {"namespace", "name", "phase", "group", "firstChannel", "channels",
                                "seats", "adminAccess", "pods", "heldBy", "daemon", "lostMemory"});
  return claim;
}

Json json_of(const core::MemoryLoss& loss) {
  return with_later(
      {{"time", base::to_rfc3339(loss.time)}, {"message", loss.message}, {"claims", loss.claims}},
      loss.later);
}

core::MemoryLoss loss_of(const Json& json) {
  return {.time = base::parse_rfc3339(json.at("time").get<std::string>()).value(),
          .message = json.at("message"),
          .claims = json.at("claims").get<std::set<std::string>>(),
          .later = later_in(json, {"time", "message", "claims"})};
}

Json json_of(const core::ServedImexGroup& served) {
  Json peers = Json::array();
  for (const auto& [slot, peer] : served.peers) {
    peers.push_back(with_later(
        {{"slot", slot}, {"address", peer.address}, {"instance", peer.instance}}, peer.later));
  }
  Json json = {{"group", served.group},
               {"slots", served.slots},
               {"slot", served.slot},
               {"term", served.term},
               {"started", served.started},
               {"peers", peers},
               {"forgetImporters", served.forget_importers}};
  if (served.loss) json["loss"] = json_of(*served.loss);
  return with_later(std::move(json), served.later);
}

core::ServedImexGroup served_of(const Json& json) {
  core::ServedImexGroup served;
  served.group = json.at("group");
  served.slots = whole_number(json.at("slots"));
  served.slot = whole_number(json.at("slot"));
  served.term = whole_number(json.at("term"));
  served.started = json.at("started");
  served.forget_importers = json.value("forgetImporters", false);
  for (const Json& peer : json.at("peers")) {
    served.peers[whole_number(peer.at("slot"))] = {peer.at("address"), peer.at("instance"),
                                                   later_in(peer, {"slot", "address", "instance"})};
  }
  if (json.contains("loss")) served.loss = loss_of(json.at("loss"));
  served.later = later_in(
      json, {"group", "slots", "slot", "term", "started", "peers", "forgetImporters", "loss"});
  return served;
}

Json json_of(const core::StoppedImexGroup& stopped) {
  return with_later({{"clique", stopped.clique}, {"slot", stopped.slot}, {"term", stopped.term}},
                    stopped.later);
}

// An agent of 0.1 knows no daemon without a claim, and nothing would end it. To such an agent it is
// one that has stopped and is to be stopped; of an earlier term, so that its slot stays taken.
core::StoppedImexGroup mark_of_ahead(const core::Checkpoint& checkpoint) {
  const core::ServedImexGroup& served = *checkpoint.served;
  return {.group = served.group,
          .clique = checkpoint.clique.value_or(""),
          .slot = served.slot,
          .term = std::max<std::int64_t>(served.term, 1) - 1};
}

Json content_of(const core::Checkpoint& checkpoint) {
  Json content = {
      {"bootID", checkpoint.boot_id}, {"claims", Json::object()}, {"stopped", Json::object()}};
  if (!checkpoint.agent.empty()) content["agent"] = checkpoint.agent;
  if (checkpoint.clique) content["clique"] = *checkpoint.clique;
  if (checkpoint.by_channel) content["byChannel"] = true;
  if (!checkpoint.let_go.empty()) content["letGo"] = checkpoint.let_go;
  const auto& served = checkpoint.served;
  const bool is_ahead = core::is_ahead(checkpoint);
  if (served) content[is_ahead ? "ahead" : "served"] = json_of(*served);
  for (const auto& [uid, claim] : checkpoint.claims) content["claims"][uid] = json_of(claim);
  for (const auto& [group, stopped] : checkpoint.stopped) {
    content["stopped"][group] = json_of(stopped);
  }
  if (is_ahead) content["stopped"][served->group] = json_of(mark_of_ahead(checkpoint));
  return with_later(std::move(content), checkpoint.later);
}

// An agent of 0.1 in between writes it back as it was, whatever has become of it.
void take_ahead(core::Checkpoint& checkpoint, core::ServedImexGroup ahead) {
  if (auto& served = checkpoint.served) {
    // Such an agent has begun a claim of it while this one's daemon ran, and has started none
    // since: what has become of that one is known here only.
    const bool is_same = served->group == ahead.group && served->slot == ahead.slot &&
                         served->term == ahead.term && !served->started;
    if (is_same) served = std::move(ahead);
    return;
  }
  checkpoint.served = std::move(ahead);
  const auto mark = checkpoint.stopped.find(checkpoint.served->group);
  const bool holds = core::is_ahead(checkpoint) && mark != checkpoint.stopped.end() &&
                     mark->second == mark_of_ahead(checkpoint);
  if (holds) {
    checkpoint.stopped.erase(mark);
  } else {
    checkpoint.served.reset();
  }
}

core::Checkpoint checkpoint_of(const Json& content) {
  core::Checkpoint checkpoint;
  checkpoint.agent = content.value("agent", "");
  checkpoint.boot_id = content.at("bootID");
  if (content.contains("clique")) checkpoint.clique = content.at("clique").get<std::string>();
  checkpoint.by_channel = content.value("byChannel", false);
  if (content.contains("letGo")) {
    checkpoint.let_go = content.at("letGo").get<std::set<std::string>>();
  }
  if (content.contains("served")) checkpoint.served = served_of(content.at("served"));
  for (const auto& [uid, claim] : content.at("claims").items()) {
    checkpoint.claims[uid] = claim_of(uid, claim);
  }
  for (const auto& [group, stopped] : content.at("stopped").items()) {
    checkpoint.stopped[group] = {group, stopped.at("clique"), whole_number(stopped.at("slot")),
                                 whole_number(stopped.at("term")),
                                 later_in(stopped, {"clique", "slot", "term"})};
  }
  checkpoint.later = later_in(content, {"agent", "bootID", "clique", "byChannel", "letGo", "claims",
                                        "served", "ahead", "stopped"});
  if (content.contains("ahead")) take_ahead(checkpoint, served_of(content.at("ahead")));
  return checkpoint;
}

base::Error unreadable(const std::string& why) {
  return {base::ErrorKind::Invalid, cat("the checkpoint ", why)};
}

}  // namespace

std::string encode_checkpoint(const core::Checkpoint& checkpoint) {
  const Json content = content_of(checkpoint);
  const Json whole = {
      {"format", kFormat}, {"checksum", checksum_of(content)}, {"checkpoint", content}};
  return text_of(whole);
}

base::Result<core::Checkpoint> decode_checkpoint(const std::string& text) {
  const Json whole = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (whole.is_discarded() || !whole.is_object())
    return unreadable("is torn: it is not a JSON object");
  if (whole.contains("v1") || whole.contains("v2")) {
    return unreadable("was written by NVIDIA's DRA driver");
  }
  if (!whole.contains("format") || !whole["format"].is_number_integer()) {
    return unreadable("has no format number: another program wrote it");
  }
  if (whole["format"] != kFormat) {
    return unreadable(cat("has format ", whole["format"].dump(), ", this agent reads ", kFormat));
  }
  if (!whole.contains("checkpoint") || !whole.contains("checksum") ||
      whole["checksum"] != checksum_of(whole["checkpoint"])) {
    return unreadable("does not fit its checksum");
  }
  try {
    return checkpoint_of(whole["checkpoint"]);
  } catch (const std::exception& e) {
    return unreadable(cat("lacks a field or has one of a wrong type: ", e.what()));
  }
}

}  // namespace cdom::agent
