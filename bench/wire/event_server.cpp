#include "event_server.h"

#include <arpa/inet.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "compute_domain/base/text.h"

namespace cdom::bench {

namespace {

constexpr char kEmptyList[] =
    R"({"kind":"ResourceClaimList","apiVersion":"resource.k8s.io/v1","metadata":{"resourceVersion":"1"},"items":[]})";

bool send_all(int fd, const std::string& bytes) {
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t count = ::send(fd, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) return false;
    sent += static_cast<std::size_t>(count);
  }
  return true;
}

void serve(int fd, const EventServerOptions& options) {
  char request[4096] = "";
  if (::recv(fd, request, sizeof request - 1, 0) <= 0) return;
  if (std::strstr(request, "limit=") != nullptr) {
    send_all(fd, base::cat("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: ",
                           std::strlen(kEmptyList), "\r\n\r\n", kEmptyList));
    return;
  }
  int per_chunk = 1;
  std::sscanf(request, "GET /%d", &per_chunk);
  std::string events;
  for (int i = 0; i < per_chunk; ++i) events += options.line;
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", events.size());
  const std::string chunk = base::cat(std::string(size), events, "\r\n");
  bool sent = send_all(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; sent && i < options.events / per_chunk; ++i) sent = send_all(fd, chunk);
  if (sent) send_all(fd, "0\r\n\r\n");
}

}  // namespace

std::string start_event_server(const EventServerOptions& options) {
  const int listening = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(listening, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      ::listen(listening, 16) != 0 ||
      ::getsockname(listening, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    std::perror("event server: cannot listen on 127.0.0.1");
    std::exit(1);  // NOLINT(concurrency-mt-unsafe): one thread yet
  }
  if (::fork() == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (true) {
      const int fd = ::accept(listening, nullptr, nullptr);
      serve(fd, options);
      ::close(fd);
    }
  }
  ::close(listening);
  return base::cat("http://127.0.0.1:", static_cast<int>(ntohs(address.sin_port)));
}

}  // namespace cdom::bench
