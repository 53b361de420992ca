#include "node_check/sockets.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "compute_domain/base/descriptor.h"
#include "compute_domain/base/text.h"
#include "node_check/port_holder.h"

namespace cdom::node_check {

namespace fs = std::filesystem;

namespace {

// 0, or the error.
int bind_error(int family, std::int64_t port) {
  const base::Descriptor socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  // A machine without this family.
  if (!socket) return errno == EAFNOSUPPORT ? 0 : errno;
  const int on = 1;
  // Connections that have ended do not count.
  (void)setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in four{};
  sockaddr_in6 six{};
  const auto number = htons(static_cast<std::uint16_t>(port));
  int failed = 0;
  if (family == AF_INET6) {
    (void)setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    six.sin6_family = AF_INET6;
    six.sin6_port = number;
    failed = bind(socket.get(), reinterpret_cast<const sockaddr*>(&six), sizeof six);
  } else {
    four.sin_family = AF_INET;
    four.sin_port = number;
    failed = bind(socket.get(), reinterpret_cast<const sockaddr*>(&four), sizeof four);
  }
  if (failed == 0) failed = listen(socket.get(), 1);
  return failed == 0 ? 0 : errno;
}

}  // namespace

RegistrationSocket try_registration(const std::string& path, const std::string& proc) {
  RegistrationSocket found{.path = path};
  // By its folder, as below the node's root the whole path is too long for a socket's.
  const fs::path whole(path);
  const base::Descriptor folder(
      open(whole.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const std::string way = base::cat("/proc/self/fd/", folder.get(), "/", whole.filename().string());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (!folder || way.size() >= sizeof address.sun_path) return found;
  std::memcpy(address.sun_path, way.c_str(), way.size() + 1);
  // One that takes no connection now holds up nobody.
  const base::Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return found;
  if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno == EAGAIN) found.is_listening = true;
    if (errno == ECONNREFUSED || errno == ENOENT) found.is_listening = false;
    return found;
  }
  found.is_listening = true;
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid > 0) {
    found.listener = base::process_of(proc, peer.pid);
  }
  return found;
}

Port try_port(std::int64_t number, const std::string& proc) {
  Port port{.number = number};
  for (const int family : {AF_INET, AF_INET6}) {
    const int error = bind_error(family, number);
    if (error == 0) continue;
    port.error = error == EADDRINUSE ? "in use" : std::generic_category().message(error);
    port.holder = holder_of(proc, number);
    break;
  }
  return port;
}

Port look_at_port(std::int64_t number, const std::string& proc) {
  Port port{.number = number};
  if (!is_taken_everywhere(proc, number)) return port;
  port.error = "in use";
  port.holder = holder_of(proc, number);
  return port;
}

}  // namespace cdom::node_check
