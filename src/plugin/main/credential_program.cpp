#include "plugin/main/credential_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/environment.h"
#include "compute_domain/base/argument_list.h"
#include "compute_domain/base/descriptor.h"
#include "compute_domain/base/system_error.h"
#include "compute_domain/base/text.h"

namespace cdom::program {

namespace {

using base::cat;
using base::invalid;
using kube::ExecPlugin;

std::vector<std::string>& kept_environment() {
  static std::vector<std::string> kept;
  return kept;
}

// The environment of keep_environment(), with `added`; the last one of a name counts.
std::vector<std::string> environment_with(const std::vector<std::string>& added) {
  std::vector<std::string> all = kept_environment();
  for (const std::string& one : added) {
    const std::string name = one.substr(0, one.find('=') + 1);
    std::erase_if(all, [&](const std::string& earlier) { return earlier.starts_with(name); });
    all.push_back(one);
  }
  return all;
}

// Where a command without a slash is, or "": never in the folder that somebody happens to be in.
std::string found_in_path(const std::string& command) {
  if (command.find('/') != std::string::npos) return command;
  for (const std::string& folder : base::split(cli::variable("PATH"), ':')) {
    std::string file = cat(folder, "/", command);
    std::error_code ignored;
    if (folder.starts_with('/') && access(file.c_str(), X_OK) == 0 &&
        std::filesystem::is_regular_file(file, ignored)) {
      return file;
    }
  }
  return "";
}

base::Error cannot_start(const ExecPlugin& plugin, const std::string& why) {
  const std::string hint = plugin.install_hint.empty() ? "" : cat(": ", plugin.install_hint);
  return invalid(cat(plugin.where, ".command: cannot start ", plugin.command, ": ", why, hint));
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
  const std::string file = found_in_path(plugin.command);
  if (file.empty()) return cannot_start(plugin, "it is in no folder of PATH");
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
  const int failure =
      posix_spawn(&pid, file.c_str(), &actions, nullptr, base::argument_list(arguments).data(),
                  base::argument_list(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) {
    return cannot_start(plugin, std::strerror(failure));  // NOLINT(concurrency-mt-unsafe)
  }
  writer.reset();
  std::string printed = read_all(reader.get());
  reader.reset();
  int status = 0;
  pid_t ended = 0;
  do {
    ended = waitpid(pid, &status, 0);
  } while (ended < 0 && errno == EINTR);
  if (ended < 0) return base::system_error(cat("cannot see how ", plugin.command, " has ended"));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return printed;
  const std::string how =
      WIFEXITED(status) ? cat("exit code ", WEXITSTATUS(status)) : cat("signal ", WTERMSIG(status));
  return invalid(cat(plugin.where, ": ", plugin.command, " failed with ", how,
                     ": what it says on standard error tells why"));
}

}  // namespace

void keep_environment() {
  // Started by who ignores the ends of children, this process would not see how one has ended.
  std::signal(SIGCHLD, SIG_DFL);
  for (char** variable = environ; *variable != nullptr; ++variable) {
    kept_environment().emplace_back(*variable);
  }
}

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
