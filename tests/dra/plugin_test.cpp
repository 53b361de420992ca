#include "compute_domain/dra/plugin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <barrier>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <optional>
#include <thread>

#include "base/directory.h"
#include "compute_domain/base/descriptor.h"
#include "dra/fake_driver.h"
#include "dra/kubelet.h"

namespace cdom::dra {

namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Lt;
using testing::SizeIs;

constexpr const char* kDriver = "compute-domain.nvidia.com";

class PluginTest : public testing::Test {
 protected:
  PluginTest() {
    std::filesystem::create_directories(dir_.at("plugins_registry"));
    std::filesystem::create_directories(dir_.at("plugins"));
  }

  PluginOptions options(const std::string& pod_uid = "") const {
    return {.driver = kDriver,
            .plugins_dir = dir_.at("plugins"),
            .registrar_dir = dir_.at("plugins_registry"),
            .pod_uid = pod_uid};
  }
  std::unique_ptr<Plugin> start(const PluginOptions& with) {
    auto plugin = Plugin::start(with, driver_, clock_);
    if (!plugin) throw std::runtime_error(plugin.error().message);
    return std::move(*plugin);
  }
  SocketPaths paths(const std::string& pod_uid = "") const {
    return *socket_paths(options(pod_uid));
  }
  void start() { plugin_ = start(options()); }

  // False after ten seconds.
  template <class Condition>
  bool until(const Condition& holds) {
    const base::Duration end = clock_.elapsed() + std::chrono::seconds(10);
    while (!holds()) {
      if (clock_.elapsed() > end) return false;
      std::this_thread::yield();
    }
    return true;
  }

  // A prepare ends when it is stopped, and not before.
  void prepare_until_stopped() {
    driver_.on_prepare([this](const Claim&, const std::stop_token& stop) -> FakeDriver::Prepared {
      std::promise<void> stopped;
      const std::stop_callback on_stop(stop, [&] { stopped.set_value(); });
      entered_.set_value();
      stopped.get_future().wait();
      ended_.set_value();
      return base::Error{base::ErrorKind::Cancelled, "stopped"};
    });
  }
  bool has_ended() {
    return ended_.get_future().wait_for(std::chrono::seconds(10)) == std::future_status::ready;
  }

