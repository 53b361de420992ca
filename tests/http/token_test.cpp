#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <vector>

#include "http/client/token_source.h"
#include "http/local.h"

namespace cdom::http {
namespace {

using namespace std::chrono_literals;

class TokenFile : public ::testing::Test {
 protected:
  ~TokenFile() override { std::remove(file_.c_str()); }
  void write(const std::string& token) { std::ofstream(file_) << token << "\n"; }

  const std::string file_ = ::testing::TempDir() + "/http_token_" +
                            ::testing::UnitTest::GetInstance()->current_test_info()->name();
  base::ManualClock clock_;
};

TEST_F(TokenFile, IsReadAgainOnceAMinute) {
  TokenSource source("", file_, clock_);
  write("a");
  EXPECT_EQ(*source.current(), "a");
  write("b");
  clock_.advance(59s);
  EXPECT_EQ(*source.current(), "a");
  clock_.advance(1s);
  EXPECT_EQ(*source.current(), "b");
}

TEST_F(TokenFile, IsReadAtOnceWhenTheTokenIsRejected) {
  TokenSource source("", file_, clock_);
  write("a");
  EXPECT_EQ(*source.current(), "a");
  EXPECT_FALSE(source.rejected("a")) << "the file still has the same token";
  write("b");
  EXPECT_TRUE(source.rejected("a"));
  EXPECT_EQ(*source.current(), "b");
  EXPECT_TRUE(source.rejected("a")) << "another thread has read the new token";
}

TEST_F(TokenFile, LeavesTheLastTokenInUseWhileItCannotBeRead) {
  TokenSource source("", file_, clock_);
  EXPECT_EQ(source.current().error().message,
            "token file " + file_ + ": No such file or directory");
  write("a");
  EXPECT_EQ(*source.current(), "a");
  std::remove(file_.c_str());
  clock_.advance(2min);
  EXPECT_EQ(*source.current(), "a");
}

TEST_F(TokenFile, LeavesTheLastTokenInUseWhileItIsEmpty) {
  TokenSource source("", file_, clock_);
  write("");
  EXPECT_EQ(source.current().error().message, "token file " + file_ + " is empty");
  write("a");
  EXPECT_EQ(*source.current(), "a");
  write("");
  clock_.advance(2min);
  EXPECT_EQ(*source.current(), "a");
  EXPECT_FALSE(source.rejected("a"));
  EXPECT_EQ(*source.current(), "a");
}

TEST_F(TokenFile, AClientGoesOnAfterARotation) {
  std::vector<std::string> seen;
  const auto server = serve([&](const Request& request, const Peer&) -> Reply {
    seen.push_back(request.headers.at("Authorization"));
    return Response{seen.back() == "Bearer new" ? 200 : 401, {}, {}};
  });
  ClientConfig config = config_for("http://" + server->address());
  config.token_file = file_;
  write("old");
  const auto client = make_client(config, clock_);
  const auto refused = client->send({"POST", "/", {}, "{}"});
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, 401);
  write("new");
  const auto taken = client->send({"POST", "/", {}, "{}"});
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->status, 200);
  EXPECT_THAT(seen, ::testing::ElementsAre("Bearer old", "Bearer old", "Bearer new"));
}

}  // namespace
}  // namespace cdom::http
