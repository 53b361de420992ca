#include "http/client/keepalive.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace cdom::http {

void set_keepalive(boost::asio::ip::tcp::socket& socket) {
  constexpr int kIdle = 15, kInterval = 5, kProbes = 3, kUserTimeoutMs = 30'000;
  const auto set = [fd = socket.native_handle()](int level, int name, int value) {
    ::setsockopt(fd, level, name, &value, sizeof value);
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, kIdle);
  set(IPPROTO_TCP, TCP_KEEPINTVL, kInterval);
  set(IPPROTO_TCP, TCP_KEEPCNT, kProbes);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, kUserTimeoutMs);
}

}  // namespace cdom::http
