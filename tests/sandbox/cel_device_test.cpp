#include "sandbox/cel/device.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace cdom::sandbox::cel {
namespace {

using nlohmann::json;

const json kSeat = {{"name", "channel-0"},
                    {"attributes",
                     {{"type", {{"string", "channel"}}},
                      {"id", {{"int", 0}}},
                      {"fw", {{"version", "1.4.0"}}},
                      {"resource.kubernetes.io/pcieRoot", {{"string", "pci0000:01"}}}}},
                    {"capacity", {{"bw", {{"value", "400G"}}}}}};

base::Result<bool> selects(std::string_view expression, const json& device = kSeat) {
  const auto program = compile_device_selector(expression);
  if (!program) return program.error();
  return program->evaluate_bool({{"device", device_value("compute-domain.nvidia.com", device)}});
}

TEST(DeviceSelector, MatchesAsTheShippedDeviceClassesDo) {
  EXPECT_TRUE(
      *selects("device.driver == 'compute-domain.nvidia.com' && "
               "'channel' == device.attributes['compute-domain.nvidia.com'].?type.orValue('') && "
               "0 == device.attributes['compute-domain.nvidia.com'].?id.orValue(-1)"));
  EXPECT_FALSE(
      *selects("device.driver == 'compute-domain.nvidia.com' && "
               "'daemon' == device.attributes['compute-domain.nvidia.com'].?type.orValue('')"));
}

TEST(DeviceSelector, QualifiedIdsStandUnderTheirDomain) {
  EXPECT_TRUE(*selects("device.attributes['resource.kubernetes.io'].pcieRoot == 'pci0000:01'"));
}

TEST(DeviceSelector, UnknownDomainIsAnEmptyMapAndUnknownIdAnError) {
  EXPECT_FALSE(*selects("has(device.attributes['other.example.com'].type)"));
  EXPECT_FALSE(*selects("'type' in device.attributes['other.example.com']"));
  const auto clique = selects("device.attributes['compute-domain.nvidia.com'].clique == 'a.1'");
  ASSERT_FALSE(clique);
  EXPECT_EQ(clique.error().message, "no such key: clique");
}

TEST(DeviceSelector, TotalSelectorsNeedNoSuchId) {
  const std::string selector =
      "'a.1' == device.attributes['compute-domain.nvidia.com'].?clique.orValue('')";
  EXPECT_FALSE(*selects(selector));
  for (const json& odd : {json{{"int", 0}}, json{{"bool", true}}, json{{"version", "1.0.0"}}}) {
    EXPECT_FALSE(*selects(selector, {{"name", "x"}, {"attributes", {{"clique", odd}}}})) << odd;
  }
}

TEST(DeviceSelector, ComparesCapacityAndVersions) {
  EXPECT_TRUE(
      *selects("device.capacity['compute-domain.nvidia.com'].bw"
               ".compareTo(quantity('400G')) >= 0"));
  EXPECT_TRUE(
      *selects("device.attributes['compute-domain.nvidia.com'].fw"
               ".isGreaterThan(semver('1.3.9'))"));
}

TEST(DeviceSelector, MustYieldABool) {
  const auto selected = selects("device.driver");
  ASSERT_FALSE(selected);
  EXPECT_EQ(selected.error().message, "the expression yields a string, not a bool");
}

}  // namespace
}  // namespace cdom::sandbox::cel
