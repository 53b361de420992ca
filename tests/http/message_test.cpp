#include "compute_domain/http/message.h"

#include <gtest/gtest.h>

namespace cdom::http {
namespace {

TEST(Percent, EncodesAllButUnreservedCharacters) {
  EXPECT_EQ(percent_encoded("aZ09-._~"), "aZ09-._~");
  EXPECT_EQ(percent_encoded("a=b,c in (x)|\xc3\xa9/%"), "a%3Db%2Cc%20in%20%28x%29%7C%C3%A9%2F%25");
}

TEST(Percent, DecodesWhatItEncodes) {
  std::string every_byte;
  for (int byte = 0; byte < 256; ++byte) every_byte += static_cast<char>(byte);
  EXPECT_EQ(percent_decoded(percent_encoded(every_byte), true), every_byte);
}

TEST(Percent, TakesAPlusForASpaceOnlyInAQuery) {
  EXPECT_EQ(percent_decoded("a+b%2b", true), "a b+");
  EXPECT_EQ(percent_decoded("a+b%2b", false), "a+b+");
}

TEST(Percent, LeavesABrokenEscapeAsItIs) {
  EXPECT_EQ(percent_decoded("100%", false), "100%");
  EXPECT_EQ(percent_decoded("%4", false), "%4");
  EXPECT_EQ(percent_decoded("%zz%4x%41", false), "%zz%4xA");
}

TEST(Headers, CompareWithoutRegardToCase) {
  Headers headers{{"Content-Type", "text/plain"}};
  headers["content-type"] = "application/json";
  ASSERT_EQ(headers.size(), 1u);
  EXPECT_EQ(headers.find("CONTENT-TYPE")->second, "application/json");
}

TEST(WithoutUser, IsTheAddressThatAnybodyMaySee) {
  EXPECT_EQ(without_user("https://10.0.0.1:6443/base"), "https://10.0.0.1:6443/base");
  EXPECT_EQ(without_user("https://admin:s3@cret@host/a@b"), "https://host/a@b");
  EXPECT_EQ(without_user("https://admin@host?q=a@b"), "https://host?q=a@b");
  EXPECT_EQ(without_user("no address"), "no address");
}

}  // namespace
}  // namespace cdom::http
