// The processes that a /proc shows (proc(5)). No state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cdom::base {

struct Process {
  int pid = 0;
  std::vector<std::string> arguments;  // as in its command line
  friend bool operator==(const Process&, const Process&) = default;
};

// Whether `proc` shows all processes of a machine, and not those of a container.
bool shows_whole_machine(const std::string& proc);
// In ascending order.
std::vector<int> pids_in(const std::string& proc);
// nullopt when it is out of sight, or has no command line, as the kernel's own.
std::optional<Process> process_of(const std::string& proc, int pid);
// Those whose program file has this name, by pid.
std::vector<Process> processes_named(const std::string& proc, const std::string& name);

// Those of them that are in no container: in the PID namespace of the machine's first process,
// which no pod is in without a privilege. Anybody may call a process of a pod as he likes.
std::vector<Process> host_processes_named(const std::string& proc, const std::string& name);

// The command line in short: "nvidia-imex -c /etc/nvidia-imex/config.cfg (pid 812)".
std::string text_of(const Process& process);
bool has_argument(const Process& process, const std::string& argument);

}  // namespace cdom::base
