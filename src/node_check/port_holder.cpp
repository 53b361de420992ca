#include "node_check/port_holder.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>
#include <sstream>
#include <vector>

#include "compute_domain/base/files.h"
#include "compute_domain/base/text.h"

namespace cdom::node_check {

namespace fs = std::filesystem;
using base::cat;

namespace {

// A socket that listens, by /proc/net/tcp (proc(5)).
struct Listener {
  std::string address;  // in hexadecimal digits
  std::string inode;
};

std::vector<Listener> listeners_on(const std::string& proc, std::int64_t port) {
  constexpr std::string_view kListens = "0A";
  std::vector<Listener> listeners;
  for (const char* table : {"/net/tcp", "/net/tcp6"}) {
    const auto text = base::read_file(cat(proc, table));
    if (!text) continue;
    for (const std::string& line : base::split(*text, '\n')) {
      std::istringstream words(line);
      std::string slot, local, remote, state, queues, timer, retransmits, user, timeout, inode;
      words >> slot >> local >> remote >> state >> queues >> timer >> retransmits >> user >>
          timeout >> inode;
      const std::size_t colon = local.rfind(':');
      if (inode.empty() || state != kListens || colon == std::string::npos) continue;
      std::int64_t number = -1;
      std::from_chars(local.data() + colon + 1, local.data() + local.size(), number, 16);
      if (number == port) listeners.push_back({local.substr(0, colon), inode});
    }
  }
  return listeners;
}

bool has_one_of(const std::string& proc, int pid, const std::set<std::string>& sockets) {
  std::error_code error;
  const std::string folder = cat(proc, "/", pid, "/fd");
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code unreadable;
    if (sockets.contains(fs::read_symlink(it->path(), unreadable).string())) return true;
  }
  return false;
}

}  // namespace

std::optional<Process> holder_of(const std::string& proc, std::int64_t port) {
  std::set<std::string> sockets;
  for (const Listener& one : listeners_on(proc, port)) {
    sockets.insert(cat("socket:[", one.inode, "]"));
  }
  if (sockets.empty()) return std::nullopt;
  for (const int pid : base::pids_in(proc)) {
    if (has_one_of(proc, pid, sockets)) return base::process_of(proc, pid);
  }
  return std::nullopt;
}

bool is_taken_everywhere(const std::string& proc, std::int64_t port) {
  return std::ranges::any_of(listeners_on(proc, port), [](const Listener& one) {
    return one.address.find_first_not_of('0') == std::string::npos;
  });
}

}  // namespace cdom::node_check
