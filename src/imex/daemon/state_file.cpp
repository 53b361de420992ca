#include "imex/daemon/state_file.h"

#include <cstdio>

#include "compute_domain/base/files.h"
#include "compute_domain/base/text.h"
#include "imex/process/line.h"

namespace cdom::imex {

std::optional<Saved> StateFile::load() const {
  const auto text = base::read_file(path_);
  if (!text || boot_id_.empty()) return std::nullopt;
  Saved saved;
  bool is_of_this_boot = false, is_whole = false;
  for (const std::string& line : base::split(*text, '\n')) {
    const Line parsed = decode_line(line);
    if (parsed.verb == "boot") is_of_this_boot = parsed.text("id") == boot_id_;
    if (parsed.verb == "end") is_whole = true;
    if (const auto notice = decode_notice(line)) {
      if (const auto* state = std::get_if<DaemonStatus>(&*notice)) saved.last = *state;
    }
    const auto request = decode_request(line).request;
    if (!request) continue;
    if (const auto* want = std::get_if<Want>(&*request)) saved.wanted = *want;
    if (const auto* hosts = std::get_if<Hosts>(&*request)) saved.hosts = *hosts;
  }
  return is_of_this_boot && is_whole ? std::optional(std::move(saved)) : std::nullopt;
}

base::Result<void> StateFile::save(const Saved& saved) const {
  std::string text = encode_line(Line{"boot", {{"id", boot_id_}}});
  text += encode(Notice(saved.last));
  if (saved.wanted) text += encode(0, Request(*saved.wanted));
  if (saved.hosts) text += encode(0, Request(*saved.hosts));
  auto done = base::replace_file(path_, text + "end\n");
  // Better nothing than something that is not true any more.
  if (!done && (std::remove(path_.c_str()) == 0 || !base::read_file(path_))) return {};
  return done;
}

}  // namespace cdom::imex
