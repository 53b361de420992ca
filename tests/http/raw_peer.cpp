#include "http/raw_peer.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "http/local.h"

namespace cdom::http {
namespace {

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

}  // namespace

RawConnection::RawConnection(int fd) : fd_(fd) {
  // What is sent goes at once, as Go's servers and ours have it.
  const int on = 1;
  ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const timeval limit{kPatience.count(), 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

RawConnection::RawConnection(RawConnection&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), received_(std::move(other.received_)) {}

RawConnection::~RawConnection() {
  if (fd_ >= 0) ::close(fd_);
}

RawConnection RawConnection::to(const std::string& address) {
  const int port = std::stoi(address.substr(address.rfind(':') + 1));
  const bool is_ipv6 = address.starts_with('[');
  const int fd = ::socket(is_ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in peer = loopback(port);
  sockaddr_in6 peer6{};
  peer6.sin6_family = AF_INET6;
  peer6.sin6_port = peer.sin_port;
  peer6.sin6_addr = in6addr_loopback;
  const auto* to = is_ipv6 ? reinterpret_cast<const sockaddr*>(&peer6)
                           : reinterpret_cast<const sockaddr*>(&peer);
  EXPECT_EQ(::connect(fd, to, is_ipv6 ? sizeof peer6 : sizeof peer), 0);
  return RawConnection(fd);
}

bool RawConnection::send(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool RawConnection::fill() {
  char bytes[16384];
  const ssize_t count = ::recv(fd_, bytes, sizeof bytes, 0);
  // Else a connection that stays open for ever would look like one that was closed.
  if (count < 0 && errno == EAGAIN) ADD_FAILURE() << "nothing came, and it was not closed either";
  if (count <= 0) return false;
  received_.append(bytes, static_cast<std::size_t>(count));
  return true;
}

std::string RawConnection::read_until(std::string_view mark) {
  while (received_.find(mark) == std::string::npos) {
    if (!fill()) return {};
  }
  const std::size_t end = received_.find(mark) + mark.size();
  std::string text = received_.substr(0, end);
  received_.erase(0, end);
  return text;
}

std::string RawConnection::read_all_slowly() {
  const int room = 64 << 10;
  ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
  while (fill()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return std::exchange(received_, {});
}

std::string RawConnection::read_all() {
  while (fill()) {
  }
  return std::exchange(received_, {});
}

std::string RawConnection::read_request() {
  std::string request = read_until("\r\n\r\n");
  constexpr std::string_view kLength = "Content-Length:";
  const std::size_t field = request.find(kLength);
  if (field == std::string::npos) return request;
  const auto length = static_cast<std::size_t>(std::stoul(request.substr(field + kLength.size())));
  while (received_.size() < length) {
    if (!fill()) return {};
  }
  request += received_.substr(0, length);
  received_.erase(0, length);
  return request;
}

void RawConnection::end_sending() const { ::shutdown(fd_, SHUT_WR); }

RawServer::RawServer(std::function<void(RawConnection&)> script)
    : listening_(::socket(AF_INET, SOCK_STREAM, 0)) {
  const sockaddr_in any_port = loopback(0);
  EXPECT_EQ(::bind(listening_, reinterpret_cast<const sockaddr*>(&any_port), sizeof any_port), 0);
  ::listen(listening_, 16);
  thread_ = std::jthread([fd = listening_, script = std::move(script)] {
    std::vector<std::jthread> conversations;
    while (true) {
      const int accepted = ::accept(fd, nullptr, nullptr);
      if (accepted < 0) return;
      conversations.emplace_back([&script, accepted] {
        RawConnection connection(accepted);
        script(connection);
      });
    }
  });
}

RawServer::~RawServer() {
  ::shutdown(listening_, SHUT_RDWR);  // accept() returns
  thread_.join();
  ::close(listening_);
}

std::string RawServer::url() const {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  ::getsockname(listening_, reinterpret_cast<sockaddr*>(&address), &size);
  return "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
}

}  // namespace cdom::http
