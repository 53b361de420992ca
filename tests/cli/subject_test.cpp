#include "plugin/main/subject.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cdom::program {
namespace {

using ::testing::HasSubstr;
using Words = std::vector<std::string>;

TEST(Subject, IsNamedAsKubectlNamesIt) {
  const Subject pod{Subject::Kind::Pod, "train-0"}, domain{Subject::Kind::Domain, "train"};
  for (const Words& words : {Words{"pod", "train-0"}, Words{"pod/train-0"}, Words{"pods/train-0"},
                             Words{"po", "train-0"}}) {
    EXPECT_EQ(subject_of(words).value(), pod) << words.front();
  }
  for (const Words& words :
       {Words{"cd", "train"}, Words{"cd/train"}, Words{"computedomain.resource.nvidia.com/train"},
        Words{"computedomains.v1beta1.resource.nvidia.com", "train"}}) {
    EXPECT_EQ(subject_of(words).value(), domain) << words.front();
    EXPECT_EQ(domain_of(words).value(), "train") << words.front();
  }
  EXPECT_EQ(domain_of({"train"}).value(), "train");
  EXPECT_EQ(domain_of({"cd"}).value(), "cd");
}

TEST(Subject, IsOne) {
  for (const Words& words :
       {Words{}, Words{"train"}, Words{"pod/"}, Words{"cd/a", "cd/b"}, Words{"cd", "a", "b"}}) {
    EXPECT_THAT(subject_of(words).error().message, HasSubstr("pod NAME, or cd NAME"));
  }
  EXPECT_THAT(subject_of({"node/n1"}).error().message, HasSubstr("\"node\" is neither pod nor cd"));
  for (const Words& words : {Words{}, Words{"pod/a"}, Words{"a", "b"}, Words{"cd/a", "cd/b"}}) {
    EXPECT_THAT(domain_of(words).error().message, HasSubstr("name one ComputeDomain"));
  }
}

}  // namespace
}  // namespace cdom::program
