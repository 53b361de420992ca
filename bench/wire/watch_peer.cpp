#include "watch_peer.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <system_error>

#include "compute_domain/base/text.h"

namespace cdom::bench {

WatchPeer::WatchPeer(const std::string& program, const std::string& what, int events) {
  int to[2], from[2];
  if (::pipe2(to, O_CLOEXEC) != 0 || ::pipe2(from, O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "a pipe to watch-peer");
  }
  const std::string number = std::to_string(events);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(to[0], STDIN_FILENO);
    ::dup2(from[1], STDOUT_FILENO);
    ::execl(program.c_str(), program.c_str(), what.c_str(), number.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(to[0]);
  ::close(from[1]);
  to_ = ::fdopen(to[1], "w");
  from_ = ::fdopen(from[0], "r");
  if (pid_ < 0) throw std::runtime_error("cannot fork");
  ::signal(SIGPIPE, SIG_IGN);  // ask() says it better
}

WatchPeer::~WatchPeer() {
  std::fclose(to_);  // at which it ends
  std::fclose(from_);
  ::waitpid(pid_, nullptr, 0);
}

std::string WatchPeer::ask(const std::string& line) {
  std::fputs(base::cat(line, "\n").c_str(), to_);
  std::fflush(to_);
  std::string answer;
  int read = std::fgetc(from_);
  for (; read != EOF && read != '\n'; read = std::fgetc(from_)) {
    answer.push_back(static_cast<char>(read));
  }
  if (read == EOF) throw std::runtime_error("watch-peer has ended");
  return answer;
}

}  // namespace cdom::bench
