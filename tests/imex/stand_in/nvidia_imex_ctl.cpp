// nvidia-imex-ctl, a stand-in: -q (state) and -N (domain view; -j as JSON) of the stand-in daemon.
//
// The daemon is the one of a configuration file (-c FILE), at an address (-i IP PORT), or on a unix
// socket (-u PATH, --u=PATH). It waits for an answer as long as it takes, as nothing public says
// that the real one has a deadline.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "imex/stand_in/endpoint.h"
#include "imex/stand_in/parameters.h"

namespace {

int connect_to(const std::string& address, int port) {
  const cdom::stand_in::Endpoint at(address, port);
  const int fd = socket(at.family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
  (void)connect(fd, at.data(), at.size());
  return fd;
}

int connect_to(const std::string& path) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  path.copy(at.sun_path, sizeof at.sun_path - 1);
  (void)connect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at);
  return fd;
}

// "" when nobody answers.
std::string ask(int fd, const std::string& question) {
  std::string text;
  if (send(fd, question.data(), question.size(), MSG_NOSIGNAL) > 0) {
    char block[4096];
    for (ssize_t got = 0; (got = recv(fd, block, sizeof block, 0)) > 0;) {
      text.append(block, static_cast<std::size_t>(got));
    }
  }
  close(fd);
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  std::string address = "127.0.0.1", path, question = "q\n";
  bool has_configuration = false;
  int port = cdom::sandbox::imex_constants::kCommandPort;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "-c" && i + 1 < argc) {
      const auto parameters = cdom::stand_in::read_parameters(argv[++i]);
      address = parameters.command_address;
      port = parameters.command_port;
      has_configuration = true;
    } else if (word == "-i" && i + 2 < argc) {
      address = argv[++i];
      port = std::atoi(argv[++i]);
    } else if (word == "-u" && i + 1 < argc) {
      path = argv[++i];
    } else if (word.starts_with("--u=")) {
      path = word.substr(4);
    } else if (word == "-N") {
      question = "N\n";
    } else if (word != "-q" && word != "-j" && word != "-H" && word != "-t") {
      std::fprintf(stderr, "nvidia-imex-ctl (stand-in): %s is no option\n", word.c_str());
      return 2;
    }
  }
  if (question == "N\n" && !has_configuration) {
    std::fprintf(stderr, "nvidia-imex-ctl (stand-in): -N requires a configuration\n");
    return 2;
  }
  const std::string text =
      ask(path.empty() ? connect_to(address, port) : connect_to(path), question);
  std::fputs(text.empty() ? "UNAVAILABLE\n" : text.c_str(), stdout);
  return text.empty() ? 1 : 0;
}
