#include "imex/daemon/awaited_peers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cdom::imex {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(AwaitedPeers, AreThoseWhoseNamesLeadToANode) {
  const char table[] = "slot-0\nslot-1\nslot-2\nslot-3\n";
  const char hosts[] =
      "10.0.0.1\tslot-0\n10.0.0.2\tslot-1\n127.0.1.3\tslot-2\nfd00::4\tslot-3\n"
      "10.0.0.9\tslot-9\n";
  EXPECT_THAT(awaited_peers(table, hosts, 0), ElementsAre(1, 3));
  EXPECT_THAT(awaited_peers(table, hosts, 3), ElementsAre(0, 1));
}

TEST(AwaitedPeers, AreNoneOfWhatIsNoHostsFile) {
  EXPECT_THAT(awaited_peers("a\nb\n", "", 0), IsEmpty());
  EXPECT_THAT(awaited_peers("", "10.0.0.2\tb\n", 0), IsEmpty());
  EXPECT_THAT(awaited_peers("a\nb\n", "b\n\t\n10.0.0.2\n# 10.0.0.2\tb\n", 0), IsEmpty());
}

}  // namespace
}  // namespace cdom::imex
