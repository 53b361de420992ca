#include "imex/process/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "compute_domain/base/argument_list.h"
#include "compute_domain/base/system_error.h"
#include "compute_domain/base/text.h"

namespace cdom::imex {

namespace {

// Since Linux 5.4; the C library of 2019 does not name it.
constexpr auto kPidfd = static_cast<idtype_t>(3);
// Since Linux 5.11 (close_range(2)).
constexpr unsigned kCloseRangeAtExec = 4;
// For the end of a process that was killed; milliseconds.
constexpr int kPatience = 1000;

struct Failure {
  enum Step : int { Namespace, Mount, Execute } step;
  int number;
};

struct Prepared {
  std::vector<char*> arguments, environment;
  int null_input, output, report;
  pid_t supervisor;
};

// Runs between vfork and exec, in the memory of the supervisor, which waits: nothing but calls to
// the system.
[[noreturn]] void become(const Command& command, const Prepared& prepared) {
  const auto give_up = [&](Failure::Step step) {
    const Failure failure{step, errno};
    (void)!write(prepared.report, &failure, sizeof failure);
    _exit(127);
  };
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != prepared.supervisor) _exit(127);  // it has died meanwhile
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  dup2(prepared.null_input, STDIN_FILENO);
  if (prepared.output >= 0) {
    dup2(prepared.output, STDOUT_FILENO);
    dup2(prepared.output, STDERR_FILENO);
  }
  if (!command.mounts.empty()) {
    // What others unmount goes away here too: a copy of its own would keep a volume busy for as
    // long as the child runs. What the child mounts, nobody else sees.
    if (unshare(CLONE_NEWNS) != 0 ||
        mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) {
      give_up(Failure::Namespace);
    }
    for (const BindMount& bind : command.mounts) {
      if (mount(bind.source.c_str(), bind.target.c_str(), nullptr, MS_BIND, nullptr) != 0) {
        give_up(Failure::Mount);
      }
    }
  }
  // Ours are closed at exec all the same; what this process was started with may not be. An older
  // kernel leaves it.
  syscall(SYS_close_range, STDERR_FILENO + 1U, ~0U, kCloseRangeAtExec);
  if (command.kept_descriptor >= 0) fcntl(command.kept_descriptor, F_SETFD, 0);
  execve(prepared.arguments[0], prepared.arguments.data(), prepared.environment.data());
  give_up(Failure::Execute);
  _exit(127);
}

// The control tool is asked on every node for ever: fork() would copy the supervisor's page tables
// for each question, and then each page that it writes. The child has the supervisor's memory until
// it is another program: no signal comes meanwhile, and of those that come as it unblocks them the
// supervisor handles none, so that they end the child.
pid_t start_process(const Command& command, const Prepared& prepared) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = vfork();                // NOLINT(clang-analyzer-security.insecureAPI.vfork)
  if (pid == 0) become(command, prepared);  // NOLINT(clang-analyzer-unix.Vfork)
  const int number = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = number;
  return pid;
}

base::Error error_of(const Failure& failure, const Command& command) {
  const std::string& program = command.arguments.front();
  switch (failure.step) {
    case Failure::Namespace:
      return base::system_error(
          base::cat("cannot give ", program,
                    " a mount namespace of its own (the container needs CAP_SYS_ADMIN)"),
          failure.number);
    case Failure::Mount:
      return base::system_error(base::cat("cannot mount ", command.mounts.front().source, " over ",
                                          command.mounts.front().target, " for ", program),
                                failure.number);
    case Failure::Execute:
      break;
  }
  base::Error error = base::system_error(base::cat("cannot execute ", program), failure.number);
  // The rest is about the program, which is as good as not there.
  const bool is_shortage = failure.number == EAGAIN || failure.number == ENOMEM ||
                           failure.number == EMFILE || failure.number == ENFILE;
  if (!is_shortage) error.kind = base::ErrorKind::NotFound;
  return error;
}

}  // namespace

std::string to_string(const Ending& ending) {
  if (ending.signal == 0) return base::cat("exited with code ", ending.code);
  const char* name = sigabbrev_np(ending.signal);
  return name == nullptr ? base::cat("was ended by signal ", ending.signal)
                         : base::cat("was ended by SIG", name);
}

base::Result<Child> Child::start(const Command& command) {
  int report[2], output[2] = {-1, -1};
  if (pipe2(report, O_CLOEXEC) != 0) return base::system_error("cannot make a pipe");
  base::Descriptor report_reader(report[0]), report_writer(report[1]);
  if (command.captures_output && pipe2(output, O_CLOEXEC) != 0) {
    return base::system_error("cannot make a pipe");
  }
  base::Descriptor output_reader(output[0]), output_writer(output[1]);
  if (output_reader) fcntl(output_reader.get(), F_SETFL, O_NONBLOCK);
  const base::Descriptor null_input(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const Prepared prepared{base::argument_list(command.arguments),
                          base::argument_list(command.environment),
                          null_input.get(),
                          output_writer.get(),
                          report_writer.get(),
                          getpid()};
  const pid_t pid = start_process(command, prepared);
  if (pid < 0) return base::system_error("cannot start a process");
  base::Descriptor pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd) {
    auto error = base::system_error("cannot watch a process (Linux 5.4 or later is needed)");
    // Nobody could ever tell it anything.
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    return error;
  }
  Child child(pid, std::move(pidfd), std::move(output_reader));
  report_writer.reset();
  Failure failure{};
  ssize_t got = 0;
  do {
    got = read(report_reader.get(), &failure, sizeof failure);
  } while (got < 0 && errno == EINTR);
  if (got == sizeof failure) return error_of(failure, command);
  return child;
}

Child::~Child() {
  if (!pidfd_) return;
  signal(SIGKILL);
  pollfd exit{.fd = pidfd_.get(), .events = POLLIN, .revents = 0};
  if (poll(&exit, 1, kPatience) == 0) return;
  // It has ended, but whoever traces it (a debugger, a leak checker) hears of it first, and until
  // then the kernel does not give it to us (ptrace(2)).
  for (int waited = 0; !reap() && waited < kPatience; ++waited) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void Child::signal(int number) const {
  if (pidfd_) syscall(SYS_pidfd_send_signal, pidfd_.get(), number, nullptr, 0);
}

std::optional<Ending> Child::reap() {
  if (!pidfd_) return std::nullopt;
  siginfo_t info{};
  if (waitid(kPidfd, static_cast<id_t>(pidfd_.get()), &info, WEXITED | WNOHANG) != 0 ||
      info.si_pid == 0) {
    return std::nullopt;
  }
  pidfd_.reset();
  if (info.si_code == CLD_EXITED) return Ending{info.si_status, 0};
  return Ending{0, info.si_status};
}

}  // namespace cdom::imex
