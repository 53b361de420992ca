#include "scenarios/homes/retrying_client.h"

#include <gmock/gmock.h>

#include <vector>

namespace cdom::scenarios {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using namespace std::chrono_literals;

// Gives its answers one after the other, the last one for ever.
class Answers : public http::Client {
 public:
  explicit Answers(std::vector<http::Response> answers) : answers_(std::move(answers)) {}

  base::Result<http::Response> send(const http::Request& /*request*/) override {
    const http::Response answer = answers_.front();
    if (answers_.size() > 1) answers_.erase(answers_.begin());
    return answer;
  }
  base::Result<http::Opened> open(const http::Request& request) override {
    return http::Opened{.response = *send(request), .stream = nullptr};
  }
  void shut_down() override {}

 private:
  std::vector<http::Response> answers_;
};

// As kube-apiserver says it while the watch cache of a new CRD is being filled.
http::Response initializing(int status = 429) {
  return {.status = status,
          .headers = {{"Retry-After", "1"}},
          .body = R"({"kind":"Status","message":"storage is (re)initializing","code":429})"};
}

struct Asked {
  http::Response answer;
  std::vector<base::Duration> waits;
};

Asked ask(std::vector<http::Response> answers) {
  Answers server(std::move(answers));
  std::vector<base::Duration> waits;
  RetryingClient client(server, [&](base::Duration span) { waits.push_back(span); });
  auto answer = client.send({.method = "GET", .target = "/", .headers = {}, .body = {}});
  return {*std::move(answer), waits};
}

TEST(RetryingClient, AsksAgainAfterTheTimeThatTheServerNames) {
  const Asked asked = ask({initializing(), initializing(503), {.status = 200}});
  EXPECT_EQ(asked.answer.status, 200);
  EXPECT_THAT(asked.waits, ElementsAre(1s, 1s));
}

TEST(RetryingClient, TakesAnAnswerWithoutSuchATimeAsTheLast) {
  const Asked asked = ask({{.status = 429}, {.status = 200}});
  EXPECT_EQ(asked.answer.status, 429);
  EXPECT_THAT(asked.waits, IsEmpty());
}

TEST(RetryingClient, TakesARefusalAsTheLast) {
  http::Response refusal = initializing(403);
  EXPECT_EQ(ask({refusal, {.status = 200}}).answer.status, 403);
}

TEST(RetryingClient, GivesUpAfterTenTimes) {
  const Asked asked = ask({initializing()});
  EXPECT_EQ(asked.answer.status, 429);
  EXPECT_THAT(asked.waits, SizeIs(10));
}

}  // namespace
}  // namespace cdom::scenarios
