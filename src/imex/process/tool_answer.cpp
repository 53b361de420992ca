#include "imex/process/tool_answer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "compute_domain/base/text.h"

namespace cdom::imex {

namespace {

using base::cat;
using base::Error;
using base::ErrorKind;

constexpr std::pair<std::string_view, ReportedState> kWords[] = {
    {"INITIALIZING", ReportedState::Initializing},
    {"STARTING_AUTH_SERVER", ReportedState::StartingAuthServer},
    {"WAITING_FOR_PEERS", ReportedState::WaitingForPeers},
    {"WAITING_FOR_RECOVERY", ReportedState::WaitingForRecovery},
    {"INIT_GPU", ReportedState::InitGpu},
    {"READY", ReportedState::Ready},
    {"SHUTTING_DOWN", ReportedState::ShuttingDown},
};

// The letter of a connection's status: -N prints letters, -N -j words such as CONNECTED. A word
// that is not known counts as not connected.
char letter_of(const std::string& status) {
  if (status == "C" || status == "CONNECTED") return 'C';
  if (status.find("VERSION") != std::string::npos || status == "!V!") return 'V';
  if (status.find("MAP") != std::string::npos || status == "!M!") return 'M';
  const char first = status.empty() ? 'I' : status.front();
  if (status.size() == 1 && std::string_view("ANRDI").find(first) != std::string_view::npos) {
    return first;
  }
  for (const std::string_view word : {"AUTHENTICATING", "NEVER", "RECOVERING", "DISCONNECTED"}) {
    if (status.starts_with(word)) return word.front();
  }
  return 'I';
}

bool looks_like_a_state(std::string_view line) {
  return !line.empty() &&
         line.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == std::string_view::npos;
}

// Warnings may stand before it and behind it, with braces too, as the tool's two outputs are read
// as one: the first object that has nodes.
nlohmann::json object_in(const std::string& text) {
  constexpr int kMostBraces = 8;
  const std::size_t end = text.rfind('}') + 1;  // npos + 1 is 0
  std::size_t begin = text.find('{');
  for (int i = 0; i < kMostBraces && begin < end; ++i, begin = text.find('{', begin + 1)) {
    nlohmann::json object = nlohmann::json::parse(text.data() + begin, text.data() + end, nullptr,
                                                  /*allow_exceptions=*/false);
    if (object.is_object() && object.contains("nodes")) return object;
  }
  return {};
}

std::string in_short(const std::string& text) {
  const std::string_view line = base::trim(text);
  return base::shortened(std::string(line.substr(0, line.find('\n'))), 200);
}

// glibc's loader exits with 127 after "PROGRAM: error while loading shared libraries: …", or where
// a library is there and lacks something, "symbol lookup error" or "relocation error"
// (elf/dl-catch.c, fatal_error); where it lacks a version, with 1 (elf/rtld.c, version_check_doit).
bool is_complaint(std::string_view line, int exit_code) {
  const auto has = [&](std::string_view words) {
    return line.find(words) != std::string_view::npos;
  };
  if (exit_code == 1) return has(": version `") && has("' not found (required by ");
  return exit_code == 127 && (has(": error while loading shared libraries: ") ||
                              has(": symbol lookup error: ") || has(": relocation error: "));
}

}  // namespace

std::optional<std::string> loader_complaint(const ToolAnswer& answer) {
  if (answer.outcome != ToolAnswer::Outcome::Refusal) return std::nullopt;
  for (const std::string& line : base::split(answer.text, '\n')) {
    if (is_complaint(line, answer.exit_code)) return in_short(line);
  }
  return std::nullopt;
}

base::Result<ReportedState> reported_state(const std::string& text) {
  std::string last;
  for (const std::string& line : base::split(text, '\n')) {
    const std::string_view words = base::trim(line);
    if (looks_like_a_state(words)) last = words;
  }
  for (const auto& [name, word] : kWords) {
    if (last == name) return word;
  }
  return Error{ErrorKind::Unavailable, cat("nvidia-imex-ctl -q says \"", in_short(text), "\"")};
}

base::Result<NodeView> node_view(const std::string& text, std::int64_t own_index) {
  const auto unreadable = [&] {
    return Error{ErrorKind::Invalid,
                 cat("nvidia-imex-ctl -N -j does not show the connections of index ", own_index,
                     ": \"", in_short(text), "\"")};
  };
  using nlohmann::json;
  const json document = object_in(text);
  const auto below = [](const json* at, const std::string& key) -> const json* {
    if (at == nullptr || !at->is_object()) return nullptr;
    const auto found = at->find(key);
    return found == at->end() ? nullptr : &*found;
  };
  const json* row = below(below(&document, "nodes"), std::to_string(own_index));
  const json* connections = below(row, "connections");
  if (connections == nullptr || !connections->is_object()) return unreadable();
  NodeView view;
  const json* word = below(row, "status");
  view.is_ready = word != nullptr && *word == "READY";
  for (const auto& [key, connection] : connections->items()) {
    if (key.empty() || key.size() > 6 || key.find_first_not_of("0123456789") != std::string::npos ||
        !connection.is_object()) {
      continue;
    }
    const std::int64_t index = std::stoll(key);
    const auto status = connection.find("status");
    if (index == own_index || status == connection.end() || !status->is_string()) continue;
    view.letters[index] = letter_of(status->get_ref<const std::string&>());
  }
  return view;
}

}  // namespace cdom::imex
