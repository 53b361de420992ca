#include "compute_domain/base/ip_address.h"

#include <arpa/inet.h>

#include <array>

namespace cdom::base {

namespace {

bool is_for_peers(const in_addr& address) {
  const std::uint32_t bits = ntohl(address.s_addr);
  const std::uint32_t half = bits >> 16U, byte = bits >> 24U;
  const bool is_multicast = byte >= 224 && byte < 240;
  return byte != 0 && half != 0x7f00 && half != 0xa9fe && !is_multicast && bits != 0xffffffff;
}

bool is_for_peers(const in6_addr& address) {
  return !IN6_IS_ADDR_UNSPECIFIED(&address) && !IN6_IS_ADDR_LOOPBACK(&address) &&
         !IN6_IS_ADDR_MULTICAST(&address) && !IN6_IS_ADDR_LINKLOCAL(&address) &&
         !IN6_IS_ADDR_V4MAPPED(&address);
}

template <class Address>
std::string canonical(int family, const std::string& text) {
  Address address{};
  if (inet_pton(family, text.c_str(), &address) != 1 || !is_for_peers(address)) return "";
  std::array<char, INET6_ADDRSTRLEN> spelled{};
  return inet_ntop(family, &address, spelled.data(), spelled.size());
}

}  // namespace

std::string peer_address(std::string_view text) {
  const std::string whole(text);
  if (whole.size() != std::char_traits<char>::length(whole.c_str())) return "";
  const std::string v4 = canonical<in_addr>(AF_INET, whole);
  return v4.empty() ? canonical<in6_addr>(AF_INET6, whole) : v4;
}

}  // namespace cdom::base
