#include "sandbox/text/quantity.h"

#include <gtest/gtest.h>

namespace cdom::sandbox {
namespace {

Quantity q(std::string_view text) { return Quantity::parse(text).value(); }

TEST(Quantity, ComparesByAmountAcrossSuffixes) {
  EXPECT_EQ(q("1Gi"), q("1024Mi"));
  EXPECT_EQ(q("1500m"), q("1.5"));
  EXPECT_EQ(q("2e3"), q("2k"));
  EXPECT_EQ(q("12E-1"), q("1.2"));
  EXPECT_LT(q("400G"), q("400Gi"));
  EXPECT_LT(q("-1.5"), q("-1.25"));
}

TEST(Quantity, IsExactWithFractionsOfBinaryUnits) {
  EXPECT_EQ(q("1.5Gi").value(), 1'610'612'736);
  EXPECT_EQ(q("0.1").milli_value(), 100);
  EXPECT_EQ(q("1n").value(), 1);
  EXPECT_EQ(q("1.05").value(), 2);
}

TEST(Quantity, AddsAndSubtracts) {
  EXPECT_EQ(q("1.6") + q("600m"), q("2.2"));
  EXPECT_EQ(q("1") - q("1500m"), q("-500m"));
}

TEST(Quantity, RefusesWhatIsNone) {
  for (const char* text :
       {"", "G", "1.2.3", "1 G", "1Gib", "0x1", "1e", "1e+", "99999999999999999999"}) {
    EXPECT_FALSE(Quantity::parse(text)) << text;
  }
}

}  // namespace
}  // namespace cdom::sandbox