  const base::Directory dir_;
  const base::SystemClock clock_;
  FakeDriver driver_;
  std::promise<void> entered_, ended_;
  std::unique_ptr<Plugin> plugin_;
};

// ---- Registration

TEST_F(PluginTest, TellsKubeletItsDriverItsEndpointAndTheVersionsNewestFirst) {
  start();
  const Info info = Kubelet(paths().registration, "%2Fvar%2Flib%2Fkubelet%2Fx").get_info();

  EXPECT_EQ(info.code, kOk);
  EXPECT_EQ(info.type, "DRAPlugin");
  EXPECT_EQ(info.name, kDriver);
  EXPECT_EQ(info.endpoint, paths().dra);
  EXPECT_THAT(info.versions, ElementsAre("v1.DRAPlugin", "v1beta1.DRAPlugin",
                                         "v1.DRAResourceHealth", "v1alpha1.DRAResourceHealth"));
}

TEST_F(PluginTest, RemembersWhatKubeletSaysOfItsRegistration) {
  start();
  Kubelet kubelet(paths().registration);
  EXPECT_EQ(plugin_->registration().state, Registration::State::Awaited);

  EXPECT_EQ(kubelet.notify(false, "endpoint already registered"), kOk);
  EXPECT_EQ(plugin_->registration(),
            (Registration{Registration::State::Refused, "endpoint already registered"}));
  EXPECT_EQ(kubelet.notify(true), kOk);
  EXPECT_EQ(plugin_->registration(), (Registration{Registration::State::Registered, ""}));
}

TEST_F(PluginTest, AwaitsAKubeletThatAsksAnewAsItHasStartedAgain) {
  start();
  Kubelet kubelet(paths().registration);
  EXPECT_EQ(kubelet.notify(true), kOk);
  EXPECT_EQ(Kubelet(paths().registration).get_info().code, kOk);
  EXPECT_EQ(plugin_->registration().state, Registration::State::Awaited);
  EXPECT_EQ(kubelet.notify(true), kOk);
  EXPECT_EQ(plugin_->registration().state, Registration::State::Registered);
}

TEST_F(PluginTest, ServesEachSocketsServicesOnThatSocketOnly) {
  start();
  EXPECT_EQ(Kubelet(paths().dra).get_info().code, kUnimplemented);
  EXPECT_EQ(Kubelet(paths().registration).prepare({claim_named("a")}).code, kUnimplemented);
}

// ---- Claims

class PluginInEachVersion : public PluginTest, public testing::WithParamInterface<Api> {};
INSTANTIATE_TEST_SUITE_P(Api, PluginInEachVersion, testing::Values(Api::V1, Api::V1beta1),
                         [](const auto& of) { return of.param == Api::V1 ? "V1" : "V1beta1"; });

TEST_P(PluginInEachVersion, PreparesEachClaim) {
  start();
  const Claim a = claim_named("a"), b = claim_named("b");
  const Answer answer = Kubelet(paths().dra).prepare({a, b}, {.api = GetParam()});

  EXPECT_EQ(answer.code, kOk) << answer.message;
  EXPECT_EQ(answer.claims, (ClaimAnswers{{a.uid, {.error = "", .devices = {channel_of(a)}}},
                                         {b.uid, {.error = "", .devices = {channel_of(b)}}}}));
}

TEST_P(PluginInEachVersion, UnpreparesEachClaim) {
  start();
  driver_.on_unprepare([](const Claim& claim, const std::stop_token&) -> base::Result<void> {
    if (claim == claim_named("a")) return {};
    return base::invalid("busy");
  });
  const Answer answer =
      Kubelet(paths().dra).unprepare({claim_named("a"), claim_named("b")}, {.api = GetParam()});

  EXPECT_EQ(answer.code, kOk) << answer.message;
  EXPECT_EQ(answer.claims, (ClaimAnswers{{"uid-of-a", {}}, {"uid-of-b", {.error = "busy"}}}));
}

TEST_F(PluginTest, AnswersARequestForNoClaim) {
  start();
  const Answer answer = Kubelet(paths().dra).prepare({});
  EXPECT_EQ(answer.code, kOk);
  EXPECT_THAT(answer.claims, IsEmpty());
}

TEST_F(PluginTest, TellsTheErrorOfAMalformedClaimAndPreparesTheOthers) {
  start();
  Answer answer =
      Kubelet(paths().dra).prepare({{.ns = "team-a", .name = "x", .uid = ""}, claim_named("a")});

  EXPECT_EQ(answer.code, kOk);
  EXPECT_THAT(answer.claims[""].error, HasSubstr("team-a/x"));
  EXPECT_THAT(answer.claims["uid-of-a"].devices, SizeIs(1));
}

TEST_F(PluginTest, RepeatsNoNamesThatAreLongerThanAny) {
  start();
  const std::string huge(1'000'000, 'n');
  Answer answer = Kubelet(paths().dra).prepare({{.ns = huge, .name = huge, .uid = "u-1"}});

  EXPECT_EQ(answer.code, kOk) << answer.message;
  EXPECT_THAT(answer.claims["u-1"].error, AllOf(HasSubstr("no object"), SizeIs(Lt(1000U))));
}

TEST_F(PluginTest, NeverSendsWhatIsNoUtf8) {
  driver_.on_prepare([](const Claim&, const std::stop_token&) -> FakeDriver::Prepared {
    return base::invalid("\xff in the file");
  });
  start();
  Answer answer = Kubelet(paths().dra).prepare({claim_named("a")});

  EXPECT_EQ(answer.code, kOk) << answer.message;
  EXPECT_EQ(answer.claims["uid-of-a"].error, "\uFFFD in the file");
}

// Those of gRPC's callback interface wake each second, and hear nothing for 100 ms then.
TEST_F(PluginTest, HasNoThreadThatSleepsThroughACall) {
  start();
  ASSERT_EQ(Kubelet(paths().dra).prepare({claim_named("a")}).code, kOk);
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::ifstream(thread.path() / "comm") >> name;
    EXPECT_NE(name, "nexting_thread");
  }
}

TEST_F(PluginTest, ServesRequestsSideBySide) {
  const auto all_there = std::make_shared<std::barrier<>>(8);
  driver_.on_prepare([all_there](const Claim&, const std::stop_token&) -> FakeDriver::Prepared {
    all_there->arrive_and_wait();
    return std::vector<PreparedDevice>();
  });
  start();
  Kubelet kubelet(paths().dra);
  std::vector<std::future<Answer>> answers;
  answers.reserve(8);
  for (int i = 0; i < 8; ++i) {
    answers.push_back(std::async(
        std::launch::async, [&, i] { return kubelet.prepare({claim_named(std::to_string(i))}); }));
  }
  for (auto& answer : answers) EXPECT_EQ(answer.get().code, kOk);
}

