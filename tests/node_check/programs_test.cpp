// `check` and `fabric` of both programs of a node, as they are run.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/descriptor.h"
#include "compute_domain/base/text.h"
#include "imex/agent_server.h"
#include "imex/process/child.h"
#include "node_check/node_on_disk.h"

namespace cdom::node_check {
namespace {

namespace fs = std::filesystem;
using base::cat;
using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

constexpr char kImex[] = "compute-domain-imex", kAgent[] = "compute-domain-agent";

struct Outcome {
  std::string ending, output;
};
base::Result<imex::Child> start(const std::string& program, const std::vector<std::string>& flags) {
  imex::Command command{.arguments = {cat(CDOM_PROGRAMS, "/", program)},
                        .environment = {"PATH=/usr/bin:/bin"}};
  command.arguments.insert(command.arguments.end(), flags.begin(), flags.end());
  command.captures_output = true;
  return imex::Child::start(command);
}
// Waits for its end.
Outcome outcome_of(imex::Child& child) {
  pollfd exit{.fd = child.exit_descriptor(), .events = POLLIN, .revents = 0};
  poll(&exit, 1, 30'000);
  Outcome outcome;
  char block[4096];
  for (ssize_t got = 0; (got = read(child.output_descriptor(), block, sizeof block)) > 0;) {
    outcome.output.append(block, static_cast<std::size_t>(got));
  }
  const auto ending = child.reap();
  outcome.ending = ending ? to_string(*ending) : "still runs";
  return outcome;
}
Outcome run(const std::string& program, const std::vector<std::string>& flags) {
  auto child = start(program, flags);
  if (!child) return {child.error().message, ""};
  return outcome_of(*child);
}

Outcome check(const std::string& program, const NodeOnDisk& node,
              const std::vector<std::string>& more = {}) {
  std::vector<std::string> flags{"check"};
  const std::vector<std::string> root =
      program == kImex ? std::vector<std::string>{"--driver-root", node.places.driver.root}
                       : std::vector<std::string>{"--fabric-file", node.dir.at("fabric.yaml")};
  for (const auto& some : {root, node.flags(), more})
    flags.insert(flags.end(), some.begin(), some.end());
  return run(program, flags);
}

// NVML's stand-in as the node's library, what it says, and of how many GPUs: the kernel module has
// no more of them.
void put_nvml(const NodeOnDisk& node, const std::string& says, std::size_t gpus) {
  const std::string library = node.dir.at("host/usr/lib64/libnvidia-ml.so.580.142");
  fs::copy_file(cat(CDOM_NVML_STAND_IN, "/libnvidia-ml.so.1"), library,
                fs::copy_options::overwrite_existing);
  node.dir.write("host/usr/lib64/libnvidia-ml.so.580.142.json", says);
  for (std::size_t i = gpus; i < 4; ++i) {
    node.remove(cat("/proc/driver/nvidia/gpus/0000:0", i, ":00.0"));
  }
}
constexpr char kOneGpu[] = R"({"driver": "580.65.06", "gpus": [
  {"uuid": "GPU-0", "state": 3, "cluster": "6f0a3c521c7e4b1f9d530c2f6c2b7a10", "clique": 7}]})";
constexpr char kTwoGpus[] = R"({"driver": "580.65.06", "gpus": [
  {"uuid": "GPU-0", "state": 3, "cluster": "6f0a3c521c7e4b1f9d530c2f6c2b7a10", "clique": 7},
  {"uuid": "GPU-1", "state": 2, "cluster": "6f0a3c521c7e4b1f9d530c2f6c2b7a10", "clique": 7}]})";

// False after twenty seconds.
template <class Condition>
bool until(const Condition& holds) {
  const base::SystemClock clock;
  const base::Duration end = clock.elapsed() + std::chrono::seconds(20);
  while (!holds()) {
    if (clock.elapsed() > end) return false;
    poll(nullptr, 0, 1);
  }
  return true;
}

