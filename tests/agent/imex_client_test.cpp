// The agent's port to the real supervisor, with stand-in daemons.
#include "compute_domain/agent/imex_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <thread>

#include "compute_domain/api/node_list.h"
#include "compute_domain/base/life_mark.h"
#include "imex/rig.h"

namespace cdom::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

// A supervisor in a thread of its own, as the agent knows none of its steps.
class RunningSupervisor {
 public:
  explicit RunningSupervisor(imex::Node& node) {
    if (const auto opened = node.open(); !opened) throw std::logic_error(opened.error().message);
    thread_ = std::jthread([&node](const std::stop_token& stop) { node.supervisor->run(stop); });
  }

 private:
  std::jthread thread_;
};

core::StartDaemon daemon_of(const imex::Node& node, const std::string& group = "group") {
  return {.group = group,
          .slot = 0,
          .table_text = "slot-0\nslot-1\n",
          .table_hash = "hash",
          .address = node.address};
}

core::WriteHosts hosts_of(const imex::Node& node) {
  return {node.address + "\tslot-0\n127.0.0.2\tslot-1\n", "revision"};
}

class PatientClient : public ImexClient {
 public:
  explicit PatientClient(const imex::Node& node, const std::string& cdi_root = "")
      : ImexClient(node.options.socket_path, "agent", node.clock, {.cdi_root = cdi_root},
                   imex::kPatience) {}
};

// Waits for news and reads them, until it holds.
template <class Condition>
bool until(ImexClient& client, const Condition& holds) {
  const base::SystemClock clock;
  const base::Duration end = clock.elapsed() + imex::kPatience;
  while (clock.elapsed() < end) {
    const auto status = client.status();
    if (status && holds(*status)) return true;
    pollfd news{.fd = client.descriptor(), .events = POLLIN, .revents = 0};
    poll(&news, 1, 50);
  }
  return false;
}
bool until_phase(ImexClient& client, base::DaemonPhase phase) {
  return until(client, [&](const base::DaemonStatus& status) { return status.phase == phase; });
}

// The pod of compute-domain-imex is killed and does not come back for now.
TEST(ImexClient, KnowsThatASupervisorHasEndedAndWithdrawsWhatItsSuccessorWouldStart) {
  imex::Node node(0);
  PatientClient client(node);
  {
    const RunningSupervisor supervisor(node);
    ASSERT_TRUE(client.write_hosts(hosts_of(node)));
    ASSERT_TRUE(client.start(daemon_of(node)));
    ASSERT_TRUE(until_phase(client, base::DaemonPhase::Ready));
    EXPECT_FALSE(base::LifeMark::is_free(imex::life_mark_of(node.options.socket_path)));
  }
  node.close();
  const auto status = client.status();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, base::ErrorKind::NotFound) << status.error().message;

  ASSERT_TRUE(client.stop());
  const RunningSupervisor successor(node);
  ASSERT_TRUE(until(client, [](const base::DaemonStatus&) { return true; }));
  EXPECT_FALSE(client.status()->running);
  EXPECT_TRUE(imex::daemon_pids().empty());
  EXPECT_FALSE(std::filesystem::exists(imex::withdrawal_of(node.options.socket_path)));
}

// A daemon may outlive its supervisor for a moment, or, inside a driver's call, for long.
TEST(ImexClient, DoesNotTakeADaemonForEndedThatHoldsTheMark) {
  imex::Node node(0);
  PatientClient client(node);
  const auto daemon = base::LifeMark::hold(imex::life_mark_of(node.options.socket_path));
  ASSERT_TRUE(daemon);
  EXPECT_EQ(client.status().error().kind, base::ErrorKind::Unavailable);
  EXPECT_THAT(client.status().error().message,
              HasSubstr("it has ended, and its nvidia-imex has not"));
  EXPECT_FALSE(client.stop());
  EXPECT_FALSE(std::filesystem::exists(imex::withdrawal_of(node.options.socket_path)));
}

