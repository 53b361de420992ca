#include "compute_domain/api/channel_config.h"

#include <gmock/gmock.h>

#include "compute_domain/api/codec.h"
#include "compute_domain/api/resource.h"
#include "compute_domain/base/text.h"

namespace cdom::api {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// A config with `fields` beside its kind.
std::string config(std::string_view fields) {
  return base::cat(R"({"apiVersion":"resource.nvidia.com/v1beta1",)",
                   R"("kind":"ComputeDomainChannelConfig",)", fields, "}");
}

std::string config_error(const std::string& parameters) {
  const auto result = decode_channel_config(parameters);
  return result ? "no error" : result.error().message;
}

TEST(ChannelConfig, ReadsBackWhatItWrites) {
  const ChannelConfig all{"u-1", AllocationMode::All};
  EXPECT_EQ(decode_channel_config(encode_channel_config(all)).value(), all);
  EXPECT_EQ(encode_channel_config({"u-1"}),
            R"({"allocationMode":"Single","apiVersion":"resource.nvidia.com/v1beta1",)"
            R"("domainID":"u-1","kind":"ComputeDomainChannelConfig"})");
}

TEST(ChannelConfig, TakesEveryOtherModeForSingleAsTheReferenceDriverDoes) {
  for (const char* fields : {R"("domainID":"u")", R"("domainID":"u","allocationMode":"")",
                             R"("domainID":"u","allocationMode":"Whatever")"}) {
    EXPECT_EQ(decode_channel_config(config(fields)).value(), ChannelConfig{"u"}) << fields;
  }
}

TEST(ChannelConfig, RefusesUnknownFieldsByName) {
  EXPECT_EQ(config_error(config(R"("domainID":"u","mtu":9000)")),
            R"(strict decoding error: unknown field "mtu")");
}

TEST(ChannelConfig, RefusesANameInAnotherCase) {
  EXPECT_EQ(config_error(config(R"("domainId":"u")")),
            R"(strict decoding error: unknown field "domainId")");
}

TEST(ChannelConfig, RefusesDuplicateFieldsAndNamesAllThatIsWrong) {
  EXPECT_EQ(config_error(config(R"("domainID":"u","x":{"y":1},"domainID":"v","z":1,"z":2)")),
            R"(strict decoding error: unknown field "x", duplicate field "domainID", )"
            R"(unknown field "z")");
}

// An API server keeps opaque parameters byte for byte.
TEST(ChannelConfig, RefusesADuplicateFieldThatCameWithAClaim) {
  const std::string text = base::cat(
      R"({"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"c"},)",
      R"("status":{"allocation":{"devices":{"config":[)",
      R"({"source":"FromClaim","opaque":{"driver":"d","parameters":)",
      config(R"("domainID":"u","domainID":"v")"), R"(}},)",
      R"({"source":"FromClaim","opaque":{"driver":"d","parameters":)", config(R"("domainID":"w")"),
      R"(}}]}}}})");
  const auto claim = decode<ResourceClaim>(text);
  ASSERT_TRUE(claim) << claim.error().message;
  const auto& configs = claim->allocation->configs;
  ASSERT_EQ(configs.size(), 2U);
  EXPECT_EQ(config_error(configs[0].parameters),
            R"(strict decoding error: duplicate field "domainID")");
  EXPECT_EQ(config_words_in(configs[0].parameters).domain_uid, "v");
  EXPECT_EQ(decode_channel_config(configs[1].parameters).value(), ChannelConfig{"w"});
}

TEST(ChannelConfig, RefusesAnotherKindOrVersion) {
  EXPECT_THAT(config_error(R"({"apiVersion":"resource.nvidia.com/v1beta1",
                           "kind":"ComputeDomainDaemonConfig","domainID":"u"})"),
              StartsWith(R"(no kind "ComputeDomainDaemonConfig" is registered for version )"
                         R"("resource.nvidia.com/v1beta1")"));
  EXPECT_THAT(config_error(R"({"apiVersion":"resource.nvidia.com/v1",
                           "kind":"ComputeDomainChannelConfig","domainID":"u"})"),
              HasSubstr(R"(version "resource.nvidia.com/v1")"));
  EXPECT_EQ(config_error(R"({"domainID":"u"})"), "apiVersion: is required");
}

TEST(ChannelConfig, RefusesAnotherTypeOrNoDomain) {
  EXPECT_EQ(config_error(config(R"("domainID":7)")), "domainID: must be a string, is number");
  EXPECT_THAT(config_error(config(R"("domainID":"")")), StartsWith("domainID cannot be empty"));
  EXPECT_EQ(config_error("[]"), "must be an object, is list");
  EXPECT_THAT(config_error("{"), StartsWith("not JSON: "));
}

TEST(DomainUidIn, ReadsLeniently) {
  EXPECT_EQ(config_words_in(R"({"domainID":"u","more":1})").domain_uid, "u");
  EXPECT_EQ(config_words_in(R"({"domainID":7})").domain_uid, std::nullopt);
  EXPECT_EQ(config_words_in("x").domain_uid, std::nullopt);
}

}  // namespace
}  // namespace cdom::api
