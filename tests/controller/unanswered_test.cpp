// What a domain's status says while one of its requests gets no answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compute_domain/controller/controller.h"
#include "controller/empty_server.h"

namespace cdom::controller {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string domain_json() {
  return R"({"kind":"ComputeDomain","apiVersion":"resource.nvidia.com/v1beta1",
      "metadata":{"name":"train","namespace":"team-a","uid":"uid-train","resourceVersion":"4",
      "finalizers":["resource.nvidia.com/computeDomain"]},
      "spec":{"numNodes":2,"channel":{"resourceClaimTemplate":{"name":"t"}}}})";
}

// It has one domain, and answers a status, which its watch never shows, or the create of a
// template only where it is to.
class WalledServer : public EmptyServer {
 public:
  WalledServer(base::ManualClock& clock, base::Duration silence)
      : clock_(clock), silence_(silence) {
    put("computedomains", domain_json());
  }

  bool answers_templates = false;
  bool answers_statuses = true;

  // What came as a status.
  [[nodiscard]] const std::vector<std::string>& statuses() const { return statuses_; }

  base::Result<http::Response> send(const http::Request& request) override {
    if (request.method == "POST" && has(request, "/resourceclaimtemplates")) {
      if (!answers_templates) return no_answer();
    } else if (request.method == "PATCH" && has(request, "/train/status")) {
      if (!answers_statuses) return no_answer();
      statuses_.push_back(request.body);
      return http::Response{.status = 200, .headers = {}, .body = domain_json()};
    }
    return EmptyServer::send(request);
  }

 private:
  static bool has(const http::Request& request, const char* part) {
    return request.target.find(part) != std::string::npos;
  }
  [[nodiscard]] base::Error no_answer() const {
    clock_.advance(silence_);
    return {base::ErrorKind::Unavailable, "POST /templates: no answer for 10s"};
  }

  base::ManualClock& clock_;
  const base::Duration silence_;
  std::vector<std::string> statuses_;
};

class Unanswered : public testing::TestWithParam<base::Duration> {
 protected:
  void run_for(base::Duration span) {
    const base::Duration end = clock_.elapsed() + span;
    while (clock_.elapsed() < end) {
      bool any = false;
      for (const auto& part : controller_.parts()) any |= part.step();
      if (!any) clock_.advance(1s);
    }
  }

  base::ManualClock clock_;
  base::Registry metrics_;
  WalledServer server_{clock_, GetParam()};
  kube::Client client_{server_, clock_, "test"};
  Controller controller_{client_, clock_, metrics_, {.workers = 1}};
};

const auto kSaysSo = HasSubstr("WriteRefused");

TEST_P(Unanswered, ARequestOfANewDomainIsNamedByItsStatus) {
  run_for(5min);
  EXPECT_THAT(server_.statuses(),
              Contains(AllOf(kSaysSo, HasSubstr("create ResourceClaimTemplate team-a/t"),
                             HasSubstr("no answer for 10s"), HasSubstr("has failed since "))));
}

TEST_P(Unanswered, ARequestThatIsAnsweredAgainIsNamedNoMore) {
  run_for(5min);
  server_.answers_templates = true;
  run_for(2min);
  EXPECT_THAT(server_.created(), Contains(HasSubstr("ResourceClaimTemplate")));
  ASSERT_THAT(server_.statuses(), Not(IsEmpty()));
  EXPECT_THAT(server_.statuses().back(), Not(kSaysSo));
}

TEST_P(Unanswered, RequestsOfAShortOutageAreNotNamed) {
  server_.answers_statuses = false;
  run_for(25s);
  server_.answers_templates = server_.answers_statuses = true;
  run_for(2min);
  EXPECT_THAT(server_.statuses(), AllOf(Not(IsEmpty()), Each(Not(kSaysSo))));
  EXPECT_THAT(server_.asked("/events"), IsEmpty());
}

// What has no answer is tried before the status that would name it, once nothing had one.
TEST_P(Unanswered, RequestsOfALongOutageAreNotNamedWhenItEnds) {
  server_.answers_statuses = false;
  for (int i = 0; i < 5; ++i) run_for(70s);
  server_.answers_templates = server_.answers_statuses = true;
  run_for(2min);
  EXPECT_THAT(server_.statuses(), AllOf(Not(IsEmpty()), Each(Not(kSaysSo))));
  EXPECT_THAT(server_.asked("/events"), IsEmpty());
}

// How long each of these requests takes.
INSTANTIATE_TEST_SUITE_P(, Unanswered, testing::Values(0s, 10s));

}  // namespace
}  // namespace cdom::controller
