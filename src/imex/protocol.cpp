#include "compute_domain/imex/protocol.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "compute_domain/base/text.h"
#include "imex/host/fabric_line.h"
#include "imex/host/lack_line.h"
#include "imex/process/line.h"

namespace cdom::imex {

namespace {

using base::cat;
using base::Duration;
using base::ErrorKind;

constexpr std::array kPhases{DaemonPhase::Stopped, DaemonPhase::Starting, DaemonPhase::Recovering,
                             DaemonPhase::Ready, DaemonPhase::Failed};
constexpr std::array kKinds{ErrorKind::NotFound,    ErrorKind::AlreadyExists, ErrorKind::Conflict,
                            ErrorKind::Expired,     ErrorKind::Invalid,       ErrorKind::Forbidden,
                            ErrorKind::Unavailable, ErrorKind::Cancelled};

// What a later version may call something that this one does not know is `otherwise`.
template <class Values>
auto named(const Values& values, const std::string& name, typename Values::value_type otherwise) {
  const auto found = std::ranges::find_if(values, [&](auto v) { return name_of(v) == name; });
  return found == values.end() ? otherwise : *found;
}

Line line_of(const Hello& hello) {
  return Line{"hello", {}}.with_number("version", hello.version).with("program", hello.program);
}
Line line_of(const Want& want) {
  return Line{"want", {}}
      .with("group", want.group)
      .with("slot", std::to_string(want.slot))
      .with("table", want.table_text)
      .with("table_hash", want.table_hash)
      .with("address", want.address);
}
Line line_of(const Hosts& hosts) {
  return Line{"hosts", {}}.with("text", hosts.text).with("revision", hosts.revision);
}
Line line_of(const Signal&) { return {"signal", {}}; }
Line line_of(const Stop&) { return {"stop", {}}; }
Line line_of(const Forget& forget) { return Line{"forget", {}}.with("group", forget.group); }
Line line_of(const PauseDriver& pause) {
  return Line{"pause_driver", {}}.with("paused", pause.is_paused ? "1" : "0");
}
Line line_of(const Watch& watch) {
  Line line{"watch", {}};
  line.with("cdi_root", watch.cdi_root);
  return watch.is_agent ? line : line.with("agent", "0");
}
Line line_of(const ReadKubeletState&) { return {"read_kubelet_state", {}}; }

Line line_of(const Reply& reply) {
  Line line{reply.error ? "error" : "ok", {}};
  line.with("id", std::to_string(reply.id)).with("text", reply.text);
  if (reply.error)
    line.with("kind", name_of(reply.error->kind)).with("message", reply.error->message);
  return line;
}

Line line_of(const DaemonStatus& status, Duration now) {
  Line line{"state", {}};
  line.with("phase", name_of(status.phase))
      .with_number("running", status.running ? 1 : 0)
      .with_number("stopping", status.stopping ? 1 : 0)
      .with_number("host_managed", status.host_managed ? 1 : 0)
      .with("group", status.group)
      .with("table_hash", status.table_hash)
      .with("slot", std::to_string(status.slot))
      .with("instance", status.instance)
      .with_number("answers", status.answers ? 1 : 0)
      .with("message", status.message)
      .with("hosts_revision", status.hosts_revision);
  if (status.starts_again) line.with("starts_again", *status.starts_again ? "1" : "0");
  if (status.signalled) {
    line.with("signal_age_ns", std::to_string((now - *status.signalled).count()));
  }
  std::string peers;
  for (const auto& [slot, letter] : status.peers) {
    peers += cat(peers.empty() ? "" : ",", slot, ":", letter);
  }
  line.with("peers", peers)
      .with("address", status.address)
      .with("cannot_start", status.cannot_start);
  if (status.driver_paused) line.with("driver_paused", *status.driver_paused ? "1" : "0");
  if (status.looks) line.with("looks", "1");
  if (status.lacks) line.with("looked", "1");
  const auto lacks = status.lacks.value_or(std::vector<base::NodeLack>());
  for (std::size_t i = 0; i < lacks.size() && i < kMostLacks; ++i) {
    line.with(cat("lack", i), base::trim(encode_line(imex::line_of(lacks[i]))));
  }
  return line;
}

std::map<std::int64_t, char> peers_of(const std::string& text) {
  std::map<std::int64_t, char> peers;
  for (const std::string& peer : base::split(text, ',')) {
    const std::size_t colon = peer.find(':');
    if (colon == std::string::npos || colon + 1 >= peer.size()) continue;
    const std::int64_t slot = Line{"", {{"slot", peer.substr(0, colon)}}}.number("slot", -1);
    if (slot >= 0) peers[slot] = peer[colon + 1];
  }
  return peers;
}

// A negative one would be written as a number that nobody reads.
std::uint64_t id_of(const Line& line) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(line.number("id"), 0));
}

