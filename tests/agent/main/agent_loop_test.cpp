#include "agent/main/agent_loop.h"

#include <sys/eventfd.h>

#include <future>
#include <semaphore>

#include "agent/rig.h"

namespace cdom::program {
namespace {

using testing::HasSubstr;

constexpr std::chrono::seconds kPatience{20};

// A fabric that counts who looks, and breaks or hangs when it is told to.
class CountingFabric : public agent::Fabric {
 public:
  core::FabricReading read() override {
    ++reads;
    hangs.wait(true);
    if (breaks) throw std::logic_error("no such fabric");
    return {agent::kClique, {}};
  }
  std::atomic<int> reads = 0;
  std::atomic<bool> breaks = false, hangs = false;
};

// An API server that takes requests and does not answer while it is silent.
class SilentServer : public http::Client {
 public:
  explicit SilentServer(http::Client& inner) : inner_(inner) {}
  void be_silent() { is_silent_ = true; }
  void speak() {
    is_silent_ = false;
    is_silent_.notify_all();
  }
  [[nodiscard]] int waiting() const { return waiting_; }

  base::Result<http::Response> send(const http::Request& request) override {
    ++waiting_;
    is_silent_.wait(true);
    --waiting_;
    return inner_.send(request);
  }
  base::Result<http::Opened> open(const http::Request& request) override {
    return inner_.open(request);
  }
  void shut_down() override {}

 private:
  http::Client& inner_;
  std::atomic<bool> is_silent_ = false;
  std::atomic<int> waiting_ = 0;
};

class AgentLoopTest : public testing::Test {
 protected:
  explicit AgentLoopTest(agent::MailboxLimits limits = {}) : limits_(limits) {}

  void start() {
    loop_.emplace(
        AgentLoop::Parts{.node = node_,
                         .server = server_side_,
                         .mailbox = mailbox_,
                         .descriptor = [this] { return news_.get(); },
                         .wakeup = wakeup_,
                         .server_wakeup = server_wakeup_,
                         .clock = clock_,
                         .pulses = pulses_,
                         .after_round = [this] { rounds_.release(); },
                         .broken = [this](const std::string& what) { broken_.set_value(what); }});
  }
  // What the agent says of a claim that does not exist, or that it does not know.
  std::string answer_to(agent::Operation operation, const std::string& uid) {
    const auto answer = std::make_shared<std::promise<std::string>>();
    mailbox_.post({operation,
                   {"team-a", "absent", uid},
                   [answer](const agent::CallAnswer& given) { answer->set_value(given.error); },
                   {}});
    return answer->get_future().get();
  }
  // The loop has nothing to do, and all that it has done was counted.
  void come_to_rest() {
    while (rounds_.try_acquire_for(std::chrono::milliseconds(200))) {
    }
  }

  const agent::MailboxLimits limits_;
  agent::Rig rig_;
  base::SystemClock clock_;
  CountingFabric fabric_;
  SilentServer server_{rig_.wire};
  kube::Client client_{server_, clock_, "compute-domain-agent"};
  Wakeup wakeup_, server_wakeup_;
  agent::Mailbox mailbox_{clock_, [this] { wakeup_.wake(); }, limits_};
  agent::ServerMail mail_{
      .orders = agent::Queue<agent::ServerOrder>([this] { server_wakeup_.wake(); }),
      .results = agent::Queue<agent::ServerResult>([this] { wakeup_.wake(); })};
  const agent::NodeAgentOptions options_{.self = {agent::kNode, "boot-1", "10.0.0.1"},
                                         .times = {},
                                         .operator_namespace = agent::kNamespace,
                                         .seed = 1};
  agent::NodeAgent node_{{fabric_, rig_.imex, rig_.checkpoints, rig_.channels, rig_.kubelet},
                         mailbox_,
                         mail_,
                         clock_,
                         options_};
  agent::ServerAgent server_side_{client_, mail_, clock_, options_};
  base::Pulses pulses_{clock_, std::chrono::minutes(10)};
  const base::Descriptor news_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::counting_semaphore<> rounds_{0};
  std::promise<std::string> broken_;
  std::optional<AgentLoop> loop_;
};

TEST_F(AgentLoopTest, AnswersACallThatComesWhileItSleeps) {
  start();
  come_to_rest();
  EXPECT_THAT(answer_to(agent::Operation::Prepare, "u"), HasSubstr("does not exist"));
}

TEST_F(AgentLoopTest, AsksTheApiServerAsSoonAsACallNeedsIt) {
  start();
  come_to_rest();
  const base::Duration before = clock_.elapsed();
  for (const char* uid : {"a", "b", "c", "d", "e"}) {
    EXPECT_NE(answer_to(agent::Operation::Prepare, uid), "");
  }
  // Each would wait for the end of a sleep of a second.
  EXPECT_LT(clock_.elapsed() - before, std::chrono::seconds(3));
}

TEST_F(AgentLoopTest, AnswersKubeletWhileTheApiServerIsSilent) {
  start();
  come_to_rest();
  server_.be_silent();
  auto asks =
      std::async(std::launch::async, [this] { return answer_to(agent::Operation::Prepare, "u"); });
  while (server_.waiting() == 0) std::this_thread::yield();
  EXPECT_EQ(answer_to(agent::Operation::Unprepare, "v"), "");
  EXPECT_EQ(server_.waiting(), 1);

  server_.speak();
  EXPECT_THAT(asks.get(), HasSubstr("does not exist"));
}

class HastyAgentLoopTest : public AgentLoopTest {
 protected:
  HastyAgentLoopTest() : AgentLoopTest({.patience = std::chrono::milliseconds(500)}) {}
};

TEST_F(HastyAgentLoopTest, GivesKubeletAnErrorInTimeWhileThisNodeHangs) {
  start();
  come_to_rest();
  fabric_.hangs = true;
  EXPECT_THAT(answer_to(agent::Operation::Unprepare, "u"),
              HasSubstr("is not unprepared after 500ms: the agent is busy"));
  fabric_.hangs = false;
  fabric_.hangs.notify_all();
}

TEST_F(AgentLoopTest, LooksAtOnceWhenAPortHasNews) {
  start();
  come_to_rest();
  const int before = fabric_.reads;
  eventfd_write(news_.get(), 1);
  ASSERT_TRUE(rounds_.try_acquire_for(kPatience));
  EXPECT_GT(fabric_.reads, before);
  eventfd_t count = 0;
  eventfd_read(news_.get(), &count);
}

TEST_F(AgentLoopTest, TellsWhatItsAgentHasThrownAndEnds) {
  fabric_.breaks = true;
  start();
  auto what = broken_.get_future();
  ASSERT_EQ(what.wait_for(kPatience), std::future_status::ready);
  EXPECT_EQ(what.get(), "no such fabric");
}

}  // namespace
}  // namespace cdom::program
