// How long one key has its worker while its requests get no answer, and that nothing of it is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <utility>

#include "compute_domain/base/pulses.h"
#include "compute_domain/base/text.h"
#include "compute_domain/controller/controller.h"
#include "controller/empty_server.h"

namespace cdom::controller {
namespace {

using namespace std::chrono_literals;
using base::cat;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr int kMany = 40;

// A create of one kind takes as long as a request may, but for those whose body has a certain text.
class SilentServer : public EmptyServer {
 public:
  enum class What { IsSilent, HasASilentWebhook, IsSlow };
  SilentServer(base::ManualClock& clock, std::string kind, What what)
      : clock_(clock), kind_(std::move(kind)), what_(what) {}

  void answer(const std::string& body) { answered_ = body; }

  base::Result<http::Response> send(const http::Request& request) override {
    const bool is_met = request.method == "POST" &&
                        request.target.find(kind_) != std::string::npos &&
                        request.body.find(answered_) == std::string::npos;
    // What is created never comes in a watch: without time to pass it would be created for ever.
    if (!is_met && request.method == "POST") clock_.advance(200ms);
    if (!is_met) return EmptyServer::send(request);
    clock_.advance(http::ClientConfig{}.request_timeout);
    if (what_ == What::IsSlow) return EmptyServer::send(request);
    if (what_ == What::IsSilent) return base::Error{base::ErrorKind::Unavailable, "no answer"};
    return http::Response{
        .status = 500,
        .headers = {},
        .body = R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"InternalError",)"
                R"("code":500,"message":"failed calling webhook \"w\": deadline exceeded"})"};
  }

 private:
  base::ManualClock& clock_;
  const std::string kind_;
  const What what_;
  std::string answered_ = "nothing has this";
};

// A claim that a person made.
std::string claim_in(const std::string& ns, const std::string& name) {
  return cat(R"({"metadata":{"name":")", name, R"(","namespace":")", ns, R"(","uid":"uid-)", ns,
             name, R"(","resourceVersion":"3"},"spec":{"devices":{"requests":[{"name":"channel",)",
             R"("exactly":{"deviceClassName":"compute-domain-default-channel.nvidia.com"}}]}}})");
}

std::vector<std::string> many_claims(const std::string& ns) {
  std::vector<std::string> claims(kMany);
  for (int i = 0; i < kMany; ++i) claims[i] = claim_in(ns, cat("c", i));
  return claims;
}

// Each is a workload, for which a domain is made.
void put_workloads(EmptyServer& server) {
  server.put("resourceclaims", base::join(many_claims("team-a"), ","));
}

// The same in as many namespaces.
void put_namespaces(EmptyServer& server) {
  std::vector<std::string> claims(kMany);
  for (int i = 0; i < kMany; ++i) claims[i] = claim_in(cat("team-", i), "c");
  server.put("resourceclaims", base::join(claims, ","));
}

// A domain with a node in each of so many cliques, and so a node list for each.
void put_domain_in(int cliques, EmptyServer& server) {
  std::vector<std::string> claims, nodes, reports;
  for (int i = 0; i < cliques; ++i) {
    const std::string meta = cat(R"({"metadata":{"name":"n)", i, R"(","uid":"uid-n)", i,
                                 R"(","resourceVersion":"3"},"status":{)");
    nodes.push_back(cat(meta, R"("nodeInfo":{"bootID":"boot"},"conditions":[{"type":"Ready",)",
                        R"("status":"True"}]}})"));
    reports.push_back(cat(meta, R"("bootID":"boot","address":"10.0.0.)", i + 1, R"(","clique":"c.)",
                          i, R"("}})"));
    claims.push_back(
        cat(R"({"metadata":{"name":"c)", i, R"(","namespace":"team-a","uid":"uid-c)", i,
            R"(","resourceVersion":"3"},"spec":{},"status":{"reservedFor":[{"resource":"pods",)",
            R"("name":"p)", i, R"(","uid":"uid-p)", i, R"("}],"allocation":{"nodeSelector":{)",
            R"("nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In",)",
            R"("values":["n)", i, R"("]}]}]},"devices":{"results":[{"request":"channel",)",
            R"("driver":"compute-domain.nvidia.com","pool":"n)", i, R"(","device":"channel-0"}],)",
            R"("config":[{"source":"FromClaim","opaque":{"driver":"compute-domain.nvidia.com",)",
            R"("parameters":{"apiVersion":"resource.nvidia.com/v1beta1",)",
            R"("kind":"ComputeDomainChannelConfig","domainID":"uid-train"}}}]}}}})"));
  }
  server.put("computedomains", R"({"metadata":{"name":"train","namespace":"team-a",
      "uid":"uid-train","resourceVersion":"4","finalizers":["resource.nvidia.com/computeDomain"]},
      "spec":{"numNodes":0,"channel":{"resourceClaimTemplate":{"name":"t"}}}})");
  server.put("nodes", base::join(nodes, ","));
  server.put("computedomainnodes", base::join(reports, ","));
  server.put("resourceclaims", base::join(claims, ","));
}

