#include "plugin/main/credential_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "compute_domain/base/descriptor.h"
#include "compute_domain/base/system_error.h"
#include "compute_domain/base/text.h"

namespace cdom::program {

namespace {

using base::cat;
using base::invalid;
using kube::ExecPlugin;

// That of this process, with `added` in place of variables of the same name.
std::vector<std::string> environment_with(const std::vector<std::string>& added) {
  std::vector<std::string> all = added;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::string_view name = text.substr(0, text.find('=') + 1);
    bool is_replaced = false;
    for (const std::string& one : added) is_replaced = is_replaced || one.starts_with(name);
    if (!is_replaced) all.emplace_back(text);
  }
  return all;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): posix_spawn does not write to them
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

// Ends with the program, or earlier when that closes its output.
std::string read_all(int fd) {
  constexpr std::size_t kMost = std::size_t{1} << 20U;  // of a credential
  std::string text;
  char buffer[4096];
  while (text.size() < kMost) {
    const ssize_t got = read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(buffer, static_cast<std::size_t>(got));
  }
  return text;
}

base::Result<std::string> output_of(const ExecPlugin& plugin, const std::string& info,
                                    bool is_interactive) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return base::system_error("cannot make a pipe");
  base::Descriptor reader(ends[0]), writer(ends[1]);
  std::vector<std::string> arguments{plugin.command};
  arguments.insert(arguments.end(), plugin.arguments.begin(), plugin.arguments.end());
  std::vector<std::string> added = plugin.environment;
  added.push_back(cat("KUBERNETES_EXEC_INFO=", info));
  const std::vector<std::string> environment = environment_with(added);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (!is_interactive) {
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  }
  posix_spawn_file_actions_adddup2(&actions, writer.get(), STDOUT_FILENO);
  pid_t pid = 0;
  const int failure = posix_spawnp(&pid, plugin.command.c_str(), &actions, nullptr,
                                   pointers(arguments).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) {
    const std::string hint = plugin.install_hint.empty() ? "" : cat(": ", plugin.install_hint);
    return invalid(cat(plugin.where, ".command: cannot start ", plugin.command, ": ",
                       std::strerror(failure), hint));  // NOLINT(concurrency-mt-unsafe): one thread
  }
  writer.reset();
  std::string printed = read_all(reader.get());
  reader.reset();
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return printed;
  const std::string how =
      WIFEXITED(status) ? cat("exit code ", WEXITSTATUS(status)) : cat("signal ", WTERMSIG(status));
  return invalid(cat(plugin.where, ": ", plugin.command, " failed with ", how,
                     ": what it says on standard error tells why"));
}

}  // namespace

base::Result<void> get_credentials(kube::ClusterAccess& access) {
  if (!access.exec) return {};
  const ExecPlugin& plugin = *access.exec;
  const bool is_terminal = isatty(STDIN_FILENO) == 1;
  if (plugin.interaction == kube::Interaction::Always && !is_terminal) {
    return invalid(cat(plugin.where, ": ", plugin.command,
                       " wants to ask on standard input, which is not a terminal"));
  }
  const bool is_interactive = is_terminal && plugin.interaction != kube::Interaction::Never;
  const auto info = kube::exec_info(plugin, access.http, is_interactive);
  if (!info) return info.error();
  const auto printed = output_of(plugin, *info, is_interactive);
  if (!printed) return printed.error();
  return kube::take_exec_credential(plugin, *printed, access.http);
}

}  // namespace cdom::program
