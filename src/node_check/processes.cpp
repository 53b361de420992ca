#include "node_check/processes.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>
#include <sstream>

#include "compute_domain/base/files.h"
#include "compute_domain/base/text.h"

namespace cdom::node_check {

namespace fs = std::filesystem;
using base::cat;

namespace {

std::string comm_of(const std::string& proc, int pid) {
  const auto text = base::read_file(cat(proc, "/", pid, "/comm"));
  return text ? std::string(base::trim(*text)) : "";
}

std::vector<int> pids_in(const std::string& proc) {
  std::vector<int> pids;
  std::error_code error;
  for (fs::directory_iterator it(proc, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename();
    int pid = 0;
    const auto [rest, bad] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (bad == std::errc() && rest == name.data() + name.size()) pids.push_back(pid);
  }
  std::ranges::sort(pids);
  return pids;
}

// Inodes of the sockets that listen on a port, by /proc/net/tcp (proc(5)).
std::set<std::string> inodes_of(const std::string& proc, std::int64_t port) {
  constexpr std::string_view kListens = "0A";
  std::set<std::string> inodes;
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
      if (number == port) inodes.insert(cat("socket:[", inode, "]"));
    }
  }
  return inodes;
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

// The kernel's own threads are in no container.
bool shows_whole_machine(const std::string& proc) { return comm_of(proc, 2) == "kthreadd"; }

std::optional<Process> process_of(const std::string& proc, int pid) {
  const auto text = base::read_file(cat(proc, "/", pid, "/cmdline"));
  if (!text || text->empty()) return std::nullopt;
  Process process{pid, base::split(*text, '\0')};
  if (process.arguments.back().empty()) process.arguments.pop_back();
  return process;
}

std::vector<Process> processes_named(const std::string& proc, const std::string& name) {
  constexpr std::size_t kLongestComm = 15;
  std::vector<Process> found;
  for (const int pid : pids_in(proc)) {
    if (comm_of(proc, pid) != name.substr(0, kLongestComm)) continue;
    auto process = process_of(proc, pid);
    if (!process) continue;
    const bool is_it =
        name.size() <= kLongestComm || base::split(process->arguments.front(), '/').back() == name;
    if (is_it) found.push_back(*std::move(process));
  }
  return found;
}

std::optional<Process> holder_of(const std::string& proc, std::int64_t port) {
  const auto sockets = inodes_of(proc, port);
  if (sockets.empty()) return std::nullopt;
  for (const int pid : pids_in(proc)) {
    if (has_one_of(proc, pid, sockets)) return process_of(proc, pid);
  }
  return std::nullopt;
}

}  // namespace cdom::node_check
