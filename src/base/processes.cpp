#include "compute_domain/base/processes.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>

#include "compute_domain/base/files.h"
#include "compute_domain/base/text.h"

namespace cdom::base {

namespace {

// The kernel's name of the process, at most 15 characters: also a process that hides the rest shows
// it.
std::string comm_of(const std::string& proc, int pid) {
  const auto text = read_file(cat(proc, "/", pid, "/comm"));
  return text ? std::string(trim(*text)) : "";
}

constexpr std::size_t kLongestComm = 15;

bool may_have_name(const std::string& proc, int pid, const std::string& name) {
  return comm_of(proc, pid) == name.substr(0, kLongestComm);
}
bool has_name(const Process& process, const std::string& name) {
  return name.size() <= kLongestComm || split(process.arguments.front(), '/').back() == name;
}

// Reads no command line but of a pid that `is_meant`: it lies in the memory of that process, which
// decides when it can be read.
std::vector<Process> named(const std::string& proc, const std::string& name,
                           const std::function<bool(int)>& is_meant) {
  std::vector<Process> found;
  for (const int pid : pids_in(proc)) {
    if (!may_have_name(proc, pid, name) || !is_meant(pid)) continue;
    auto process = process_of(proc, pid);
    if (process && has_name(*process, name)) found.push_back(*std::move(process));
  }
  return found;
}

}  // namespace

// The kernel's own threads are in no container.
bool shows_whole_machine(const std::string& proc) { return comm_of(proc, 2) == "kthreadd"; }

std::vector<int> pids_in(const std::string& proc) {
  std::vector<int> pids;
  std::error_code error;
  for (std::filesystem::directory_iterator it(proc, error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename();
    int pid = 0;
    const auto [rest, bad] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (bad == std::errc() && rest == name.data() + name.size()) pids.push_back(pid);
  }
  std::ranges::sort(pids);
  return pids;
}

std::optional<Process> process_of(const std::string& proc, int pid) {
  const auto text = read_file(cat(proc, "/", pid, "/cmdline"));
  if (!text || text->empty()) return std::nullopt;
  Process process{pid, split(*text, '\0')};
  if (process.arguments.back().empty()) process.arguments.pop_back();
  return process;
}

std::vector<Process> processes_named(const std::string& proc, const std::string& name) {
  return named(proc, name, [](int) { return true; });
}

std::vector<Process> host_processes_named(const std::string& proc, const std::string& name) {
  const auto pid_namespace_of = [&](int pid) {
    std::error_code error;
    return std::filesystem::read_symlink(cat(proc, "/", pid, "/ns/pid"), error).string();
  };
  const std::string hosts = pid_namespace_of(1);
  return named(proc, name,
               [&](int pid) { return !hosts.empty() && pid_namespace_of(pid) == hosts; });
}

std::string text_of(const Process& process) {
  // Without its folder, and not all of a long command line.
  std::vector<std::string> words = process.arguments;
  if (!words.empty()) words.front() = split(words.front(), '/').back();
  return cat(shortened(join(words, " "), 80), " (pid ", process.pid, ")");
}

bool has_argument(const Process& process, const std::string& argument) {
  return std::ranges::find(process.arguments, argument) != process.arguments.end();
}

}  // namespace cdom::base