Hello hello_of(const Line& line) { return {line.number("version"), line.text("program")}; }

DaemonStatus status_of(const Line& line, Duration now) {
  DaemonStatus status;
  status.phase = named(kPhases, line.text("phase"), DaemonPhase::Starting);
  status.running = line.number("running") != 0;
  status.stopping = line.number("stopping") != 0;
  status.host_managed = line.number("host_managed") != 0;
  if (line.has("starts_again")) status.starts_again = line.number("starts_again") != 0;
  status.group = line.text("group");
  status.table_hash = line.text("table_hash");
  status.slot = line.number("slot", -1);
  status.instance = line.text("instance");
  status.answers = line.number("answers") != 0;
  status.message = line.text("message");
  status.hosts_revision = line.text("hosts_revision");
  if (line.has("signal_age_ns")) {
    status.signalled = now - Duration(std::max<std::int64_t>(line.number("signal_age_ns"), 0));
  }
  status.peers = peers_of(line.text("peers"));
  status.address = line.text("address");
  status.cannot_start = line.text("cannot_start");
  if (line.has("driver_paused")) status.driver_paused = line.number("driver_paused") != 0;
  status.looks = line.number("looks") != 0;
  if (line.has("looked")) status.lacks.emplace();
  for (std::size_t i = 0; status.lacks && i < kMostLacks && line.has(cat("lack", i)); ++i) {
    status.lacks->push_back(lack_of(decode_line(line.text(cat("lack", i)))));
  }
  return status;
}

}  // namespace

std::string life_mark_of(const std::string& socket_path) { return socket_path + ".life"; }
std::string withdrawal_of(const std::string& socket_path) { return socket_path + ".withdrawn"; }

std::string encode(std::uint64_t id, const Request& request) {
  Line line = std::visit([](const auto& r) { return line_of(r); }, request);
  return encode_line(line.with("id", std::to_string(id)));
}

std::string encode(const Notice& notice, Duration now) {
  const auto line = [now](const auto& n) {
    if constexpr (requires { line_of(n, now); }) {
      return line_of(n, now);
    } else {
      return line_of(n);
    }
  };
  return encode_line(std::visit(line, notice));
}

NumberedRequest decode_request(std::string_view text) {
  const Line line = decode_line(text);
  const auto id = id_of(line);
  if (line.verb == "hello") return {id, Request(hello_of(line))};
  if (line.verb == "want") {
    Want want{line.text("group"), line.number("slot", -1), line.text("table"),
              line.text("table_hash"), line.text("address")};
    if (want.group.empty() || want.table_text.empty() || want.address.empty() || want.slot < 0) {
      return {id, base::Error{ErrorKind::Invalid, "want: needs group, slot, table and address"}};
    }
    return {id, Request(std::move(want))};
  }
  if (line.verb == "hosts") return {id, Request(Hosts{line.text("text"), line.text("revision")})};
  if (line.verb == "signal") return {id, Request(Signal{})};
  if (line.verb == "stop") return {id, Request(Stop{})};
  if (line.verb == "forget") return {id, Request(Forget{line.text("group")})};
  if (line.verb == "pause_driver") return {id, Request(PauseDriver{line.number("paused") != 0})};
  if (line.verb == "watch") {
    return {id, Request(Watch{line.text("cdi_root"), line.number("agent", 1) != 0})};
  }
  if (line.verb == "read_kubelet_state") return {id, Request(ReadKubeletState{})};
  return {id,
          base::Error{ErrorKind::Invalid,
                      cat("this compute-domain-imex does not know the request \"",
                          base::shortened(line.verb, 40), "\"; it may be older than the agent")}};
}

std::optional<Notice> decode_notice(std::string_view text, Duration now) {
  const Line line = decode_line(text);
  if (line.verb == "hello") return hello_of(line);
  if (line.verb == "state") return status_of(line, now);
  if (line.verb == kFabricVerb) return fabric_of(line);
  Reply reply{id_of(line), std::nullopt, line.text("text")};
  if (line.verb == "ok") return reply;
  if (line.verb != "error") return std::nullopt;
  reply.error =
      base::Error{named(kKinds, line.text("kind"), ErrorKind::Unavailable), line.text("message")};
  return reply;
}

std::optional<std::string> LineBuffer::next() {
  const std::size_t end = bytes_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = bytes_.substr(0, end);
  bytes_.erase(0, end + 1);
  return line;
}

}  // namespace cdom::imex
