#include "imex/stand_in/endpoint.h"

#include <arpa/inet.h>

#include <cstring>

namespace cdom::stand_in {

Endpoint::Endpoint(const std::string& address, int port) {
  sockaddr_in four{};
  sockaddr_in6 six{};
  const auto number = htons(static_cast<std::uint16_t>(port));
  if (inet_pton(AF_INET, address.c_str(), &four.sin_addr) == 1) {
    four.sin_family = AF_INET;
    four.sin_port = number;
    std::memcpy(&at_, &four, sizeof four);
  } else if (inet_pton(AF_INET6, address.c_str(), &six.sin6_addr) == 1) {
    six.sin6_family = AF_INET6;
    six.sin6_port = number;
    std::memcpy(&at_, &six, sizeof six);
  }
}

Endpoint::Endpoint(const sockaddr& address) {
  if (address.sa_family == AF_INET) std::memcpy(&at_, &address, sizeof(sockaddr_in));
  if (address.sa_family == AF_INET6) std::memcpy(&at_, &address, sizeof(sockaddr_in6));
}

socklen_t Endpoint::size() const {
  return family() == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
}

std::string Endpoint::address() const {
  char text[INET6_ADDRSTRLEN] = {};
  if (family() == AF_INET) {
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(&at_)->sin_addr, text, sizeof text);
  } else if (family() == AF_INET6) {
    inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(&at_)->sin6_addr, text, sizeof text);
  }
  return text;
}

}  // namespace cdom::stand_in
