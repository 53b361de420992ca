#include "http/acknowledged.h"

// Not netinet/tcp.h, whose tcp_info ends before the field; the two cannot be in one file.
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace cdom::http {

std::uint64_t acknowledged_bytes(int socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
  return info.tcpi_bytes_acked;
}

}  // namespace cdom::http
