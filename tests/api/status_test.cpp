#include <gmock/gmock.h>

#include "compute_domain/api/codec.h"
#include "compute_domain/base/text.h"

namespace cdom::api {
namespace {

using base::ErrorKind;
using ::testing::EndsWith;

ErrorKind kind_for(int code, std::string_view reason = "") {
  return error_of({code, std::string(reason), "m", std::nullopt}).kind;
}

TEST(ErrorOf, FollowsTheCode) {
  EXPECT_EQ(kind_for(404), ErrorKind::NotFound);
  EXPECT_EQ(kind_for(410), ErrorKind::Expired);
  EXPECT_EQ(kind_for(422), ErrorKind::Invalid);
  EXPECT_EQ(kind_for(400), ErrorKind::Invalid);
  EXPECT_EQ(kind_for(415), ErrorKind::Invalid);
  EXPECT_EQ(kind_for(403), ErrorKind::Forbidden);
  EXPECT_EQ(kind_for(401), ErrorKind::Forbidden);
  EXPECT_TRUE(error_of({401, "", "", std::nullopt}).is_unauthenticated);
  EXPECT_FALSE(error_of({403, "", "", std::nullopt}).is_unauthenticated);
  for (const int code : {429, 500, 502, 503, 504, 0}) {
    EXPECT_EQ(kind_for(code), ErrorKind::Unavailable) << code;
  }
}

TEST(ErrorOf, TellsTheTwoConflictsApartByReason) {
  EXPECT_EQ(kind_for(409, "AlreadyExists"), ErrorKind::AlreadyExists);
  EXPECT_EQ(kind_for(409, "Conflict"), ErrorKind::Conflict);
  EXPECT_EQ(kind_for(409), ErrorKind::Conflict);
}

TEST(DecodeStatus, ReadsAStatus) {
  const Status status = decode_status(429, R"({"kind":"Status","code":429,
    "reason":"TooManyRequests","message":"slow down","details":{"retryAfterSeconds":3}})");
  const base::Error error = error_of(status);
  EXPECT_EQ(error, (base::Error{ErrorKind::Unavailable, "slow down", std::chrono::seconds(3)}));
}

TEST(DecodeStatus, HasTheNameOfTheObjectThatItIsAbout) {
  EXPECT_EQ(decode_status(404, R"({"kind":"Status","code":404,"reason":"NotFound",
    "details":{"name":"train","kind":"computedomains"}})")
                .object,
            "train");
  EXPECT_EQ(decode_status(404, R"({"kind":"Status","code":404,"details":{}})").object, "");
}

TEST(DecodeStatus, MakesOneOfWhatAProxySays) {
  EXPECT_EQ(error_of(decode_status(502, "<html>\n<b>Bad Gateway</b>\n</html>\n")).message,
            "HTTP 502: <html> <b>Bad Gateway</b> </html>");
  EXPECT_EQ(error_of(decode_status(503, "")).message, "HTTP 503");
  EXPECT_LT(error_of(decode_status(500, std::string(10'000, 'x'))).message.size(), 300U);
}

// An Event with half of a character is one that an API server refuses.
TEST(DecodeStatus, CutsAPageBetweenCharacters) {
  for (const char* before : {"", "a"}) {
    std::string page = before;
    for (int i = 0; i < 1'000; ++i) page += "é";
    EXPECT_THAT(error_of(decode_status(500, page)).message, EndsWith("é…"));
  }
}

TEST(DecodeStatus, TakesTheHttpCodeWhenTheBodyHasNone) {
  EXPECT_EQ(decode_status(404, R"({"kind":"Status","message":"m"})").code, 404);
}

}  // namespace
}  // namespace cdom::api
