// What the reservations and a placed template look like.
#include "compute_domain/core/reservations.h"

#include <gmock/gmock.h>

#include "core/builders.h"

namespace cdom::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr char kSelector[] =
    "'aaaa.1' == device.attributes['compute-domain.nvidia.com'].?clique.orValue('')";
// Of a template that a controller of 0.1.0 has made.
constexpr char kFormerSelector[] =
    "device.attributes['compute-domain.nvidia.com'].?clique.orValue('') == 'aaaa.1'";

Reservations two_reservations() {
  return {.by_domain = {{"u1", {.clique = "aaaa.1", .seats = 16, .generation = 7, .leaving = {}}},
                        {"u2",
                         {.clique = "bbbb.2",
                          .seats = 4,
                          .generation = 8,
                          .leaving = "aaaa.1",
                          .leaving_seats = 3}}},
          .generation = 9};
}

TEST(Reservations, IsALineForEachDomain) {
  const api::ConfigMap map = config_map_of(two_reservations(), "operator");
  EXPECT_THAT(map.data, UnorderedElementsAre(
                            Pair("generation", "9"), Pair("u1", "16 seats of aaaa.1 generation 7"),
                            Pair("u2", "4 seats of bbbb.2 generation 8 leaving 3 of aaaa.1")));
  EXPECT_EQ(reservations_in(map), two_reservations());
  EXPECT_EQ(reservation_in(map, "u1"), two_reservations().by_domain.at("u1"));
  EXPECT_EQ(reservation_in(map, "u3"), std::nullopt);
}

TEST(Reservations, ALineThatSomebodyHasBrokenReservesNothing) {
  api::ConfigMap map;
  for (const char* text :
       {"", "16", "16 seats of aaaa.1", "16 seats of aaaa.1 generation -7",
        "x seats of aaaa.1 generation 7", "16 seats of a'a generation 7",
        "16 chairs of aaaa.1 generation 7", "016 seats of aaaa.1 generation 7",
        "16 seats of aaaa.1 generation 7 leaving 3 of ",
        "16 seats of aaaa.1 generation 7 leaving 3", "16 seats of aaaa.1 generation 7, later 3",
        "99999999999999999999 seats of aaaa.1 generation 7",
        "16 seats of aaaa.1 generation 1000000000000"}) {
    map.data = {{"u1", text}};
    EXPECT_THAT(reservations_in(map).by_domain, IsEmpty()) << text;
  }
}

TEST(Reservations, OfALaterReleaseAreReadPastWhatItAdds) {
  api::ConfigMap map = config_map_of(two_reservations(), "operator");
  for (const char* uid : {"u1", "u2"}) map.data.at(uid) += " later 3 of anything";
  EXPECT_EQ(reservations_in(map), two_reservations());
  EXPECT_TRUE(is_reservations(map));
  map.data["u3"] = "16 chairs of aaaa.1";
  EXPECT_FALSE(is_reservations(map));
}

TEST(Reservations, HasNoDataWhenNothingIsReserved) {
  EXPECT_THAT(config_map_of({.by_domain = {}, .generation = 9}, "operator").data, IsEmpty());
}

TEST(PlacedTemplate, AsksForSeatsOfOneCliqueWithATotalExpression) {
  auto object = *wanted_template(testing::domain("train"),
                                 Reservation{.clique = "aaaa.1", .seats = 16, .generation = 7});
  EXPECT_THAT(object.spec.requests.at(0).selectors, ElementsAre(kSelector));
  EXPECT_EQ(placement_of(object), (TemplatePlacement{"aaaa.1", 7}));
  // A tenant who may edit the template may write these.
  for (const char* generation : {"9223372036854775807", "1000000000000", "100000000001"}) {
    object.meta.annotations[api::kPlacementGeneration] = generation;
    EXPECT_EQ(placement_of(object), (TemplatePlacement{"aaaa.1", 0})) << generation;
  }
  EXPECT_EQ(asked_clique(object.spec), "aaaa.1");
}

TEST(PlacedTemplate, OfAnOlderControllerIsReadAndStays) {
  api::ComputeDomain domain = testing::domain("train");
  api::ResourceClaimTemplate object =
      *wanted_template(domain, Reservation{.clique = "aaaa.1", .seats = 16, .generation = 7});
  object.spec.requests.at(0).selectors = {kFormerSelector};
  EXPECT_EQ(placement_of(object), (TemplatePlacement{"aaaa.1", 7}));
  EXPECT_EQ(asked_clique(object.spec), "aaaa.1");
  keep_asked_clique(object.spec);
  EXPECT_THAT(object.spec.requests.at(0).selectors, ElementsAre(kFormerSelector));
}

TEST(PlacedTemplate, AsksForNoCliqueByWhatOnlyLooksLikeASelectorOfOurs) {
  const std::string of_device =
      "device.attributes['compute-domain.nvidia.com'].?clique.orValue('')";
  for (const std::string& selector :
       {"'' == " + of_device, "' == " + of_device, "'a'b' == " + of_device, of_device + " == ''",
        of_device + " == '", "'a' == " + of_device + " == 'b'", "a == " + of_device,
        "'a' == " + of_device + " ", std::string("'"), std::string()}) {
    api::ResourceClaimSpec spec;
    spec.requests = {{.name = "channel", .device_class = "c", .selectors = {selector}}};
    EXPECT_EQ(asked_clique(spec), "") << selector;
  }
}

TEST(PlacedTemplate, OneThatAsksForNoCliqueHasNoPlacement) {
  EXPECT_EQ(placement_of(*wanted_template(testing::domain("train"))), std::nullopt);
}

}  // namespace
}  // namespace cdom::core
