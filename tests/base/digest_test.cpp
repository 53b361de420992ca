#include "compute_domain/base/digest.h"

#include <gtest/gtest.h>

#include "compute_domain/base/text.h"

namespace cdom::base {
namespace {

// FIPS 180-2, B.1.
TEST(Digest, IsSha256) {
  EXPECT_EQ(sha256("abc").substr(0, 4), "\xba\x78\x16\xbf");
  EXPECT_EQ(sha256("abc").size(), 32u);
  EXPECT_EQ(digest128("abc"), "ba7816bf8f01cfea414140de5dae2223");
}

// Found in seconds on one core: hence no FNV for names of what tenants and nodes choose.
TEST(Digest, HasNoTextThatIsEasilyAimedAtAnother) {
  const std::string of_one =
      "11111111-2222-4333-8444-555555555555/"
      "InVcjDeLicw6HcSkHl8hTsjcG3NHuDXMBSRHGThkqf7klqNnD4Lo9rPl";
  const std::string of_another =
      "99999999-8888-4777-8666-aaaaaaaaaaaa/6f0a3c52-1c7e-4b1f-9d53-0c2f6c2b7a10.7";
  EXPECT_EQ(fnv1a64(of_one), fnv1a64(of_another));
  EXPECT_NE(digest128(of_one), digest128(of_another));
}

}  // namespace
}  // namespace cdom::base
