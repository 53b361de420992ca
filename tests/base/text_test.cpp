#include "compute_domain/base/text.h"

#include <gtest/gtest.h>

namespace cdom::base {
namespace {

TEST(Text, ConcatenatesPiecesOfAllKinds) {
  EXPECT_EQ(cat("a", 'b', 3, std::string("c"), true, std::size_t{4}), "ab3ctrue4");
}

TEST(Text, SplitsIntoEveryField) {
  EXPECT_EQ(split("a,,b", ','), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(split("", ','), (std::vector<std::string>{""}));
}

TEST(Text, NamesTheFirstAndCountsTheRest) {
  EXPECT_EQ(list_names({"n1", "n2"}, 2), "n1, n2");
  EXPECT_EQ(list_names({"n1", "n2", "n3"}, 2), "n1, n2 and 1 more");
}

TEST(Text, ChecksNamesAsKubernetesDoes) {
  EXPECT_TRUE(is_dns_subdomain("a.b-c.d"));
  EXPECT_FALSE(is_dns_subdomain("A.b"));
  EXPECT_FALSE(is_dns_subdomain("a..b"));
  EXPECT_FALSE(is_dns_subdomain("-a"));
  EXPECT_FALSE(is_dns_subdomain(std::string(254, 'a')));
  EXPECT_TRUE(is_dns_label("n-1"));
  EXPECT_FALSE(is_dns_label("a.b"));
  EXPECT_TRUE(is_label_value(""));
  EXPECT_TRUE(is_label_value("6f0a_X.1"));
  EXPECT_FALSE(is_label_value("x."));
}

TEST(Text, HashesAreStable) {
  EXPECT_EQ(hex64(fnv1a64("")), "cbf29ce484222325");
  EXPECT_EQ(hex64(fnv1a64("a")), "af63dc4c8601ec8c");
}

}  // namespace
}  // namespace cdom::base
