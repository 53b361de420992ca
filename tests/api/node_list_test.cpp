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

// A controller would write a list with such rows for ever.
TEST(NodeList, KeepsTheOrderOfRowsThatAreThereTwice) {
  NodeList list = two_nodes();
  for (std::int64_t i = 0; i < 40; ++i) {
    list.entries.push_back({.node = "n1", .slot = 0, .term = i});
    list.channels.push_back({.number = 7, .release = i});
  }
  const std::string text = encode_node_list(list);
  const auto back = decoded(text);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(encode_node_list(*back), text);
}

TEST(NodeList, IsTextThatPeopleRead) {
  EXPECT_EQ(encode_node_list(two_nodes()),
            "group 0123456789abcdef\n"
            "clique a.1\n"
            "slots 18\n"
            "complete true\n"
            "lastTerm 4\n"
            "\n"
            "nodes: slot node address term instance bootID admits member\n"
            "0 n1 10.0.0.1 1 i1 b1 c1,c2=1\n"
            "1 n2 - 4 - - - false\n");
}

// Names the line and the column of what is missing or wrong.
struct WrongText {
  const char* text;
  const char* problem;
};
const WrongText kWrongTexts[] = {
    {"", "group: is required"},
    {"group g\nclique -\n\nnodes: slot node\n", "slots: is required"},
    {"group g\nclique -\nslots 0\n", "nodes: is required"},
    {"group g\nclique -\nslots 0\n\nnodes: node\n", "line 5, slot: is required"},
    {"group g\nclique -\nslots 0\n\nnodes: slot node\n0\n", "line 6, node: is required"},
    {"group g\ngroup h\n", "line 2, group: is there twice"},
    {"group\n",
     "line 1, group: must be letters, digits and any of -._:/, with other bytes "
     "percent-encoded in UTF-8, is \"\""},
    {"group g\nclique -\nslots many\n", "line 3, slots: must be a whole number, is \"many\""},
    {"group g\nclique -\nslots 1\ncomplete yes\n",
     "line 4, complete: must be true or false, is \"yes\""},
    {"group g\nclique -\nslots 1\n\nnodes: slot node slot\n", "line 5, slot: is there twice"},
    {"group g\nclique -\nslots 1\n\nnodes: slot node\n\nnodes: slot node\n",
     "line 7, nodes: is there twice"},
    {"group g\nclique -\nslots 1\n\nnodes: slot node\n0 n  \n",
     "line 6, cells: must be 2 at most, are 4"},
    {"group g\nclique -\nslots 1\n\nnodes: slot node admits\n0 n c1,,c2\n",
     "line 6, admits: must be UIDs of claims, each with its channel, as UID,UID=7, is \"c1,,c2\""},
    {"group g\nclique -\nslots 1\n\nnodes: slot node\n\nchannels: number slots\n1 5-2\n",
     "line 8, slots: must be ranges of numbers, as 0-3,7, is \"5-2\""},
    {"group g\nclique -\nslots 99999999\n\nnodes: slot node\n",
     "slots: must be from 0 to 10000, is 99999999"}};

TEST(NodeList, NamesTheLineAndTheColumnThatIsMissingOrWrong) {
  EXPECT_EQ(decode_node_list({}).error().message, "ConfigMap , key nodes: is missing");
  for (const auto& [text, problem] : kWrongTexts) {
    const auto list = decoded(text);
    ASSERT_FALSE(list) << text;
    EXPECT_EQ(list.error().message, std::string("ConfigMap op/list, key nodes: ") + problem);
  }
}

// A node says what its instance and its boot are called; a clique may be called anything.
TEST(NodeList, KeepsEachTextInItsCellWhateverItIs) {
  for (const char* text : {" ", "\n", "a b\n1 thief 10.0.0.9 9 - - c9", "-", "--", "a,b=7", "%20",
                           "%", "\xC3\xBC", "\r\n", "\t", "\\", "\x7f"}) {
    NodeList list = two_nodes();
    list.clique = text;
    list.domain = text;
    NodeListEntry& entry = list.entries.front();
    entry.instance = text;
    entry.boot_id = text;
    entry.admits = {{text, 0}, {text, 7}};
    list.channels = {{.number = 3, .domain_uid = text, .domain = text, .release = 1, .slots = {}}};
    const auto back = decoded(encode_node_list(list));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(*back, list) << encode_node_list(list);
  }
}

TEST(NodeList, RefusesBytesThatAreNoText) {
  for (const char* cell : {"%FF", "%C3", "%ED%A0%80", "%2", "%", "%G0", "%+1", "\xFF", "a\tb"}) {
    EXPECT_FALSE(
        decoded(std::string("group ") + cell + "\nclique -\nslots 0\n\nnodes: slot node\n"))
        << cell;
  }
}

TEST(NodeList, IsReadByTheNamesOfItsColumns) {
  const auto list = decoded(
      "later thing\nslots 2\nclique a.1\ngroup g\n\n"
      "laterTable: of another kind\n  any \xFF\n\n"
      "nodes: admits later node slot\n- x%%%% n1 0\nc1=7 - n2 1\n\n\n"
      "channels: slots number later\n0-1 7 x\n- 8");
  ASSERT_TRUE(list) << list.error().message;
  NodeList expected{"g", "a.1", 2, false, 0, {}};
  expected.entries = {{"n1", 0, "", "", "", 0, true, {}},
                      {"n2", 1, "", "", "", 0, true, {{"c1", 7}}}};
  expected.channels = {{.number = 7, .domain_uid = {}, .domain = {}, .release = 0, .slots = {0, 1}},
                       {.number = 8, .domain_uid = {}, .domain = {}, .release = 0, .slots = {}}};
  EXPECT_EQ(*list, expected);
}

// With the names of nodes that clouds give, beside what cannot be shorter: the UID of a claim, the
// boot's and the instance.
TEST(NodeList, TakesNoMoreBytesThanItsMembersNeed) {
  NodeList list{"0123456789abcdef", "875cddc7-e270-4809-931f-7182962c20fc.0", 576, true, 576, {}};
  for (std::int64_t slot = 0; slot < list.slots; ++slot) {
    list.entries.push_back({"node-" + std::to_string(slot),
                            slot,
                            "10.88.12.100",
                            "96ce9c96b5c41b73",
                            "baee5d82-0cb7-435a-96c5-7a4e709641b5",
                            slot + 1,
                            true,
                            {{"d53a61e8-cfda-48a0-8445-e435c5879111", 0}}});
  }
  EXPECT_LE(encode_node_list(list).size(), 576U * 126U);
  for (NodeListEntry& entry : list.entries) {
    entry.admits.clear();
    entry.boot_id.clear();
  }
  EXPECT_LE(encode_node_list(list).size(), 576U * 56U);
}

NodeList with_a_channel() {
  NodeList list = two_nodes();
  list.channels = {{.number = 3, .domain_uid = "d", .release = 0, .slots = {0, 1, 7}}};
  return list;
}

TEST(NodeList, WritesTheNodesOfAChannelAsSlots) {
  const std::string text = encode_node_list(with_a_channel());
  EXPECT_THAT(text, HasSubstr("\nchannels: number domain name slots release\n3 d - 0-1,7\n"));
  EXPECT_EQ(*decoded(text), with_a_channel());
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
