#include "compute_domain/controller/list_reader.h"

#include <gtest/gtest.h>

#include "compute_domain/api/names.h"
#include "compute_domain/api/node_list.h"

namespace cdom::controller {
namespace {

api::NodeList list_of(std::int64_t slots) {
  return {.group = "0123456789abcdef",
          .clique = "a.1",
          .slots = slots,
          .complete = false,
          .last_term = 0,
          .entries = {}};
}

ListReader::Map map_of(std::int64_t slots) {
  return std::make_shared<const api::ConfigMap>(core::config_map_of(list_of(slots), {}, {}));
}

TEST(ListReader, ReadsASnapshotAsTheCoreDoes) {
  ListReader read;
  const ListReader::Map map = map_of(18);
  for (int i = 0; i < 2; ++i) {
    const core::StoredList stored = read(map);
    EXPECT_EQ(stored.problem, "");
    EXPECT_EQ(stored.list, list_of(18));
  }
}

// A snapshot that has gone leaves its address to another one.
TEST(ListReader, NeverTakesOneSnapshotForAnother) {
  ListReader read;
  for (std::int64_t slots = 1; slots <= 200; ++slots) {
    EXPECT_EQ(read(map_of(slots)).list, list_of(slots));
  }
}

}  // namespace
}  // namespace cdom::controller
