// An informer of a kind that comes in protobuf where the server has it: it takes either, and asks
// for JSON where a message is not as it knows it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <sstream>

#include "compute_domain/base/text.h"
#include "compute_domain/kube/client.h"
#include "compute_domain/kube/informer.h"
#include "source_tree/source_tree.h"

namespace cdom::kube {
namespace {

using testing::ElementsAre;

constexpr char kEmptyPage[] =
    R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[]})";

// What client-go's serializers have made of the sample of a ConfigMap, "team-a/train" of version
// 77; the list says that more is to come.
std::string encoded(const std::string& name) {
  std::istringstream lines(source_text("tests/api/client_go.txt"));
  std::string of, digits, bytes;
  while (of != name && lines >> of >> digits) continue;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

// A server that answers each list and each watch by what it has for it; then lists are empty, and
// watches bring nothing.
class Server : public http::Client {
 public:
  std::deque<std::string> pages;
  std::deque<std::vector<std::string>> watches;
  std::vector<std::string> asked;  // "list application/json"

  base::Result<http::Response> send(const http::Request& request) override {
    asked.push_back("list " + request.headers.at("Accept"));
    if (pages.empty()) return http::Response{200, {}, kEmptyPage};
    http::Response response{200, {}, pages.front()};
    pages.pop_front();
    return response;
  }
  base::Result<http::Opened> open(const http::Request& request) override {
    asked.push_back("watch " + request.headers.at("Accept"));
    auto parts = std::make_unique<Parts>();
    if (!watches.empty()) {
      parts->left = {watches.front().begin(), watches.front().end()};
      watches.pop_front();
    }
    return http::Opened{http::Response{}, std::move(parts)};
  }
  void shut_down() override {}

 private:
  struct Parts : http::Stream {
    base::Result<http::StreamRead> next(base::Duration /*wait*/) override {
      if (left.empty()) return http::StreamRead{};
      last = left.front();
      left.pop_front();
      return http::StreamRead{http::StreamRead::What::Line, last};
    }
    void cancel() override {}
    std::deque<std::string> left;
    std::string last;
  };
};

template <class T>
struct Rig {
  // Until nothing is to be done, backoffs passed over.
  void settle() {
    for (int i = 0; i < 100; ++i) {
      if (informer.step(base::Duration::zero()) != WatchLoop::Step::Idle) continue;
      const auto due = informer.next_due();
      if (!due) return;
      clock.advance(*due - clock.elapsed());
    }
    ADD_FAILURE() << "it never settles";
  }
  [[nodiscard]] std::vector<std::string> stored() const {
    std::vector<std::string> names;
    for (const auto& object : informer.store().all()) {
      names.push_back(base::cat(object->meta.name, " of ", object->meta.resource_version));
    }
    return names;
  }

  Server server;
  base::ManualClock clock;
  const Client client{server, clock, "test"};
  Informer<T> informer{client, clock, {}};
};

constexpr char kBoth[] = "application/vnd.kubernetes.protobuf, application/json";

TEST(InformerProtobuf, AsksForItAndTakesWhatComes) {
  Rig<api::ConfigMap> rig;
  rig.server.pages = {
      encoded("ConfigMap.list"),
      R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"json","resourceVersion":"8"}}]})"};
  rig.server.watches = {
      {encoded("ConfigMap.bookmark"),
       R"({"type":"MODIFIED","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"json","resourceVersion":"13"}}})",
       encoded("ConfigMap.event")}};
  rig.settle();
  EXPECT_THAT(rig.stored(), ElementsAre(" of ", "json of 13", "train of 77"));
  EXPECT_THAT(rig.server.asked, ElementsAre(base::cat("list ", kBoth), base::cat("list ", kBoth),
                                            base::cat("watch ", kBoth)));
  EXPECT_FALSE(rig.informer.trouble());
}

TEST(InformerProtobuf, IsNotAskedForOfAKindOfOurs) {
  Rig<api::ComputeDomain> rig;
  rig.server.pages = {
      R"({"kind":"ComputeDomainList","apiVersion":"resource.nvidia.com/v1beta1","metadata":{"resourceVersion":"9"},"items":[]})"};
  rig.settle();
  EXPECT_THAT(rig.server.asked, ElementsAre("list application/json", "watch application/json"));
}

TEST(InformerProtobuf, AListThatCannotBeReadIsAskedForInJson) {
  Rig<api::ConfigMap> rig;
  const std::string list = encoded("ConfigMap.list");
  rig.server.pages = {list.substr(0, list.size() - 1)};
  rig.settle();
  EXPECT_THAT(rig.server.asked, ElementsAre(base::cat("list ", kBoth), "list application/json",
                                            base::cat("watch ", kBoth)));
  EXPECT_FALSE(rig.informer.trouble());
}

TEST(InformerProtobuf, AnEventThatCannotBeReadComesAgainInJson) {
  Rig<api::ConfigMap> rig;
  const std::string event = encoded("ConfigMap.event");
  rig.server.watches = {
      {event.substr(0, event.size() - 1)},
      {R"({"type":"MODIFIED","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"train","namespace":"team-a","resourceVersion":"77"}}})"}};
  rig.settle();
  EXPECT_THAT(rig.stored(), ElementsAre("train of 77"));
  EXPECT_THAT(rig.server.asked, ElementsAre(base::cat("list ", kBoth), base::cat("watch ", kBoth),
                                            "watch application/json"));
}

// A proxy's page, which may begin with a newline, and an envelope of something else.
TEST(InformerProtobuf, WhatIsNoListIsAskedForOnceMoreAndTold) {
  for (const std::string body : {"\n<html>sign in</html>", "<html>", "k8s", "k8s\1junk"}) {
    std::string page = body;
    std::ranges::replace(page, '\1', '\0');
    Rig<api::ConfigMap> rig;
    rig.server.pages.assign(50, page);
    EXPECT_EQ(rig.informer.step(base::Duration::zero()), WatchLoop::Step::Failed);
    EXPECT_THAT(rig.server.asked, ElementsAre(base::cat("list ", kBoth), "list application/json"));
    Rig<api::ComputeDomain> of_ours;
    of_ours.server.pages.assign(50, page);
    EXPECT_EQ(of_ours.informer.step(base::Duration::zero()), WatchLoop::Step::Failed);
    EXPECT_THAT(of_ours.server.asked, ElementsAre("list application/json"));
    EXPECT_FALSE(of_ours.client.list_all<api::ConfigMap>());
    EXPECT_EQ(of_ours.server.asked.size(), 2U);
  }
}

// Frames where something has taken the stream out of the media type: their first line is the
// beginning of a length.
TEST(InformerProtobuf, FramesThatAreTakenForLinesComeAgainInJson) {
  Rig<api::ConfigMap> rig;
  rig.server.watches = {{std::string("\0\0\0\x2C", 4)}};
  rig.settle();
  EXPECT_EQ(rig.server.asked.back(), "watch application/json");
}

TEST(InformerProtobuf, AnErrorOfAWatchIsItsStatus) {
  Rig<api::ConfigMap> rig;
  rig.server.watches = {{encoded("error")}};
  rig.settle();
  // 410: it lists again.
  EXPECT_THAT(rig.server.asked, ElementsAre(base::cat("list ", kBoth), base::cat("watch ", kBoth),
                                            base::cat("list ", kBoth), base::cat("watch ", kBoth)));
}

}  // namespace
}  // namespace cdom::kube