TEST(ImexClient, DrivesTheDaemonThroughItsLife) {
  imex::Node node(0);
  const RunningSupervisor supervisor(node);
  PatientClient client(node);

  auto status = client.status();
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_FALSE(status->running);
  EXPECT_EQ(status->phase, base::DaemonPhase::Stopped);
  EXPECT_EQ(status->hosts_revision, "");

  ASSERT_TRUE(client.write_hosts(hosts_of(node)));
  EXPECT_EQ(client.status()->hosts_revision, "revision") << "told before the answer";
  ASSERT_TRUE(client.forget_importers("group"));
  ASSERT_TRUE(client.start(daemon_of(node)));
  status = client.status();
  EXPECT_TRUE(status->running);
  EXPECT_EQ(status->group, "group");
  EXPECT_EQ(status->table_hash, "hash");
  EXPECT_EQ(status->slot, 0);
  EXPECT_FALSE(status->instance.empty());
  ASSERT_TRUE(until_phase(client, base::DaemonPhase::Ready));
  EXPECT_TRUE(client.status()->answers);
  EXPECT_TRUE(client.status()->peers.empty());

  EXPECT_TRUE(client.start(daemon_of(node))) << "as it is, so the agent may repeat itself";
  EXPECT_EQ(client.start(daemon_of(node, "other")).error().kind, base::ErrorKind::Conflict);
  EXPECT_EQ(client.forget_importers("group").error().kind, base::ErrorKind::Conflict);

  const base::Duration before = node.clock.elapsed();
  ASSERT_TRUE(client.signal());
  ASSERT_TRUE(until(client, [](const base::DaemonStatus& s) { return s.signalled.has_value(); }));
  EXPECT_GE(*client.status()->signalled, before);
  EXPECT_LE(*client.status()->signalled, node.clock.elapsed());

  ASSERT_TRUE(client.stop());
  ASSERT_TRUE(until(client, [](const base::DaemonStatus& s) { return !s.running; }));
  EXPECT_EQ(client.status()->phase, base::DaemonPhase::Stopped);
  EXPECT_TRUE(client.stop());
}

TEST(ImexClient, HasTheSupervisorLetGoOfTheDriver) {
  imex::Node node(0);
  const RunningSupervisor supervisor(node);
  PatientClient client(node);
  const auto is_paused = [&] { return client.status()->driver_paused; };
  ASSERT_TRUE(client.status());
  EXPECT_EQ(is_paused(), false);
  EXPECT_TRUE(client.pause_driver(true));
  EXPECT_EQ(is_paused(), true);
  EXPECT_TRUE(client.pause_driver(false));
  EXPECT_EQ(is_paused(), false);
}

TEST(ImexClient, TellsWhatTheDaemonIsConnectedTo) {
  imex::Node first(0), second(1);
  const RunningSupervisor one(first), two(second);
  PatientClient client(first);
  PatientClient other(second);
  const core::WriteHosts hosts{first.address + " slot-0\n" + second.address + " slot-1\n", "r"};
  core::StartDaemon config = daemon_of(second);
  config.slot = 1;
  ASSERT_TRUE(client.write_hosts(hosts) && other.write_hosts(hosts));
  ASSERT_TRUE(client.start(daemon_of(first)) && other.start(config));
  ASSERT_TRUE(until(client, [](const base::DaemonStatus& s) { return is_connected(s, 1); }));
  EXPECT_THAT(client.status()->peers, ElementsAre(Pair(1, 'C')));
}

TEST(ImexClient, AnAgentThatIsStartedAnewFindsTheSameDaemon) {
  imex::Node node(0);
  const RunningSupervisor supervisor(node);
  std::string instance;
  {
    PatientClient client(node);
    ASSERT_TRUE(client.write_hosts(hosts_of(node)) && client.start(daemon_of(node)));
    ASSERT_TRUE(until_phase(client, base::DaemonPhase::Ready));
    instance = client.status()->instance;
  }
  PatientClient client(node);
  const auto status = client.status();
  ASSERT_TRUE(status);
  EXPECT_TRUE(status->running && status->answers);
  EXPECT_EQ(status->instance, instance);
}

TEST(ImexClient, NamesTheFolderOfItsCdiFilesAndHearsWhatTheNodeLacks) {
  imex::Node node(0);
  // As compute-domain-imex prints what it finds; its argument is its first parameter.
  node.options.check_command = {"/bin/sh", "-c",
                                "echo lack reason=CdiNotRead message=$0; echo looked"};
  const RunningSupervisor supervisor(node);
  PatientClient client(node, "/etc/cdi");
  ASSERT_TRUE(
      until(client, [](const base::DaemonStatus& status) { return status.lacks.has_value(); }));
  EXPECT_EQ(client.status()->lacks->front(), (base::NodeLack{"CdiNotRead", "--cdi-root=/etc/cdi"}));
}

TEST(ImexClient, AStartThatCannotBeSaysWhy) {
  imex::Node node(0);
  std::filesystem::remove(node.dir.at("root/usr/bin/nvidia-imex"));
  const RunningSupervisor supervisor(node);
  PatientClient client(node);
  const auto started = client.start(daemon_of(node));
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().kind, base::ErrorKind::Invalid);
  EXPECT_THAT(started.error().message, HasSubstr("no nvidia-imex below"));
  EXPECT_FALSE(client.status()->running);
}

TEST(ImexClient, SaysWhenTheSupervisorIsGoneAndFindsItsSuccessor) {
  imex::Node node(0);
  PatientClient client(node);
  EXPECT_EQ(client.status().error().kind, base::ErrorKind::NotFound) << "none has ever run";
  EXPECT_THAT(client.status().error().message, HasSubstr("its pod has to run on this node"));
  {
    const RunningSupervisor supervisor(node);
    EXPECT_TRUE(client.status());
  }
  node.close();
  EXPECT_EQ(client.status().error().kind, base::ErrorKind::NotFound) << "it took its mark along";
  EXPECT_TRUE(client.stop());
  const RunningSupervisor successor(node);
  EXPECT_TRUE(client.status());
}

