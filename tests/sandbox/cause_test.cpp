#include "sandbox/apiserver/rules/cause.h"

#include <gtest/gtest.h>

namespace cdom::sandbox {
namespace {

TEST(Cause, OneCauseStandsPlain) {
  EXPECT_EQ(invalid_message("ComputeDomain", "resource.nvidia.com", "a",
                            {{"FieldValueRequired", "Required value", "spec"}}),
            "ComputeDomain.resource.nvidia.com \"a\" is invalid: spec: Required value");
}

TEST(Cause, SeveralCausesStandInBracketsOnce) {
  EXPECT_EQ(invalid_message("Pod", "", "a",
                            {{"FieldValueRequired", "Required value", "x"},
                             {"FieldValueRequired", "Required value", "x"},
                             {"FieldValueInvalid", "Invalid value: 3: no", "y"}}),
            "Pod \"a\" is invalid: [x: Required value, y: Invalid value: 3: no]");
}

}  // namespace
}  // namespace cdom::sandbox
