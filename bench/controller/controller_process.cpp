#include "controller_process.h"

#include <arpa/inet.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include "compute_domain/base/text.h"

namespace cdom::bench {

namespace {

// A port that nobody listens on right now.
int free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::system_error(errno, std::generic_category(), "a port of 127.0.0.1");
  }
  ::close(fd);
  return ntohs(address.sin_port);
}

}  // namespace

ControllerProcess::ControllerProcess(const std::string& program, const std::string& kubeconfig)
    : port_(free_port()) {
  const std::string listen = base::cat("127.0.0.1:", port_);
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error("cannot fork");
  if (pid_ > 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::execl(program.c_str(), program.c_str(), "--kubeconfig", kubeconfig.c_str(), "--metrics-listen",
          listen.c_str(), "--log-level", "warning", nullptr);
  ::_exit(127);
}

ControllerProcess::~ControllerProcess() {
  ::kill(pid_, SIGTERM);
  ::waitpid(pid_, nullptr, 0);
}

std::string ControllerProcess::health_url() const { return base::cat("http://127.0.0.1:", port_); }

double ControllerProcess::cpu_seconds() const {
  std::ifstream in(base::cat("/proc/", pid_, "/stat"));
  std::string text;
  std::getline(in, text);
  // After the name in brackets come state and the fields from 4 on; 14 and 15 are the times.
  std::istringstream fields(text.substr(text.rfind(')') + 2));
  std::string skipped;
  for (int i = 3; i < 14; ++i) fields >> skipped;
  double user = 0;
  double system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

double ControllerProcess::memory(const std::string& which) const {
  std::ifstream in(base::cat("/proc/", pid_, "/status"));
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(which + ":")) return std::stod(line.substr(which.size() + 1)) / 1024;
  }
  throw std::runtime_error("the controller has ended");
}

}  // namespace cdom::bench