TEST_F(PluginTest, StopsACancelledPrepareAtOnce) {
  prepare_until_stopped();
  start();
  Kubelet kubelet(paths().dra);
  std::stop_source cancel;
  auto answer = std::async(std::launch::async, [&] {
    return kubelet.prepare({claim_named("a")}, {.cancel = cancel.get_token()});
  });
  entered_.get_future().wait();
  cancel.request_stop();

  EXPECT_TRUE(has_ended());
  EXPECT_EQ(answer.get().code, kCancelled);
}

TEST_F(PluginTest, StopsAPrepareAtItsDeadline) {
  prepare_until_stopped();
  start();
  const Answer answer =
      Kubelet(paths().dra).prepare({claim_named("a")}, {.timeout = std::chrono::seconds(1)});

  EXPECT_EQ(answer.code, kDeadlineExceeded);
  EXPECT_TRUE(has_ended());
}

TEST_F(PluginTest, StopsAPrepareWhoseKubeletIsGone) {
  prepare_until_stopped();
  start();
  Kubelet kubelet(paths().dra);
  auto answer = std::async(std::launch::async, [&] { return kubelet.prepare({claim_named("a")}); });
  entered_.get_future().wait();
  kubelet.lose_connection();

  EXPECT_TRUE(has_ended());
  EXPECT_EQ(answer.get().code, kUnavailable);
}

TEST_F(PluginTest, AnswersCallsInProgressBeforeItEnds) {
  prepare_until_stopped();
  start();
  Kubelet kubelet(paths().dra);
  auto answer = std::async(std::launch::async, [&] { return kubelet.prepare({claim_named("a")}); });
  entered_.get_future().wait();
  plugin_.reset();

  Answer got = answer.get();
  EXPECT_EQ(got.code, kOk) << got.message;
  EXPECT_EQ(got.claims["uid-of-a"].error, "stopped");
}

// ---- Health

std::vector<DeviceHealth> channel_is(Health health, const std::string& message = "") {
  return {{.pool = "node-1", .device = "channel-0", .health = health, .message = message}};
}
std::vector<DeviceHealth> devices_of(const std::optional<std::vector<StreamedHealth>>& message) {
  std::vector<DeviceHealth> devices;
  if (message) {
    for (const StreamedHealth& one : *message) devices.push_back(one.device);
  }
  return devices;
}

TEST_F(PluginTest, StreamsTheHealthOfItsDevicesAndEachChangeOfIt) {
  start();
  Kubelet kubelet(paths().dra);
  const auto early = kubelet.watch_health();
  plugin_->set_health(channel_is(Health::Healthy));
  EXPECT_EQ(devices_of(early->next()), channel_is(Health::Healthy));

  plugin_->set_health(channel_is(Health::Healthy));
  plugin_->set_health(channel_is(Health::Unhealthy, "IMEX is not READY"));
  EXPECT_EQ(devices_of(early->next()), channel_is(Health::Unhealthy, "IMEX is not READY"));

  const auto late = kubelet.watch_health();
  const auto message = late->next();
  EXPECT_EQ(devices_of(message), channel_is(Health::Unhealthy, "IMEX is not READY"));
  EXPECT_EQ(message->front().good_for_seconds, 30);
}

TEST_F(PluginTest, StreamsTheSameHealthToOldAndNewKubelets) {
  start();
  plugin_->set_health({{.pool = "n", .device = "a", .health = Health::Healthy, .message = ""},
                       {.pool = "n", .device = "b", .health = Health::Unhealthy, .message = "cut"},
                       {.pool = "n", .device = "c", .health = Health::Unknown, .message = ""}});
  Kubelet kubelet(paths().dra);
  const auto of_1_37 = devices_of(kubelet.watch_health(HealthApi::V1)->next());
  const auto of_older = devices_of(kubelet.watch_health(HealthApi::V1alpha1)->next());
  ASSERT_EQ(of_1_37.size(), 3);
  EXPECT_EQ(of_1_37[0].health, Health::Healthy);
  EXPECT_EQ(of_1_37[1].health, Health::Unhealthy);
  EXPECT_EQ(of_1_37[1].message, "cut");
  EXPECT_EQ(of_1_37[2].health, Health::Unknown);
  EXPECT_EQ(of_older, of_1_37);
}

