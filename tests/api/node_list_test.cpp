#include "compute_domain/api/node_list.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace cdom::api {
namespace {

using testing::HasSubstr;

NodeList two_nodes() {
  return {"0123456789abcdef",
          "a.1",
          18,
          true,
          4,
          {{"n1", 0, "10.0.0.1", "i1", "b1", 1, true, {{"c1", 0}, {"c2", 1}}},
           {"n2", 1, "", "", "", 4, false, {}}}};
}

base::Result<NodeList> decoded(std::string text) {
  ConfigMap map;
  map.meta.name = "list";
  map.meta.ns = "op";
  map.data[kNodeListKey] = std::move(text);
  return decode_node_list(map);
}

TEST(NodeList, ReadsBackWhatItWrites) {
  const auto back = decoded(encode_node_list(two_nodes()));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, two_nodes());
}

TEST(NodeList, WritesEqualListsAsEqualText) {
  NodeList shuffled = two_nodes();
  std::ranges::reverse(shuffled.entries);
  std::ranges::reverse(shuffled.entries[1].admits);
  EXPECT_EQ(encode_node_list(shuffled), encode_node_list(two_nodes()));
}

TEST(NodeList, NamesTheKeyOrFieldThatIsMissingOrWrong) {
  EXPECT_EQ(decode_node_list({}).error().message, "ConfigMap , key nodes.json: is missing");
  EXPECT_EQ(decoded("{}").error().message, "ConfigMap op/list, key nodes.json: group: is required");
  EXPECT_EQ(
      decoded(R"({"group":"g","clique":"","slots":0,"entries":[{"node":"n"}]})").error().message,
      "ConfigMap op/list, key nodes.json: entries[0].slot: is required");
  EXPECT_THAT(decoded(R"({"group":"g","clique":"","slots":99999999,"entries":[]})").error().message,
              HasSubstr("slots: must be from 0 to"));
}

NodeList with_a_channel() {
  NodeList list = two_nodes();
  list.channels = {{.number = 3, .domain_uid = "d", .release = 0, .slots = {0, 1}}};
  return list;
}

TEST(NodeList, WritesTheNodesOfAChannelAsSlots) {
  const std::string text = encode_node_list(with_a_channel());
  EXPECT_THAT(text, HasSubstr(R"("slots":"0-1")"));
  EXPECT_EQ(*decoded(text), with_a_channel());
}

TEST(NodeList, ReadsTheNodesOfAChannelByNameAsEarlierVersionsWroteThem) {
  const auto list = decoded(
      R"({"group":"g","clique":"a.1","slots":2,
          "entries":[{"node":"n1","slot":0},{"node":"n2","slot":1}],
          "channels":[{"number":1,"domain":"d","nodes":["n2","gone"]}]})");
  ASSERT_TRUE(list) << list.error().message;
  EXPECT_EQ(list->channels.at(0).slots, std::set<std::int64_t>{1});
}

TEST(NodeList, DoesNotBelieveCountsThatWouldOverflow) {
  NodeList list = two_nodes();
  list.releases = INT64_MAX;
  EXPECT_FALSE(decoded(encode_node_list(list)));
}

TEST(NodeTable, HasOneNameForEachSlotWhoeverHasIt) {
  const NodeList list{"0123456789abcdef", "a.1", 2, false, 0, {}};
  EXPECT_EQ(table_text(list),
            "compute-domain-daemon-0000-0123456789abcdef\n"
            "compute-domain-daemon-0001-0123456789abcdef\n");
}

TEST(NodeTable, HasAHashThatDependsOnGroupAndSlotsAlone) {
  NodeList list = two_nodes();
  const std::string hash = table_hash(list);
  EXPECT_EQ(hash.size(), 16U);
  list.entries.clear();
  list.complete = false;
  EXPECT_EQ(table_hash(list), hash);
  list.slots = 17;
  EXPECT_NE(table_hash(list), hash);
}

TEST(NodeTable, IsAbsentWithoutAFabric) {
  const NodeList list{"g", "", 0, true, 0, {{"cpu1", -1, "", "", "", 1, true, {{"c", 0}}}}};
  EXPECT_EQ(table_text(list), "");
  EXPECT_EQ(table_hash(list), "");
}

}  // namespace
}  // namespace cdom::api
