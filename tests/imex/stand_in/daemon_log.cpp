#include "imex/stand_in/daemon_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <ctime>

#include "compute_domain/base/text.h"

namespace cdom::stand_in {

DaemonLog::DaemonLog(const std::string& file) : out_(STDERR_FILENO) {
  if (file.empty()) return;
  const int opened = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (opened >= 0) out_ = opened;
}

void DaemonLog::print(const char* level, const std::string& text) const {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  char moment[32];
  std::strftime(moment, sizeof moment, "%b %d %Y %H:%M:%S", gmtime_r(&now, &parts));
  const std::string line =
      base::cat("[", moment, "] [", level, "] [tid ", getpid(), "] ", text, "\n");
  (void)!write(out_, line.data(), line.size());
}

}  // namespace cdom::stand_in