// A node whose NVML hangs as long as this lives.
class HangingNvml {
 public:
  explicit HangingNvml(const NodeOnDisk& node) : pipe_(node.dir.at("pipe")) {
    EXPECT_EQ(mkfifo(pipe_.c_str(), 0600), 0);
    put_nvml(node,
             cat(R"({"hangs": "nvmlDeviceGetCount_v2", "until": ")", pipe_, "\", ", kTwoGpus + 1),
             2);
  }
  // Whether somebody calls it.
  bool is_called() {
    return until([&] {
      end_ = base::Descriptor(open(pipe_.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
      return bool(end_);
    });
  }

 private:
  const std::string pipe_;
  base::Descriptor end_;
};

// Whether a signal ends it in good order from now on.
bool awaits_signals(const imex::Child& child) {
  std::ifstream status(cat("/proc/", child.pid(), "/status"));
  for (std::string name, value; status >> name && std::getline(status, value);) {
    if (name == "SigBlk:") return (std::stoull(value, nullptr, 16) >> (SIGTERM - 1) & 1) != 0;
  }
  return false;
}

// What it does on a signal, and not by itself later: NVML is given up after ten seconds.
Outcome outcome_of_signal(imex::Child& child, int signal) {
  const base::SystemClock clock;
  const base::Duration before = clock.elapsed();
  child.signal(signal);
  Outcome outcome = outcome_of(child);
  EXPECT_LT(clock.elapsed() - before, std::chrono::seconds(5));
  return outcome;
}

// By check and name.
std::map<std::string, nlohmann::json> rows_of(const std::string& output) {
  std::map<std::string, nlohmann::json> rows;
  const auto report = nlohmann::json::parse(output);
  for (const auto& row : report["findings"]) {
    const std::string check = row["check"], name = row["name"];
    rows[cat(check, name.empty() ? "" : " ", name)] = row;
  }
  return rows;
}

TEST(NodeCheckProgram, PrintsATableAndEndsWellOnAGoodNode) {
  const NodeOnDisk node;
  put_nvml(node, kOneGpu, 1);
  const Outcome done = check(kImex, node, {"--server-port", "1", "--command-port", "2"});
  EXPECT_EQ(done.ending, "exited with code 0") << done.output;
  EXPECT_THAT(done.output, testing::StartsWith("REQUIREMENT "));
  EXPECT_THAT(done.output,
              AllOf(HasSubstr("driver 570.158.01 or later"), HasSubstr("fabric of GPU 0 (GPU-0)"),
                    HasSubstr("\nn01: "), Not(HasSubstr("FAILS")), Not(HasSubstr("UNKNOWN"))));
}

TEST(NodeCheckProgram, EndsWithCodeThreeWhereSomethingFails) {
  const NodeOnDisk node;
  put_nvml(node, kTwoGpus, 2);
  node.run(812, {"/usr/bin/nvidia-imex", "-c", "/etc/nvidia-imex/config.cfg"});
  for (const char* program : {kImex, kAgent}) {
    const Outcome done = check(program, node);
    EXPECT_EQ(done.ending, "exited with code 3") << program << done.output;
    EXPECT_THAT(done.output, HasSubstr("systemctl disable --now nvidia-imex.service")) << program;
  }
}

// As the supervisor reads them, which runs this beside a daemon.
TEST(NodeCheckProgram, PrintsWhatIsLackingAsLines) {
  NodeOnDisk node;
  const auto lines = [&] { return check(kImex, node, {"--lines", "--cdi-root", "/run/cdi"}); };
  node.listen_on("/var/lib/kubelet/plugins_registry/compute-domain.nvidia.com-reg.sock");
  node.remove("/run/nvidia-persistenced");
  const Outcome lacks = lines();
  EXPECT_EQ(lacks.ending, "exited with code 0");
  // This test listens there.
  EXPECT_THAT(lacks.output, HasSubstr("reason=OtherPlugin type=KubeletPlugin\n"));
  EXPECT_THAT(lacks.output, HasSubstr("lack blocking=1 "));
  EXPECT_THAT(lacks.output, HasSubstr("reason=NoPersistence"));
  EXPECT_THAT(lacks.output, testing::EndsWith("\nlooked\n"));
  EXPECT_THAT(lacks.output, Not(HasSubstr("CdiNotRead")));
  EXPECT_THAT(check(kImex, node, {"--lines", "--persistent"}).output,
              AllOf(HasSubstr("reason=OtherPlugin"), Not(HasSubstr("NoPersistence"))));
  EXPECT_THAT(check(kImex, node, {"--lines", "--agents", "1"}).output,
              Not(HasSubstr("OtherPlugin")));
  node.remove("/var/lib/kubelet/plugins_registry/compute-domain.nvidia.com-reg.sock");
  node.dir.write("host/etc/containerd/config.toml", "version = 3\nenable_cdi = false\n");
  EXPECT_THAT(lines().output, AllOf(HasSubstr("CdiNotRead"), Not(HasSubstr("OtherPlugin"))));
}

TEST(NodeCheckProgram, TellsOfEachGpu) {
  const NodeOnDisk node;
  put_nvml(node, kTwoGpus, 2);
  const Outcome done = check(kImex, node, {"--output", "json"});
  EXPECT_EQ(done.ending, "exited with code 3") << done.output;
  auto rows = rows_of(done.output);
  EXPECT_EQ(rows["GpuFabric 0"]["found"], "clique 6f0a3c52-1c7e-4b1f-9d53-0c2f6c2b7a10.7");
  EXPECT_EQ(rows["GpuFabric 1"]["verdict"], "fails");
  EXPECT_EQ(rows["GpuFabric 1"]["requirement"], "fabric of GPU 1 (GPU-1)");
  EXPECT_EQ(rows["GpuFabric 1"]["found"], "has not joined its NVLink fabric (state in progress)");
}

TEST(NodeCheckProgram, OfTheAgentSendsToTheOtherForWhatItCannotSee) {
  const NodeOnDisk node;
  node.dir.write("fabric.yaml",
                 "driver: 580.65.06\ngpus:\n- {uuid: GPU-0, state: completed, clusterUUID: "
                 "6f0a3c52-1c7e-4b1f-9d53-0c2f6c2b7a10, cliqueID: 7}\n");
  const Outcome done = check(kAgent, node, {"-o", "json"});
  EXPECT_EQ(done.ending, "exited with code 0") << done.output;
  auto rows = rows_of(done.output);
  EXPECT_EQ(rows["Driver"]["verdict"], "ok");
  EXPECT_EQ(rows["NvlinkFabric"]["verdict"], "ok");
  for (const char* row : {"ImexPrograms", "ImexLibraries", "Port 50000", "Port 50005"}) {
    EXPECT_EQ(rows[row]["verdict"], "unknown") << row;
    EXPECT_EQ(rows[row]["remedy"], "run `compute-domain-imex check`") << row;
  }
}

TEST(NodeCheckProgram, OfTheAgentTakesItsOwnContainerForNoNode) {
  const Outcome done = run(kAgent, {"check", "--imex-socket", "/nowhere/imex.sock", "-o", "json"});
  auto rows = rows_of(done.output);
  EXPECT_EQ(rows["Cdi"]["verdict"], "unknown");
}

// A report that nobody gets is no good news.
TEST(NodeCheckProgram, FailsWhereStandardOutputTakesNoMore) {
  const NodeOnDisk node;
  put_nvml(node, kTwoGpus, 2);
  const std::string fabric = node.dir.at("fabric.yaml");
  for (const auto& words : std::vector<std::vector<std::string>>{
           {kImex, "check", "--driver-root", node.places.driver.root},
           {kImex, "fabric", "--driver-root", node.places.driver.root},
           {kAgent, "check", "--fabric-file", fabric},
           {kAgent, "fabric", "--fabric-file", fabric}}) {
    imex::Command command{.arguments = {"/bin/sh", "-c", "exec \"$0\" \"$@\" >/dev/full"},
                          .environment = {"PATH=/usr/bin:/bin"},
                          .captures_output = true};
    command.arguments.push_back(cat(CDOM_PROGRAMS, "/", words.front()));
    command.arguments.insert(command.arguments.end(), words.begin() + 1, words.end());
    auto child = imex::Child::start(command);
    ASSERT_TRUE(child) << child.error().message;
    const Outcome done = outcome_of(*child);
    EXPECT_EQ(done.ending, "exited with code 1") << words[1];
    EXPECT_EQ(done.output, cat(words.front(), ": standard output takes no more\n"));
  }
}

TEST(NodeCheckProgram, OutlivesAnNvmlThatCrashes) {
  const NodeOnDisk node;
  put_nvml(node, cat(R"({"crashes": "nvmlDeviceGetUUID", )", kTwoGpus + 1), 2);
  const Outcome done = check(kImex, node);
  EXPECT_EQ(done.ending, "exited with code 3") << done.output;
  EXPECT_THAT(done.output, AllOf(HasSubstr("NVLink fabric"), HasSubstr("nvmlDeviceGetUUID")));
}

TEST(NodeCheckProgram, OutlivesAnNvmlThatHangs) {
  const NodeOnDisk node;
  const HangingNvml nvml(node);
  const Outcome done = check(kImex, node);
  EXPECT_EQ(done.ending, "exited with code 3") << done.output;
  EXPECT_THAT(done.output, HasSubstr("nvmlDeviceGetCount"));
}

TEST(NodeCheckProgram, SayWhatIsWrongWithTheirFlagsInOneLine) {
  for (const char* program : {kImex, kAgent}) {
    for (const auto& flags :
         std::vector<std::vector<std::string>>{{"check", "--host-root", "host"},
                                               {"check", "--output", "yaml"},
                                               {"check", "--imex-channels", "0"},
                                               {"check", "--stay", "long"},
                                               {"check", "--imex-mode", "none"},
                                               {"check", "--cdi-root", "cdi"},
                                               {"check", "now"},
                                               {"chek"}}) {
      const Outcome done = run(program, flags);
      EXPECT_EQ(done.ending, "exited with code 2") << done.output;
      EXPECT_THAT(done.output,
                  MatchesRegex(cat(program, "( check)?: [^\n]*\\(see [^\n]*--help\\)\n")));
    }
    const Outcome help = run(program, {"check", "--help"});
    EXPECT_EQ(help.ending, "exited with code 0");
    EXPECT_THAT(help.output, AllOf(HasSubstr("--host-root DIR"), HasSubstr("--imex-channels N"),
                                   Not(HasSubstr("--socket")), Not(HasSubstr("--metrics-listen"))));
  }
}

TEST(FabricProgram, EndsOnASignalWhileNvmlHangs) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const NodeOnDisk node;
    HangingNvml nvml(node);
    auto fabric = start(kImex, {"fabric", "--driver-root", node.places.driver.root});
    ASSERT_TRUE(fabric) << fabric.error().message;
    ASSERT_TRUE(nvml.is_called());
    const Outcome done = outcome_of_signal(*fabric, signal);
    EXPECT_EQ(done.ending, "exited with code 1");
    EXPECT_EQ(done.output, "");
  }
}

