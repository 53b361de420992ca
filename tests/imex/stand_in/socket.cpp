#include "imex/stand_in/socket.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "compute_domain/base/text.h"
#include "imex/stand_in/endpoint.h"
#include "imex/stand_in/parameters.h"

namespace cdom::stand_in {

Socket::~Socket() {
  if (fd_ >= 0) close(fd_);
}

Socket::Socket(Socket&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), bytes_(std::move(other.bytes_)) {}

Socket& Socket::operator=(Socket&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) close(fd_);
    fd_ = std::exchange(other.fd_, -1);
    bytes_ = std::move(other.bytes_);
  }
  return *this;
}

Socket Socket::listen(const std::string& address, int port) {
  const Endpoint at(address, port);
  Socket socket(::socket(at.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int yes = 1;
  setsockopt(socket.fd_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (bind(socket.fd_, at.data(), at.size()) != 0 || ::listen(socket.fd_, 64) != 0) {
    end_with(base::cat("cannot listen on ", address, ":", port));
  }
  return socket;
}

Socket Socket::listen_on(const std::string& path) {
  Socket socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  path.copy(at.sun_path, sizeof at.sun_path - 1);
  unlink(path.c_str());
  if (bind(socket.fd_, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 ||
      ::listen(socket.fd_, 64) != 0) {
    end_with(base::cat("cannot listen on ", path));
  }
  return socket;
}

Socket Socket::connect(const std::string& own, const std::string& address, int port) {
  const Endpoint from(own), to(address, port);
  Socket socket(::socket(from.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (bind(socket.fd_, from.data(), from.size()) != 0 ||
      (::connect(socket.fd_, to.data(), to.size()) != 0 && errno != EINPROGRESS)) {
    return {};
  }
  return socket;
}

Socket Socket::accept() const {
  return Socket(accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

bool Socket::is_connected() const {
  int error = 0;
  socklen_t size = sizeof error;
  return getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
}

void Socket::send(const std::string& text) const {
  // Messages are far smaller than what a socket takes; a peer that reads nothing counts as silent.
  (void)!::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
}

bool Socket::receive() {
  char block[4096];
  for (;;) {
    const ssize_t got = recv(fd_, block, sizeof block, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN;
    if (got == 0) return false;
    bytes_.append(block, static_cast<std::size_t>(got));
  }
}

std::optional<std::string> Socket::line() {
  const std::size_t end = bytes_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = bytes_.substr(0, end);
  bytes_.erase(0, end + 1);
  return line;
}

}  // namespace cdom::stand_in
