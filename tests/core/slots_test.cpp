#include "compute_domain/core/slots.h"

#include <gmock/gmock.h>

namespace cdom::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Slots, RangesReadBackWhatTheyWrite) {
  EXPECT_EQ(slot_ranges({0, 1, 2, 3, 7}), "0-3,7");
  EXPECT_EQ(parse_slot_ranges("0-3,7"), (std::set<std::int64_t>{0, 1, 2, 3, 7}));
  EXPECT_EQ(slot_ranges({}), "");
  EXPECT_THAT(parse_slot_ranges(""), IsEmpty());
}

TEST(Slots, RangesThatAreNoneGiveNothing) {
  for (const char* text : {"a", "3-1", "1-2-3", "-1", "0-", "0-99999999"}) {
    EXPECT_THAT(parse_slot_ranges(text), IsEmpty()) << text;
  }
}

TEST(Slots, AreGivenByNameFromTheLowest) {
  const SlotAssignment given = assigned_slots({}, {"n2", "n1"}, {}, 18);
  EXPECT_EQ(given.slots.at("n1").slot, 0);
  EXPECT_EQ(given.slots.at("n2").slot, 1);
  EXPECT_THAT(given.full, IsEmpty());
}

TEST(Slots, TellWhoFoundNone) {
  const SlotAssignment given = assigned_slots({}, {"n1", "n2", "n3"}, {}, 2);
  EXPECT_THAT(given.full, ElementsAre("n3"));
}

TEST(Slots, TakeOnlyThoseOfFencedHoldersThatAreNoMembers) {
  const SlotRecords records{{"n1", {.slot = 0}}, {"n2", {.slot = 1}}};
  EXPECT_THAT(assigned_slots(records, {"n2", "n3"}, {"n2"}, 2).full, ElementsAre("n3"));
  EXPECT_EQ(assigned_slots(records, {"n2", "n3"}, {"n1"}, 2).slots.at("n3").slot, 0);
}

TEST(Slots, WhatWasGivenOutranksWhatANodeSays) {
  NodeView node;
  node.report = api::ComputeDomainNode{};
  node.report->status.groups = {{.group = "g", .slot = 4, .state = api::DaemonState::Ready}};
  api::NodeList list;
  list.entries = {{.node = "n1", .slot = 7}};
  const auto slot_of = [&](const api::NodeList* of,
                           const std::vector<api::ComputeDomainNodeStatus>& status) {
    return recorded_slots("g", of, status, {{"n1", node}}, 18).at("n1").slot;
  };
  EXPECT_EQ(slot_of(&list, {{.name = "n1", .index = 9}}), 7);
  EXPECT_EQ(slot_of(nullptr, {{.name = "n1", .index = 9}}), 9);
  EXPECT_EQ(slot_of(nullptr, {}), 4);
}

}  // namespace
}  // namespace cdom::core
