// What the ledger and a placed template look like.
#include "compute_domain/core/ledger.h"

#include <gmock/gmock.h>

#include "core/builders.h"

namespace cdom::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr char kSelector[] =
    "device.attributes['compute-domain.nvidia.com'].?clique.orValue('') == 'aaaa.1'";

Ledger two_promises() {
  return {
      .promises =
          {{"u1", {.clique = "aaaa.1", .seats = 16, .turn = 7, .leaving = {}}},
           {"u2",
            {.clique = "bbbb.2", .seats = 4, .turn = 8, .leaving = "aaaa.1", .leaving_seats = 3}}},
      .turn = 9};
}

TEST(Ledger, IsALineForEachDomain) {
  const api::ConfigMap map = config_map_of(two_promises(), "operator");
  EXPECT_THAT(map.data,
              UnorderedElementsAre(Pair("turn", "9"), Pair("u1", "16 seats of aaaa.1 turn 7"),
                                   Pair("u2", "4 seats of bbbb.2 turn 8 leaving 3 of aaaa.1")));
  EXPECT_EQ(ledger_in(map), two_promises());
  EXPECT_EQ(promise_in(map, "u1"), two_promises().promises.at("u1"));
  EXPECT_EQ(promise_in(map, "u3"), std::nullopt);
}

TEST(Ledger, ALineThatSomebodyHasBrokenPromisesNothing) {
  api::ConfigMap map;
  for (const char* text :
       {"", "16", "16 seats of aaaa.1", "16 seats of aaaa.1 turn -7", "x seats of aaaa.1 turn 7",
        "16 seats of a'a turn 7", "16 chairs of aaaa.1 turn 7", "016 seats of aaaa.1 turn 7",
        "16 seats of aaaa.1 turn 7 leaving 3 of ", "99999999999999999999 seats of aaaa.1 turn 7",
        "16 seats of aaaa.1 turn 1000000000000"}) {
    map.data = {{"u1", text}};
    EXPECT_THAT(ledger_in(map).promises, IsEmpty()) << text;
  }
}

TEST(Ledger, HasNoDataWhenNothingIsPromised) {
  EXPECT_THAT(config_map_of({.promises = {}, .turn = 9}, "operator").data, IsEmpty());
}

TEST(PlacedTemplate, AsksForSeatsOfOneCliqueWithATotalExpression) {
  auto object = *wanted_template(testing::domain("train"),
                                 Promise{.clique = "aaaa.1", .seats = 16, .turn = 7});
  EXPECT_THAT(object.spec.requests.at(0).selectors, ElementsAre(kSelector));
  EXPECT_EQ(placement_of(object), (TemplatePlacement{"aaaa.1", 7}));
  // A tenant who may edit the template may write these; turns are counted up from them.
  for (const char* turn : {"9223372036854775807", "1000000000000", "100000000000", "99999999999"}) {
    object.meta.annotations[api::kPlacementTurn] = turn;
    EXPECT_EQ(placement_of(object), (TemplatePlacement{"aaaa.1", 0})) << turn;
  }
  EXPECT_EQ(asked_clique(object.spec), "aaaa.1");
}

TEST(PlacedTemplate, OneThatAsksForNoCliqueHasNoPlacement) {
  EXPECT_EQ(placement_of(*wanted_template(testing::domain("train"))), std::nullopt);
}

}  // namespace
}  // namespace cdom::core
