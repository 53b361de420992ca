#include "controller/queued_key.h"

#include <gtest/gtest.h>

#include <vector>

namespace cdom::controller {
namespace {

TEST(QueuedKey, IsTheSameKey) {
  const std::vector<Key> keys{domain_key(""),
                              domain_key("u-1"),
                              report_key("u-1"),
                              placement_key(),
                              group_key({"u-1", "a.1"}),
                              {Key::Kind::Group, "u-1a", ".1"},
                              {Key::Kind::Group, "u-1a.1", ""},
                              {Key::Kind::CliqueObjects, std::string("u\0v", 3), "a"},
                              {Key::Kind::CliqueObjects, "u", std::string("\0va", 3)}};
  for (const Key& key : keys) {
    EXPECT_EQ(QueuedKey(key).key(), key);
    for (const Key& other : keys) {
      const bool is_before = QueuedKey(key) < QueuedKey(other);
      EXPECT_EQ(QueuedKey(key) == QueuedKey(other), key == other);
      EXPECT_EQ(is_before || QueuedKey(other) < QueuedKey(key), key != other);
      EXPECT_FALSE(is_before && QueuedKey(other) < QueuedKey(key));
    }
  }
}

}  // namespace
}  // namespace cdom::controller
