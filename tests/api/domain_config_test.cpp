#include "compute_domain/api/domain_config.h"

#include <gmock/gmock.h>

#include "compute_domain/api/channel_config.h"
#include "compute_domain/base/text.h"

namespace cdom::api {
namespace {

using ::testing::HasSubstr;

std::string domain_config(const std::string& fields) {
  return base::cat(R"({"apiVersion":"resource.nvidia.com/v1beta1","kind":"ComputeDomainConfig")",
                   fields, "}");
}

std::string problem_of(const std::string& parameters) {
  const auto result = decode_domain_config(parameters);
  return result ? "" : result.error().message;
}

TEST(DomainConfig, ComesBackAsItWasWritten) {
  const DomainConfig config{.num_nodes = 16,
                            .allocation_mode = AllocationMode::All,
                            .placement = ComputeDomainPlacement{.clique = CliquePlacement::Single}};
  EXPECT_EQ(decode_domain_config(encode_domain_config(config)).value(), config);
}

TEST(DomainConfig, MayBeEmpty) {
  EXPECT_EQ(decode_domain_config(domain_config("")).value(), DomainConfig{});
}

TEST(DomainConfig, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(problem_of(domain_config(R"(,"nodes":2)")), HasSubstr("unknown field \"nodes\""));
  EXPECT_THAT(problem_of(domain_config(R"(,"numNodes":1,"numNodes":2)")),
              HasSubstr("duplicate field \"numNodes\""));
  EXPECT_THAT(problem_of(domain_config(R"(,"placement":{"clique":"Any","rack":1})")),
              HasSubstr("placement: strict decoding error: unknown field \"rack\""));
  EXPECT_THAT(problem_of(domain_config(R"(,"domainID":"u")")),
              HasSubstr("unknown field \"domainID\""));
  EXPECT_THAT(problem_of(R"({"apiVersion":"resource.nvidia.com/v1","kind":"ComputeDomainConfig"})"),
              HasSubstr("must be ComputeDomainConfig of resource.nvidia.com/v1beta1"));
}

TEST(DomainConfig, RefusesValuesThatCannotBe) {
  EXPECT_THAT(problem_of(domain_config(R"(,"numNodes":-1)")),
              HasSubstr("must be 0 or more, is -1"));
  EXPECT_THAT(problem_of(domain_config(R"(,"numNodes":"2")")), HasSubstr("numNodes"));
  EXPECT_THAT(problem_of(domain_config(R"(,"allocationMode":"Some")")),
              HasSubstr("must be one of Single, All"));
}

TEST(ConfigWords, AreReadOfAnyConfig) {
  EXPECT_EQ(config_words_in(domain_config("")).kind, kDomainConfigKind);
  EXPECT_EQ(config_words_in(domain_config("")).domain_uid, std::nullopt);
  EXPECT_EQ(config_words_in("7").kind, std::nullopt);
}

}  // namespace
}  // namespace cdom::api
