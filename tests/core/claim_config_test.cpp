#include "compute_domain/core/claim_config.h"

#include <gmock/gmock.h>

#include "core/builders.h"

namespace cdom::core {
namespace {

using ::testing::HasSubstr;

api::OpaqueConfig config(const std::string& parameters, const std::string& driver = api::kDriver) {
  return {.requests = {}, .driver = driver, .parameters = parameters};
}
std::string channel_config(const std::string& field) {
  return base::cat(
      R"({"apiVersion":"resource.nvidia.com/v1beta1","kind":"ComputeDomainChannelConfig",)",
      R"("domainID":"d",)", field, "}");
}

TEST(ConfigMistake, IsNoneInWhatTheControllerMakes) {
  EXPECT_EQ(config_mistake(testing::claim("c1").of("train").object.spec.configs), "");
}

TEST(ConfigMistake, NamesAFieldThatThereIsNot) {
  EXPECT_THAT(config_mistake(config(channel_config(R"("allocationMod":"All")"))),
              HasSubstr("unknown field \"allocationMod\""));
}

TEST(ConfigMistake, IsNoneOfAnotherDriver) {
  EXPECT_EQ(config_mistake(config("{}", "gpu.nvidia.com")), "");
}

TEST(ConfigMistake, IsTwoConfigurationsThatContradictEachOther) {
  const std::string own =
      R"({"apiVersion":"resource.nvidia.com/v1beta1","kind":"ComputeDomainConfig"})";
  EXPECT_EQ(config_mistake(std::vector{config(own)}), "");
  EXPECT_THAT(config_mistake(
                  std::vector{config(channel_config(R"("allocationMode":"Single")")), config(own)}),
              HasSubstr("leave one of them out"));
}

TEST(ConfigRemedy, IsWhereTheFirstMistakeWasMade) {
  api::ResourceClaim claim = testing::claim("c1").of("train").object;
  claim.spec.configs.push_back(config(channel_config(R"("allocationMod":"All")")));
  EXPECT_THAT(config_remedy(claim), HasSubstr("delete the ResourceClaim"));
  claim.meta.owners = {{.api_version = "v1", .kind = "Pod", .name = "p1", .uid = "uid-p1"}};
  EXPECT_THAT(config_remedy(claim), HasSubstr("its ResourceClaimTemplate"));
  claim.spec.configs.back().from_class = true;
  EXPECT_THAT(config_remedy(claim), HasSubstr("the DeviceClass"));
}

TEST(AsksForDomain, IsByTheClassOrByTheConfiguration) {
  api::ResourceClaimSpec spec;
  EXPECT_FALSE(asks_for_domain(spec));
  spec.configs = {config("{}", "gpu.nvidia.com")};
  EXPECT_FALSE(asks_for_domain(spec));
  spec.configs.push_back(config("{}"));
  EXPECT_TRUE(asks_for_domain(spec));
  spec.configs.clear();
  spec.requests = {{.name = "channel", .device_class = api::kChannelClass}};
  EXPECT_TRUE(asks_for_domain(spec));
}

}  // namespace
}  // namespace cdom::core