void put_cliques(EmptyServer& server) { put_domain_in(kMany, server); }

using What = SilentServer::What;

// What is created, and the text that the last of the many has in its body.
struct Case {
  std::string kind;
  void (*put)(EmptyServer&);
  std::string last;
};
const Case kDomains{"/computedomains", put_workloads, "\"c9-"};
const Case kLists{"/configmaps", put_cliques, "\"c.9\""};

class Turns : public testing::TestWithParam<std::tuple<Case, What>> {
 protected:
  Turns() { case_.put(server_); }

  // How long the worker worked that those of others wait for: together, and without a pause.
  struct Work {
    base::Duration all{}, longest{};
  };
  Work run_for(base::Duration span) {
    Work work;
    const base::Duration end = clock_.elapsed() + span;
    while (clock_.elapsed() < end) {
      bool any = false;
      for (const auto& part : controller_.parts()) {
        const base::Duration start = clock_.elapsed();
        any |= part.step();
        if (part.name == "worker-0-apart" || part.name == "events") continue;
        work.all += clock_.elapsed() - start;
        work.longest = std::max(work.longest, clock_.elapsed() - start);
      }
      if (!any) clock_.advance(2s);
    }
    return work;
  }

  const Case case_ = std::get<Case>(GetParam());
  base::ManualClock clock_;
  base::Registry metrics_;
  SilentServer server_{clock_, case_.kind, std::get<What>(GetParam())};
  kube::Client client_{server_, clock_, "test"};
  Controller controller_{client_, clock_, metrics_, {.workers = 1}};
};

TEST_P(Turns, EndWithARequestThatNobodyAnswers) {
  const Work work = run_for(20min);
  EXPECT_LE(work.longest, base::Duration(11s));
  EXPECT_LE(work.all, base::Duration(12s)) << "keys of others wait for the same worker";
}

TEST_P(Turns, LoseNothingOfWhatTheyLeft) {
  run_for(5min);
  server_.answer("");
  run_for(2min);
  const std::vector<std::string> created = server_.created();
  const std::set<std::string> different(created.begin(), created.end());
  EXPECT_THAT(different, SizeIs(testing::Ge(static_cast<std::size_t>(kMany))));
}

TEST_P(Turns, ComeToWhatIsAnsweredBehindWhatIsNot) {
  server_.answer(case_.last);
  run_for(10min);
  EXPECT_THAT(server_.created(), Contains(HasSubstr(case_.last)));
}

INSTANTIATE_TEST_SUITE_P(, Turns,
                         testing::Combine(testing::Values(kDomains, kLists),
                                          testing::Values(What::IsSilent, What::HasASilentWebhook,
                                                          What::IsSlow)));

// What one worker does while no request but reads is answered, each of which takes as long as it
// may.
class MuteServer : public EmptyServer {
 public:
  explicit MuteServer(base::ManualClock& clock) : clock_(clock) {}

  base::Result<http::Response> send(const http::Request& request) override {
    if (request.method == "GET") return EmptyServer::send(request);
    const std::scoped_lock lock(mutex_);
    clock_.advance(http::ClientConfig{}.request_timeout);
    ++asked_;
    return base::Error{base::ErrorKind::Unavailable, "no answer"};
  }
  [[nodiscard]] int asked() const {
    const std::scoped_lock lock(mutex_);
    return asked_;
  }

 private:
  base::ManualClock& clock_;
  mutable std::mutex mutex_;
  int asked_ = 0;
};

// How many of these requests each worker made within so long.
std::map<std::string, int> silent_requests(void (*put)(EmptyServer&), base::Duration span) {
  base::ManualClock clock;
  base::Registry metrics;
  MuteServer server(clock);
  put(server);
  kube::Client client(server, clock, "test");
  Controller controller(client, clock, metrics, {.workers = 1});
  std::map<std::string, int> asked;
  while (clock.elapsed() < span) {
    bool any = false;
    for (const auto& part : controller.parts()) {
      const int before = server.asked();
      any |= part.step();
      asked[part.name] += server.asked() - before;
    }
    if (!any) clock.advance(2s);
  }
  return asked;
}

// What a Clock throws stands for a mistake of ours.
struct FaultyClock : base::ManualClock {
  [[nodiscard]] base::Time now() const override {
    if (is_faulty) throw std::logic_error("no time");
    return ManualClock::now();
  }
  bool is_faulty = false;
};

TEST(TurnsOfOneDomain, EndWithAMistakeWhileItIsGathered) {
  FaultyClock clock;
  EmptyServer server;
  put_domain_in(1, server);
  kube::Client client{server, clock, "test"};
  base::Registry metrics;
  Controller controller(client, clock, metrics, {.workers = 1});
  const auto& parts = controller.parts();
  while (!controller.has_synced()) {
    for (const auto& part : parts) {
      if (!part.name.starts_with("worker")) part.step();
    }
  }
  clock.is_faulty = true;
  const auto worker = std::ranges::find(parts, "worker-0", &Controller::Part::name);
  while (worker->step()) continue;
  EXPECT_THAT(server.created(), IsEmpty());
  clock.is_faulty = false;
  for (int second = 0; second < 120; ++second) {
    clock.advance(1s);
    while (worker->step()) continue;
  }
  EXPECT_THAT(server.created(), Contains(HasSubstr("compute-domain-group")));
}

