// What kubelet is told of a claim whose configuration cannot be used.
#include "core/node/claims/claim_wish.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compute_domain/api/names.h"

namespace cdom::core {
namespace {

using ::testing::EndsWith;
using ::testing::StartsWith;

constexpr char kMisspelt[] =
    R"({"apiVersion":"resource.nvidia.com/v1beta1","kind":"ComputeDomainChannelConfig",)"
    R"("domainID":"uid-train","allocationMod":"All"})";

// With this configuration, on node n1.
api::ResourceClaim claim_with(const std::string& parameters, bool from_class = false) {
  api::ResourceClaim claim;
  claim.meta.name = "c1";
  claim.meta.ns = "team-a";
  claim.meta.uid = "uid-c1";
  claim.allocation = api::Allocation{};
  claim.allocation->devices = {
      {.request = "channel", .driver = api::kDriver, .pool = "n1", .device = "channel-0"}};
  claim.allocation->configs = {
      {.driver = api::kDriver, .parameters = parameters, .from_class = from_class}};
  return claim;
}

std::string refusal_of(const api::ResourceClaim& claim) {
  const auto wish = wish_of({"team-a", "c1", "uid-c1"}, claim, "n1");
  const Refusal* refusal = std::get_if<Refusal>(&wish);
  return refusal == nullptr ? "none" : refusal->error;
}

TEST(ClaimWish, AMistakeIsToldWithWhereItIsCorrected) {
  api::ResourceClaim of_pod = claim_with(kMisspelt);
  of_pod.meta.owners = {{.api_version = "v1", .kind = "Pod", .name = "p1", .uid = "uid-p1"}};
  EXPECT_EQ(refusal_of(of_pod),
            "error decoding config parameters of ResourceClaim team-a/c1: strict decoding error: "
            "unknown field \"allocationMod\"; correct it in its ResourceClaimTemplate, and create "
            "the pod again");
  EXPECT_THAT(refusal_of(claim_with(kMisspelt)),
              EndsWith("; delete the ResourceClaim, and create it again without the mistake"));
  EXPECT_THAT(refusal_of(claim_with(kMisspelt, true)),
              EndsWith("; correct it in the DeviceClass, and create the claim again"));
}

TEST(ClaimWish, AMistakeThatIsQuotedAtLengthLeavesRoomForTheRemedy) {
  const std::string refusal =
      refusal_of(claim_with(R"({"apiVersion":"resource.nvidia.com/v1beta1",)"
                            R"("kind":"ComputeDomainChannelConfig","domainID":"uid-train",")" +
                            std::string(5'000, 'x') + R"(":1})"));
  EXPECT_THAT(refusal, StartsWith("error decoding config parameters of ResourceClaim team-a/c1: "));
  EXPECT_THAT(refusal, EndsWith("create it again without the mistake"));
  EXPECT_LT(refusal.size(), 1'000U);
}

}  // namespace
}  // namespace cdom::core