TEST_F(PluginTest, RepeatsTheHealthBeforeItIsForgotten) {
  PluginOptions often = options();
  often.repeat_health_every = std::chrono::milliseconds(20);
  plugin_ = start(often);
  plugin_->set_health(channel_is(Health::Unknown, std::string(2000, 'x')));
  Kubelet kubelet(paths().dra);
  const auto stream = kubelet.watch_health();
  for (int i = 0; i < 3; ++i) {
    const auto message = stream->next();
    EXPECT_EQ(devices_of(message), channel_is(Health::Unknown, std::string(1024, 'x')));
    EXPECT_GT(message->front().updated, 1'700'000'000);
  }
}

TEST_F(PluginTest, GoesOnWhenAWatcherIsGone) {
  start();
  {
    Kubelet gone(paths().dra);
    const auto stream = gone.watch_health();
    plugin_->set_health(channel_is(Health::Healthy));
    EXPECT_TRUE(stream->next());
    gone.lose_connection();
    EXPECT_FALSE(stream->next());
  }
  Kubelet kubelet(paths().dra);
  const auto stream = kubelet.watch_health();
  plugin_->set_health(channel_is(Health::Unhealthy));
  EXPECT_TRUE(until([&] { return devices_of(stream->next()) == channel_is(Health::Unhealthy); }));
}

TEST_F(PluginTest, EndsTheStreamsWithItself) {
  start();
  plugin_->set_health(channel_is(Health::Healthy));
  Kubelet kubelet(paths().dra);
  const auto stream = kubelet.watch_health();
  EXPECT_TRUE(stream->next());
  plugin_.reset();
  EXPECT_FALSE(stream->next());
  EXPECT_EQ(stream->code(), kUnavailable);
}

// ---- Life

TEST_F(PluginTest, RemovesItsSocketsAtTheEnd) {
  start();
  EXPECT_TRUE(std::filesystem::is_socket(paths().registration));
  EXPECT_TRUE(std::filesystem::is_socket(paths().dra));
  plugin_.reset();
  EXPECT_FALSE(std::filesystem::exists(paths().registration));
  EXPECT_FALSE(std::filesystem::exists(paths().dra));
}

TEST_F(PluginTest, PutsBackASocketThatVanishes) {
  start();
  Kubelet before(paths().dra);
  EXPECT_EQ(before.prepare({claim_named("a")}).code, kOk);
  for (const std::string& path : {paths().registration, paths().dra}) {
    unlink(path.c_str());
    EXPECT_TRUE(until([&] { return std::filesystem::is_socket(path); })) << path;
  }

  EXPECT_EQ(Kubelet(paths().registration).get_info().code, kOk);
  EXPECT_EQ(Kubelet(paths().dra).prepare({claim_named("b")}).code, kOk);
  EXPECT_EQ(before.prepare({claim_named("c")}).code, kOk);
  EXPECT_TRUE(plugin_->is_listening());
}

TEST_F(PluginTest, IsNotServingWhileItsFolderIsGone) {
  start();
  Kubelet kubelet(paths().dra);
  EXPECT_TRUE(kubelet.is_serving());
  EXPECT_TRUE(kubelet.is_serving("liveness"));
  EXPECT_FALSE(kubelet.is_serving("what-is-this"));

  std::filesystem::rename(dir_.at("plugins_registry"), dir_.at("gone"));
  EXPECT_TRUE(until([&] { return !kubelet.is_serving("liveness"); }));
  EXPECT_FALSE(plugin_->is_listening());
  std::filesystem::create_directories(dir_.at("plugins_registry"));
  EXPECT_TRUE(until([&] { return kubelet.is_serving("liveness"); }));
  EXPECT_EQ(Kubelet(paths().registration).get_info().code, kOk);
}

TEST_F(PluginTest, AnswersHealthChecksWhereItIsToldTo) {
  PluginOptions with = options();
  with.health_listen = "unix:" + dir_.at("health.sock");
  plugin_ = start(with);
  EXPECT_TRUE(is_serving_at(with.health_listen));
  EXPECT_TRUE(is_serving_at(with.health_listen, "liveness"));
  std::filesystem::rename(dir_.at("plugins_registry"), dir_.at("gone"));
  EXPECT_TRUE(until([&] { return !is_serving_at(with.health_listen, "liveness"); }));
  plugin_.reset();
  EXPECT_FALSE(is_serving_at(with.health_listen));

  std::filesystem::rename(dir_.at("gone"), dir_.at("plugins_registry"));
  with.health_listen = "unix:" + dir_.at("nowhere/health.sock");
  const auto refused = Plugin::start(with, driver_, clock_);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("cannot answer health checks at unix:"));
}

