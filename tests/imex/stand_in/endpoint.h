// Endpoint: an IP address of either family and a port, as the kernel takes them.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <string>

namespace cdom::stand_in {

class Endpoint {
 public:
  // Of no family (AF_UNSPEC) when `address` is none: the kernel refuses it.
  explicit Endpoint(const std::string& address, int port = 0);
  explicit Endpoint(const sockaddr& address);

  [[nodiscard]] int family() const { return at_.ss_family; }
  [[nodiscard]] const sockaddr* data() const { return reinterpret_cast<const sockaddr*>(&at_); }
  [[nodiscard]] socklen_t size() const;
  // As inet_ntop spells it, so that two that are one are equal; "" : of no family.
  [[nodiscard]] std::string address() const;

 private:
  sockaddr_storage at_{};
};

}  // namespace cdom::stand_in
