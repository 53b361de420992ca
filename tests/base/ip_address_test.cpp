#include "compute_domain/base/ip_address.h"

#include <gtest/gtest.h>

namespace cdom::base {
namespace {

using namespace std::string_view_literals;

TEST(PeerAddress, HasOneSpelling) {
  EXPECT_EQ(peer_address("10.88.1.2"), "10.88.1.2");
  EXPECT_EQ(peer_address("127.101.0.1"), "127.101.0.1");
  EXPECT_EQ(peer_address("FD00:0:0:0::7"), "fd00::7");
}

TEST(PeerAddress, IsNoneAtWhichNobodyElseAnswers) {
  for (const auto& text :
       {""sv, "x"sv, "10.0.0.1\n10.0.0.2"sv, "10.0.0.1\0"sv, "10.1"sv, "0.0.0.0"sv, "0.1.2.3"sv,
        "127.0.0.1"sv, "127.0.1.3"sv, "169.254.1.1"sv, "224.0.0.1"sv, "239.1.2.3"sv,
        "255.255.255.255"sv, "::"sv, "::1"sv, "fe80::1"sv, "ff02::1"sv, "::ffff:10.0.0.1"sv}) {
    EXPECT_EQ(peer_address(text), "") << text;
  }
}

}  // namespace
}  // namespace cdom::base
