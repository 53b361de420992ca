#include "compute_domain/base/apart_reader.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>

#include "compute_domain/base/descriptor.h"
#include "compute_domain/base/system_error.h"
#include "compute_domain/base/text.h"

namespace cdom::base {

namespace {

// Not the place of the standard output: what of that is in a buffer could get into the text.
constexpr int kOutput = STDIN_FILENO;
constexpr int kMostDescriptors = 4096;  // looked at where close_range() is missing (Linux < 5.9)

// Runs in a copy of a process that may have more threads: nothing but calls to the system. Its exit
// code is the errno of what failed, or 0.
[[noreturn]] void copy_out(const char* path, int output, pid_t reader) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != reader) _exit(ECHILD);  // it has died meanwhile
  // A lock on a file (flock(2)) is held by each process that has the file open.
  dup2(output, kOutput);
  if (syscall(SYS_close_range, kOutput + 1U, ~0U, 0) != 0) {
    for (int fd = kOutput + 1; fd < kMostDescriptors; ++fd) close(fd);
  }
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) _exit(errno);
  char block[4096];
  for (;;) {
    const ssize_t got = read(file, block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) _exit(errno);
    if (got == 0) _exit(0);
    if (write(kOutput, block, static_cast<std::size_t>(got)) != got) _exit(EFBIG);
  }
}

// No signal is handled twice: the copy handles none.
pid_t start_copy(const std::string& path, int output) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t self = getpid();
  const pid_t pid = fork();
  if (pid == 0) copy_out(path.c_str(), output, self);
  const int number = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = number;
  return pid;
}

std::string take_all(int pipe) {
  std::string text;
  char block[4096];
  for (;;) {
    const ssize_t got = ::read(pipe, block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(block, static_cast<std::size_t>(got));
  }
}

// Whether the process of this pidfd has ended by then. What it has written fits into the pipe.
bool ends_within(int pidfd, Duration patience) {
  const SystemClock clock;
  const Duration deadline = clock.elapsed() + patience;
  for (;;) {
    const Duration left = deadline - clock.elapsed();
    if (left <= Duration::zero()) return false;
    const auto whole = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    pollfd waited{.fd = pidfd, .events = POLLIN, .revents = 0};
    if (poll(&waited, 1, static_cast<int>(whole)) > 0) return true;
  }
}

}  // namespace

bool ApartReader::is_stuck() {
  if (stuck_ == 0) return false;
  const pid_t ended = waitpid(stuck_, nullptr, WNOHANG);
  if (ended == 0) return true;
  stuck_ = 0;
  return false;
}

ApartReader::~ApartReader() { (void)is_stuck(); }

Result<std::string> ApartReader::read(const std::string& path, Duration patience) {
  if (is_stuck()) {
    return Error{ErrorKind::Unavailable, cat("an earlier read of ", stuck_path_, " still hangs")};
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return system_error("cannot make a pipe");
  const Descriptor reader(ends[0]);
  Descriptor writer(ends[1]);
  // A file that is too long is an error, and no process that waits for room.
  fcntl(writer.get(), F_SETFL, O_NONBLOCK);
  const pid_t pid = start_copy(path, writer.get());
  if (pid < 0) return system_error(cat("cannot start a process that reads ", path));
  writer.reset();
  const Descriptor end(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!end) {
    Error error = system_error("cannot watch a process (Linux 5.4 or later is needed)");
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    return error;
  }
  if (!ends_within(end.get(), patience)) {
    kill(pid, SIGKILL);
    stuck_ = pid;
    stuck_path_ = path;
    return Error{ErrorKind::Unavailable,
                 cat(path, " has not been read within ", short_duration(patience))};
  }
  int status = 0;
  if (waitpid(pid, &status, 0) < 0 || !WIFEXITED(status)) {
    return Error{ErrorKind::Unavailable, cat("the process that reads ", path, " was ended")};
  }
  if (const int number = WEXITSTATUS(status); number != 0) {
    return system_error(cat("cannot read ", path), number);
  }
  return take_all(reader.get());
}

}  // namespace cdom::base
