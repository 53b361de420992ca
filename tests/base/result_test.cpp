#include "compute_domain/base/result.h"

#include <gtest/gtest.h>

namespace cdom::base {
namespace {

TEST(Result, HoldsAValueOrAnError) {
  const Result<int> value = 7;
  const Result<int> error = Error{ErrorKind::NotFound, "node n1 not found"};

  EXPECT_TRUE(value);
  EXPECT_EQ(*value, 7);
  EXPECT_FALSE(error);
  EXPECT_EQ(to_string(error.error()), "NotFound: node n1 not found");
}

TEST(Result, ThrowsWhenAMissingValueIsRead) {
  const Result<int> error = Error{ErrorKind::Conflict, "stale"};
  EXPECT_THROW(static_cast<void>(error.value()), std::logic_error);
}

TEST(Result, OfVoidIsSuccessByDefault) {
  EXPECT_TRUE(Result<void>{});
  EXPECT_FALSE((Result<void>{Error{ErrorKind::Cancelled, "stop"}}));
}

}  // namespace
}  // namespace cdom::base