TEST(TurnsOfOneDomain, EndBeforeItsStatusWhenItsListGotNoAnswer) {
  const auto put_one = [](EmptyServer& server) { put_domain_in(1, server); };
  auto asked = silent_requests(put_one, 20min);
  EXPECT_EQ(asked["worker-0"], 3) << "its list, and the label and the report of its node";
  EXPECT_GT(asked["worker-0-apart"], 50);
}

TEST(TurnsOfManyNamespaces, TakeOneRequestOfEachFromTheOthers) {
  auto asked = silent_requests(put_namespaces, 5h);
  EXPECT_EQ(asked["worker-0"], kMany);
  EXPECT_GT(asked["worker-0-apart"], 1000);
}

// Nobody answers a create in team-a, and the first one in team-b.
class OnceSilentServer : public EmptyServer {
 public:
  explicit OnceSilentServer(base::ManualClock& clock) : clock_(clock) {}

  base::Result<http::Response> send(const http::Request& request) override {
    if (request.method != "POST") return EmptyServer::send(request);
    const bool is_answered =
        request.target.find("/team-b/") != std::string::npos && std::exchange(has_met_b_, true);
    if (is_answered) return EmptyServer::send(request);
    clock_.advance(http::ClientConfig{}.request_timeout);
    return base::Error{base::ErrorKind::Unavailable, "no answer"};
  }

 private:
  base::ManualClock& clock_;
  bool has_met_b_ = false;
};

TEST(TurnsApart, LetOthersThatWereSlowComeBetween) {
  base::ManualClock clock;
  base::Registry metrics;
  OnceSilentServer server(clock);
  std::vector<std::string> claims = many_claims("team-a");
  claims.push_back(claim_in("team-b", "c"));
  server.put("resourceclaims", base::join(claims, ","));
  kube::Client client(server, clock, "test");
  Controller controller(client, clock, metrics, {.workers = 1});
  while (clock.elapsed() < 2min && server.created().empty()) {
    bool any = false;
    for (const auto& part : controller.parts()) any |= part.step();
    if (!any) clock.advance(2s);
  }
  EXPECT_THAT(server.created(), ElementsAre(HasSubstr("\"namespace\":\"team-b\"")));
}

// Nobody answers a create in team-a: the first one takes its time, and the others wait until one of
// another namespace has come.
class WaitingServer : public EmptyServer {
 public:
  explicit WaitingServer(base::ManualClock& clock) : clock_(clock) {}

  base::Result<http::Response> send(const http::Request& request) override {
    if (request.method != "POST") return EmptyServer::send(request);
    if (request.target.find("/team-a/") == std::string::npos) {
      other_came_ = true;
      return EmptyServer::send(request);
    }
    clock_.advance(http::ClientConfig{}.request_timeout);
    if (++silent_ > 1) wait_for_other();
    if (on_silence) on_silence();
    return base::Error{base::ErrorKind::Unavailable, "no answer"};
  }
  [[nodiscard]] int silent() const { return silent_; }

  std::function<void()> on_silence;

 private:
  void wait_for_other() const {
    const auto patience = std::chrono::steady_clock::now() + 20s;
    while (!other_came_ && std::chrono::steady_clock::now() < patience) {
      std::this_thread::sleep_for(1ms);
    }
  }

  base::ManualClock& clock_;
  std::atomic<int> silent_ = 0;
  std::atomic<bool> other_came_ = false;
};

TEST(TurnsOfThreads, LetOthersGoOnAndHaveAPulse) {
  base::ManualClock clock;
  WaitingServer server(clock);
  std::vector<std::string> claims = many_claims("team-a");
  claims.push_back(claim_in("team-b", "c"));
  server.put("resourceclaims", base::join(claims, ","));
  base::Pulses pulses(clock, 5min);
  server.on_silence = [&] { EXPECT_THAT(pulses.stuck(), Not(HasSubstr("worker-0-apart"))); };
  base::Registry metrics;
  kube::Client client(server, clock, "test");
  Controller controller(client, clock, metrics, {.workers = 1, .pulses = &pulses});
  std::jthread thread([&](const std::stop_token& stop) { (void)controller.run(stop); });
  // More than the pulse of one request would last for.
  constexpr int kEnough = 32;
  const auto patience = std::chrono::steady_clock::now() + 60s;
  while (server.silent() < kEnough && std::chrono::steady_clock::now() < patience) {
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_GE(server.silent(), kEnough);
  EXPECT_THAT(server.created(), ElementsAre(HasSubstr("\"namespace\":\"team-b\"")));
}

}  // namespace
}  // namespace cdom::controller
