// What a key has written and waits to see.
#include "controller/expectations.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>

#include "controller/shell_rig.h"

namespace cdom::controller {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): for durations

const Key kNamespaceKey = workloads_key("team-a");

TEST(Expectations, AKeyWaitsUntilItsOwnWriteIsSeenAndNoLongerThanItsPatience) {
  ShellRig rig;
  Expectations expectations;
  expectations.expect(kNamespaceKey, {.domains = 7}, 0s);
  EXPECT_EQ(expectations.wait_for(kNamespaceKey, rig.stores, 1s), Expectations::kPatience - 1s);
  EXPECT_EQ(expectations.wait_for(kNamespaceKey, rig.stores, Expectations::kPatience),
            std::nullopt);
}

TEST(Expectations, AKeyThatWaitsIsGivenOnceWhenItsWriteIsSeen) {
  ShellRig rig;
  Expectations expectations;
  expectations.expect(kNamespaceKey, {.domains = 7}, 0s);
  ASSERT_TRUE(expectations.wait_for(kNamespaceKey, rig.stores, 0s));
  rig.filled.of<api::ComputeDomain>().see_version("6");
  EXPECT_THAT(expectations.fulfilled(rig.stores), IsEmpty());
  rig.filled.of<api::ComputeDomain>().see_version("7");
  EXPECT_THAT(expectations.fulfilled(rig.stores), ElementsAre(kNamespaceKey));
  EXPECT_THAT(expectations.fulfilled(rig.stores), IsEmpty());
  EXPECT_EQ(expectations.wait_for(kNamespaceKey, rig.stores, 0s), std::nullopt);
}

TEST(Expectations, AKeyThatDoesNotWaitIsNotGiven) {
  ShellRig rig;
  Expectations expectations;
  expectations.expect(kNamespaceKey, {.domains = 7}, 0s);
  rig.filled.of<api::ComputeDomain>().see_version("7");
  EXPECT_THAT(expectations.fulfilled(rig.stores), IsEmpty());
}

TEST(Expectations, ForgetsKeysThatNeverComeBack) {
  ShellRig rig;
  Expectations expectations;
  std::size_t most = 0;
  for (int i = 1; i <= 1'000; ++i) {
    expectations.expect(domain_key("u-" + std::to_string(i)), {.domains = 1}, 0s);
    rig.filled.of<api::ComputeDomain>().see_version("1");
    EXPECT_THAT(expectations.fulfilled(rig.stores), IsEmpty());
    most = std::max(most, expectations.size());
  }
  EXPECT_LE(most, 64U);
}

TEST(Expectations, OfManyKeysNoneIsForgottenThatHasNotSeenItsWrite) {
  ShellRig rig;
  Expectations expectations;
  for (int i = 0; i < 200; ++i) {
    expectations.expect(domain_key("u-" + std::to_string(i)), {.domains = 7}, 0s);
    EXPECT_THAT(expectations.fulfilled(rig.stores), IsEmpty());
  }
  EXPECT_TRUE(expectations.wait_for(domain_key("u-0"), rig.stores, 0s));
  EXPECT_TRUE(expectations.wait_for(domain_key("u-199"), rig.stores, 0s));
  rig.filled.of<api::ComputeDomain>().see_version("7");
  EXPECT_THAT(expectations.fulfilled(rig.stores),
              ElementsAre(domain_key("u-0"), domain_key("u-199")));
}

// Each kind counts its own versions in the store of its own.
TEST(Expectations, AWriteIsSeenInTheStoreOfItsKind) {
  for (const Written& written :
       {Written{.domains = 3}, Written{.templates = 3}, Written{.lists = 3}, Written{.slices = 3},
        Written{.cliques = 3}, Written{.nodes = 3}}) {
    ShellRig rig;
    Expectations expectations;
    expectations.expect(kNamespaceKey, written, 0s);
    EXPECT_TRUE(expectations.wait_for(kNamespaceKey, rig.stores, 0s));
  }
}

}  // namespace
}  // namespace cdom::controller