// A supervisor of another version: says what a test wants, and answers nothing.
class ScriptedSupervisor {
 public:
  explicit ScriptedSupervisor(const std::string& path)
      : listener_(socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    if (bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        listen(listener_.get(), 4) != 0) {
      throw std::logic_error("cannot listen on " + path);
    }
  }
  // Before it is connected to: what it says to the next who comes.
  void say(const std::string& text) {
    thread_ = std::jthread([this, text] {
      socket_ = base::Descriptor(accept(listener_.get(), nullptr, nullptr));
      (void)!::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL);
    });
  }
  // All that a client has said until it went.
  std::string heard() {
    thread_.join();
    std::string text;
    char block[4096];
    for (ssize_t got = 1; got > 0;) {
      got = recv(socket_.get(), block, sizeof block, 0);
      if (got > 0) text.append(block, static_cast<std::size_t>(got));
    }
    return text;
  }

 private:
  base::Descriptor listener_, socket_;
  std::jthread thread_;
};

TEST(ImexClient, UnderstandsASupervisorOfALaterVersion) {
  const base::Directory dir;
  const base::SystemClock clock;
  ScriptedSupervisor supervisor(dir.at("sock"));
  ImexClient client(dir.at("sock"), "agent", clock);
  supervisor.say(
      "hello version=1 program=later colour=blue\nweather sunny=1\n"
      "state phase=ready running=1 answers=1 group=g slot=0 instance=i peers=1:C,2:N,3:Z heat=7\n");
  const auto status = client.status();
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(status->phase, base::DaemonPhase::Ready);
  EXPECT_THAT(status->peers, ElementsAre(Pair(1, 'C'))) << "no change of another wakes the agent";
}

// Its words may mean something else than this agent takes them for.
TEST(ImexClient, RefusesASupervisorOfALaterProtocol) {
  const base::Directory dir;
  const base::SystemClock clock;
  const std::string path = dir.at("sock");
  ScriptedSupervisor supervisor(path);
  ImexClient client(path, "agent", clock);
  supervisor.say(
      "hello version=9 program=compute-domain-imex/0.9.0\nstate phase=ready running=1\n");
  const auto status = client.status();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, base::ErrorKind::Unavailable);
  EXPECT_EQ(status.error().message,
            "compute-domain-imex/0.9.0 on " + path +
                " speaks protocol 9, and this agent speaks 1: bring the agent to that version, or "
                "delete the compute-domain-imex pod of this node, which comes back in the version "
                "that is installed; that ends what uses NVLink here");
  EXPECT_EQ(supervisor.heard(), "") << "it would begin to look at what the node lacks";

  supervisor.say("hello program=of-before\nstate phase=ready running=1\n");
  EXPECT_TRUE(client.status()) << "an earlier one is served";
}

TEST(ImexClient, SaysWhyItIsRefused) {
  const base::Directory dir;
  const base::SystemClock clock;
  ScriptedSupervisor supervisor(dir.at("sock"));
  ImexClient client(dir.at("sock"), "agent", clock);
  supervisor.say("error id=0 kind=Forbidden message=no%20guests\n");
  const auto status = client.status();
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("no guests"));
}

TEST(ImexClient, ASilentSupervisorIsUnavailable) {
  const base::Directory dir;
  base::ManualClock clock;
  ScriptedSupervisor supervisor(dir.at("sock"));
  ImexClient client(dir.at("sock"), "agent", clock);
  supervisor.say("state phase=ready running=1\n");
  ASSERT_TRUE(client.status());
  clock.advance(std::chrono::seconds(3));
  EXPECT_TRUE(client.status()) << "it is asked";
  clock.advance(std::chrono::seconds(3));
  EXPECT_EQ(client.status().error().kind, base::ErrorKind::Unavailable);
}

// Also a long one: a node has many claims.
TEST(ImexClient, ReadsKubeletsRecordThroughTheSupervisor) {
  imex::Node node(0);
  PatientClient client(node);
  node.options.kubelet_state_path = node.dir.at("dra_manager_state");
  const RunningSupervisor supervisor(node);
  EXPECT_THAT(client.kubelet_state().error().message, HasSubstr("dra_manager_state"));
  const std::string text(300'000, '%');
  node.dir.write("dra_manager_state", text);
  const std::uint64_t news = client.news();
  const auto read = client.kubelet_state();
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, text);
  EXPECT_EQ(client.news(), news) << "what was asked for is no news";
}

}  // namespace
}  // namespace cdom::agent