TEST_F(PluginTest, RunsBesideAnotherOfTheSameDriver) {
  const auto old = start(options("11111111-pod"));
  auto next = start(options("22222222-pod"));
  EXPECT_EQ(Kubelet(paths("11111111-pod").registration).get_info().endpoint,
            paths("11111111-pod").dra);
  EXPECT_EQ(Kubelet(paths("22222222-pod").registration).get_info().endpoint,
            paths("22222222-pod").dra);

  next.reset();
  EXPECT_EQ(Kubelet(paths("11111111-pod").registration).get_info().code, kOk);
  EXPECT_FALSE(std::filesystem::exists(paths("22222222-pod").registration));
}

// A socket file whose process has ended.
void leave_socket(const std::string& path) {
  const base::Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  ASSERT_EQ(bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
}

TEST_F(PluginTest, RemovesTheSocketsOfPluginsThatWereKilled) {
  const auto alive = start(options("11111111-pod"));
  for (const std::string& path :
       {paths("killed").registration, paths("killed").dra, paths().registration}) {
    leave_socket(path);
  }
  leave_socket(dir_.at("plugins_registry/other.example.com-reg.sock"));
  dir_.write("plugins_registry/compute-domain.nvidia.com-file-reg.sock", "no socket");
  PluginOptions often = options("22222222-pod");
  often.repeat_health_every = std::chrono::milliseconds(20);
  plugin_ = start(often);

  EXPECT_FALSE(std::filesystem::exists(paths("killed").registration));
  EXPECT_FALSE(std::filesystem::exists(paths("killed").dra));
  EXPECT_FALSE(std::filesystem::exists(paths().registration));
  EXPECT_EQ(Kubelet(paths("11111111-pod").registration).get_info().code, kOk);
  EXPECT_TRUE(std::filesystem::exists(dir_.at("plugins_registry/other.example.com-reg.sock")));
  EXPECT_TRUE(
      std::filesystem::exists(dir_.at("plugins_registry/compute-domain.nvidia.com-file-reg.sock")));

  leave_socket(paths("later").registration);
  EXPECT_TRUE(until([&] { return !std::filesystem::exists(paths("later").registration); }));
}

TEST_F(PluginTest, LeavesItsNameToTheOneThatTookIt) {
  auto old = start(options());
  start();
  EXPECT_TRUE(until([&] { return !old->is_listening(); }));
  old.reset();
  EXPECT_EQ(Kubelet(paths().registration).get_info().code, kOk);
  EXPECT_TRUE(plugin_->is_listening());
}

TEST_F(PluginTest, TakesItsNameBackWhenTheOtherIsGone) {
  auto other = start(options());
  start();
  other.swap(plugin_);
  EXPECT_TRUE(until([&] { return !plugin_->is_listening(); }));
  other.reset();
  EXPECT_TRUE(until([&] { return plugin_->is_listening(); }));
  EXPECT_EQ(Kubelet(paths().registration).get_info().code, kOk);
}

// As an agent does that ends: nothing lies there before the first socket.
TEST_F(PluginTest, MakesItsFolderAgainWhenAPredecessorTakesItAlong) {
  const std::filesystem::path folder = std::filesystem::path(paths().dra).parent_path();
  bool is_taken = false;
  for (int i = 0; i < 100 && !is_taken; ++i) {
    plugin_.reset();
    std::filesystem::remove(folder);
    const base::Descriptor changes(inotify_init1(IN_CLOEXEC));
    ASSERT_GE(inotify_add_watch(changes.get(), folder.parent_path().c_str(), IN_CREATE), 0);
    const std::jthread predecessor([&] {
      pollfd made{.fd = changes.get(), .events = POLLIN, .revents = 0};
      is_taken = poll(&made, 1, 10'000) == 1 && rmdir(folder.c_str()) == 0;
    });
    start();
  }
  ASSERT_TRUE(is_taken) << "the first socket was there before it each time";
  EXPECT_TRUE(std::filesystem::is_socket(paths().dra));
  EXPECT_EQ(Kubelet(paths().registration).get_info().code, kOk);
}

TEST_F(PluginTest, TellsAKubeletFolderThatIsMissing) {
  PluginOptions elsewhere = options();
  elsewhere.plugins_dir = dir_.at("elsewhere/plugins");
  const auto plugin = Plugin::start(elsewhere, driver_, clock_);

  ASSERT_FALSE(plugin);
  EXPECT_THAT(
      plugin.error().message,
      AllOf(HasSubstr("elsewhere/plugins/compute-domain.nvidia.com"), HasSubstr("mounted here?")));
}

}  // namespace

}  // namespace cdom::dra
