#include "agent/server/list_history.h"

#include <gtest/gtest.h>

#include "compute_domain/core/membership.h"
#include "compute_domain/core/node_lists.h"

namespace cdom::agent {
namespace {

using namespace std::chrono_literals;

constexpr char kClique[] = "rack-1.7";

class ListHistoryTest : public testing::Test {
 protected:
  // A watch shows the list, with this instance of n01's daemon.
  void shows(const std::string& instance) {
    api::NodeList list;
    list.group = core::group_id({"", kClique});
    list.clique = kClique;
    list.slots = 18;
    list.entries = {{.node = "n01",
                     .slot = 1,
                     .address = "10.0.0.2",
                     .instance = instance,
                     .boot_id = "boot-1",
                     .term = 1,
                     .member = true,
                     .admits = {}}};
    history_.see({"ns", "list"}, core::config_map_of(list, core::Settings{}));
  }
  [[nodiscard]] core::SeenList seen() const { return history_.all().at(0); }

  base::ManualClock clock_;
  ListHistory history_{clock_};
};

TEST_F(ListHistoryTest, CountsHowOftenAPeerHasBecomeAnotherOne) {
  clock_.advance(1min);
  shows("i1");
  EXPECT_TRUE(seen().peer_changes.empty()) << "it may have been so for long";
  clock_.advance(1min);
  shows("i2");
  EXPECT_EQ(seen().peer_changes.at("n01").count, 1);
  EXPECT_EQ(seen().peer_changes.at("n01").due, base::Duration(2min));
  clock_.advance(1min);
  shows("i2");
  EXPECT_EQ(seen().peer_changes.at("n01").count, 1);
  shows("i3");
  EXPECT_EQ(seen().peer_changes.at("n01").count, 2);
  EXPECT_EQ(seen().peer_changes.at("n01").due, base::Duration(3min));
  EXPECT_EQ(seen().member_since.at("n01"), base::Duration(3min));
}

}  // namespace
}  // namespace cdom::agent
