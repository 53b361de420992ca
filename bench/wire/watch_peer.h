// WatchPeer: a process of bench/client_go, which answers each line that it gets by one of its own.
// It ends with this process. One thread.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <string>

namespace cdom::bench {

class WatchPeer {
 public:
  // `what` is one of its sub-commands. Throws std::runtime_error when there is no process to be
  // had.
  WatchPeer(const std::string& program, const std::string& what, int events);
  ~WatchPeer();
  WatchPeer(const WatchPeer&) = delete;
  WatchPeer& operator=(const WatchPeer&) = delete;

  // `line` is without its newline, and so is the answer. Throws std::runtime_error when the process
  // has ended.
  std::string ask(const std::string& line);

 private:
  pid_t pid_ = 0;
  std::FILE* to_ = nullptr;
  std::FILE* from_ = nullptr;
};

}  // namespace cdom::bench