TEST(FabricProgram, OfTheAgentEndsOnASignalWhileTheSupervisorWaitsForNvml) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const NodeOnDisk node;
    HangingNvml nvml(node);
    const std::string socket = node.dir.at("imex.sock");
    const auto supervisor = start(kImex, {"--socket", socket, "--directory", node.dir.at("imex"),
                                          "--driver-root", node.places.driver.root, "--hosts-file",
                                          node.dir.write("hosts", ""), "--device-files", "given"});
    ASSERT_TRUE(supervisor) << supervisor.error().message;
    ASSERT_TRUE(nvml.is_called());
    auto fabric = start(kAgent, {"fabric", "--imex-socket", socket});
    ASSERT_TRUE(fabric) << fabric.error().message;
    ASSERT_TRUE(until([&] { return awaits_signals(*fabric); }));
    const Outcome done = outcome_of_signal(*fabric, signal);
    EXPECT_EQ(done.ending, "exited with code 1");
    EXPECT_THAT(done.output, HasSubstr("compute-domain-imex reports no NVLink fabric"));
  }
}

// As an agent it would stand for one of the plugins that listen in kubelet's folder.
TEST(FabricProgram, OfTheAgentWatchesTheSupervisorAndIsNoAgent) {
  const base::Directory dir;
  const std::string socket = dir.at("imex.sock");
  const base::SystemClock clock;
  auto server = imex::AgentServer::listen(socket, {geteuid()}, kImex, clock);
  ASSERT_TRUE(server) << server.error().message;
  bool has_agent = false;
  const imex::AgentServer::Calls calls{
      .act = [](const auto&) { return base::Result<void>(); },
      .kubelet_state = [] { return base::Result<std::string>(""); },
      .status = [] { return imex::encode(imex::Notice(imex::DaemonStatus{})); },
      .fabric = [] { return nvidia::FabricFacts{.error = "NVML of this test"}; },
      .watched = [&has_agent](const auto&) { has_agent = true; }};
  auto fabric = start(kAgent, {"fabric", "--imex-socket", socket});
  ASSERT_TRUE(fabric) << fabric.error().message;
  EXPECT_TRUE(until([&] {
    std::vector<pollfd> polled{{.fd = fabric->exit_descriptor(), .events = POLLIN, .revents = 0}};
    server->add_to(polled);
    poll(polled.data(), polled.size(), 100);
    const bool has_ended = polled.front().revents != 0;
    polled.erase(polled.begin());
    server->serve(polled, calls);
    has_agent = has_agent || server->agents() > 0;
    return has_ended;
  }));
  EXPECT_THAT(outcome_of(*fabric).output, HasSubstr("NVML of this test"));
  EXPECT_FALSE(has_agent);
}

}  // namespace
}  // namespace cdom::node_check
