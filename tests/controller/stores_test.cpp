#include "compute_domain/controller/stores.h"

#include <gmock/gmock.h>

#include "compute_domain/api/channel_config.h"
#include "compute_domain/api/domain_config.h"
#include "compute_domain/api/names.h"
#include "compute_domain/core/membership.h"

namespace cdom::controller {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Kind = api::DomainRef::Kind;

api::ResourceClaim claim_with(const std::vector<std::string>& parameters) {
  api::ResourceClaim claim;
  claim.meta = {.name = "c", .ns = "team-a", .uid = "u-c"};
  for (const std::string& each : parameters) {
    claim.spec.configs.push_back({.requests = {}, .driver = api::kDriver, .parameters = each});
  }
  claim.spec.configs.push_back({.requests = {}, .driver = "gpu.example", .parameters = "{}"});
  return claim;
}

api::ResourceClaim trimmed(api::ResourceClaim claim) {
  trim(claim);
  return claim;
}

api::ComputeDomain with_default_status() {
  api::ComputeDomain domain;
  domain.status.emplace();
  domain.status->conditions = {{.type = "Ready",
                                .status = api::ConditionStatus::Unknown,
                                .reason = api::kWaitingForController}};
  return domain;
}

TEST(TrimmedDomain, HasNoStatusWhileNobodyHasWrittenOne) {
  api::ComputeDomain domain = with_default_status();
  trim(domain);
  EXPECT_FALSE(domain.status);
}

TEST(TrimmedDomain, KeepsTheNodesThatAnotherDriverWroteBesideTheDefaultStatus) {
  api::ComputeDomain domain = with_default_status();
  domain.status->nodes = {{.name = "n1", .ip_address = "10.0.0.1", .ready = true}};
  trim(domain);
  ASSERT_TRUE(domain.status);
  EXPECT_EQ(domain.status->nodes.size(), 1U);
  EXPECT_THAT(domain.status->conditions, IsEmpty());
}

TEST(TrimmedClaim, IsReadForItsDomainOnceAndHoldsNoConfigurationThatNobodyReadsAgain) {
  const std::string named = api::encode_channel_config({.domain_uid = "u-d"});
  const std::string automatic = api::encode_domain_config({.num_nodes = 3});

  const api::ResourceClaim of_domain = trimmed(claim_with({named}));
  EXPECT_EQ(of_domain.domain_ref, (api::DomainRef{Kind::Named, "u-d"}));
  EXPECT_THAT(of_domain.spec.configs, IsEmpty());
  EXPECT_EQ(core::domain_of(of_domain), "u-d");

  const api::ResourceClaim of_workload = trimmed(claim_with({"{}", automatic}));
  EXPECT_EQ(of_workload.domain_ref, api::DomainRef{});
  const api::ResourceClaim of_one = trimmed(claim_with({automatic, automatic}));
  EXPECT_EQ(of_one.domain_ref, (api::DomainRef{Kind::Automatic, ""}));
  ASSERT_EQ(of_one.spec.configs.size(), 1U);
  EXPECT_EQ(of_one.spec.configs[0].parameters, automatic);

  const api::ResourceClaim of_both = trimmed(claim_with({named, automatic}));
  EXPECT_EQ(of_both.domain_ref, (api::DomainRef{Kind::Contradictory, "u-d"}));
  EXPECT_THAT(of_both.spec.configs, IsEmpty());
}

}  // namespace
}  // namespace cdom::controller
