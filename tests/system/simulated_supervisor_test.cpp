#include "sandbox/main/simulated_supervisor.h"

#include <gtest/gtest.h>

namespace cdom::program {
namespace {

using std::chrono::milliseconds;

// A node with its supervisor, in a table of three, and two nodes that it may meet.
class SimulatedSupervisorTest : public testing::Test {
 protected:
  void start_peer(sandbox::Imex& peer, const std::string& address) {
    ASSERT_TRUE(peer.start({"group", {"10.0.0.1", "10.0.0.2", "10.0.0.3"}, address}));
    settle();
  }
  void settle() {
    while (network_.step()) continue;
  }
  std::size_t peers() { return supervisor_.status()->peers.size(); }

  base::ManualClock clock_;
  sandbox::ImexNetwork network_{clock_, base::Random(1)};
  sandbox::Imex& imex_ = network_.add_node("n1", "10.0.0.1");
  sandbox::Imex& second_ = network_.add_node("n2", "10.0.0.2");
  sandbox::Imex& third_ = network_.add_node("n3", "10.0.0.3");
  SimulatedSupervisor supervisor_{imex_, clock_};
};

TEST_F(SimulatedSupervisorTest, LooksAtLinksOnlyNowAndThenAndAtAllElseAtOnce) {
  ASSERT_TRUE(supervisor_.start({.group = "group",
                                 .slot = 0,
                                 .table_text = "10.0.0.1\n10.0.0.2\n10.0.0.3\n",
                                 .table_hash = {},
                                 .address = "10.0.0.1"}));
  settle();
  EXPECT_TRUE(supervisor_.has_news());
  EXPECT_EQ(supervisor_.status()->phase, base::DaemonPhase::Ready);
  EXPECT_EQ(supervisor_.next_due(), std::nullopt);

  start_peer(second_, "10.0.0.2");
  start_peer(third_, "10.0.0.3");
  EXPECT_FALSE(supervisor_.has_news());
  EXPECT_EQ(peers(), 0);
  ASSERT_EQ(supervisor_.next_due(), clock_.elapsed() + milliseconds(5));
  clock_.advance(milliseconds(5));
  EXPECT_TRUE(supervisor_.has_news());
  EXPECT_EQ(peers(), 2);
  EXPECT_EQ(supervisor_.next_due(), std::nullopt);

  third_.stop();
  EXPECT_EQ(peers(), 2);
  imex_.set_hung(true);
  EXPECT_EQ(supervisor_.status()->phase, base::DaemonPhase::Failed);
}

}  // namespace
}  // namespace cdom::program
