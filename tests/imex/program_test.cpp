// The program compute-domain-imex itself, with stand-in daemons.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <sstream>

#include "compute_domain/base/text.h"
#include "imex/process/child.h"
#include "imex/process/control_tool.h"
#include "imex/rig.h"

namespace cdom::imex {
namespace {

using ::testing::HasSubstr;

Command program(std::vector<std::string> flags) {
  Command command{.arguments = {CDOM_IMEX_PROGRAM}, .environment = {"PATH=/usr/bin:/bin"}};
  for (std::string& flag : flags) command.arguments.push_back(std::move(flag));
  return command;
}

struct Outcome {
  std::string ending, output;
};
// To its end.
Outcome run_command(Command command) {
  command.captures_output = true;
  auto child = Child::start(command);
  if (!child) return {child.error().message, ""};
  pollfd exit{.fd = child->exit_descriptor(), .events = POLLIN, .revents = 0};
  poll(&exit, 1, 20'000);
  char text[8192];
  const ssize_t got = read(child->output_descriptor(), text, sizeof text);
  const auto ending = child->reap();
  return {ending ? to_string(*ending) : "still runs",
          std::string(text, got > 0 ? static_cast<std::size_t>(got) : 0)};
}

Outcome run(const std::vector<std::string>& flags) { return run_command(program(flags)); }

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> flags_of(const Node& node) {
  std::vector<std::string> flags{"--socket",       node.options.socket_path,
                                 "--directory",    node.options.directory,
                                 "--driver-root",  node.options.driver_root,
                                 "--hosts-file",   node.options.hosts_path,
                                 "--device-files", "given",
                                 "--log-level",    "info"};
  for (const auto& [key, value] : node.options.imex_options) {
    flags.push_back("--imex-option");
    flags.push_back(base::cat(key, "=", value));
  }
  return flags;
}

// The program runs and has a READY daemon. What it prints is kept in a pipe.
class RunningProgram {
 public:
  explicit RunningProgram(const std::function<void(Node&)>& prepare = {},
                          const std::vector<std::string>& more_flags = {}) {
    rig.nodes.push_back(std::make_unique<Node>(0));
    if (prepare) prepare(rig.node(0));
    Command command = program(flags_of(rig.node(0)));
    command.arguments.insert(command.arguments.end(), more_flags.begin(), more_flags.end());
    command.captures_output = true;
    auto started = Child::start(command);
    if (!started) throw std::logic_error(started.error().message);
    child.emplace(std::move(*started));
    rig.until([this] {
      rig.node(0).connect();
      return !rig.node(0).agent->is_over;
    });
    rig.start(0);
    if (!rig.until_phase(0, DaemonPhase::Ready)) throw std::logic_error("not READY");
    see_daemon();
  }
  // The kernel's list may leave out one while others end.
  void see_daemon() {
    daemon = 0;
    rig.until([this] {
      std::ifstream children(path("task/") + std::to_string(child->pid()) + "/children");
      for (int pid = 0; children >> pid;) {
        std::string name;
        std::ifstream("/proc/" + std::to_string(pid) + "/comm") >> name;
        if (name == "nvidia-imex") daemon = pid;  // others ask, or look
      }
      return daemon != 0;
    });
    if (daemon == 0) throw std::logic_error("no daemon runs");
  }
  // As far as it has come.
  void read_output() {
    char block[4096];
    for (ssize_t got = 0; (got = read(child->output_descriptor(), block, sizeof block)) > 0;) {
      output.append(block, static_cast<std::size_t>(got));
    }
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return "/proc/" + std::to_string(child->pid()) + "/" + name;
  }
  // Whether it has ended, or is about to: the kernel's kill takes a moment.
  bool daemon_ends() {
    return rig.until([this] {
      std::ifstream stat("/proc/" + std::to_string(daemon) + "/stat");
      std::string number, name, state;
      return !(stat >> number >> name >> state) || state == "Z";
    });
  }

  Rig rig{0, 1};
  std::optional<Child> child;
  int daemon = 0;
  std::string output;
};

// A connection to 127.0.0.1; not open when there is none.
base::Descriptor connect_to(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  base::Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval patience{.tv_sec = 10, .tv_usec = 0};
  setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    socket.reset();
  }
  return socket;
}

// Head and body; "" when nothing answers.
std::string page(int port, const std::string& path) {
  const base::Descriptor socket = connect_to(port);
  if (!socket) return "";
  const std::string request =
      "GET " + path + " HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n";
  (void)!send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL);
  std::string answer;
  char block[4096];
  for (ssize_t got = 0; (got = recv(socket.get(), block, sizeof block, 0)) > 0;) {
    answer.append(block, static_cast<std::size_t>(got));
  }
  return answer;
}

// Where it says that it serves its metrics.
int metrics_port(RunningProgram& running) {
  const std::string words = "serving metrics address=127.0.0.1:";
  const bool has_said = running.rig.until([&] {
    running.read_output();
    const auto at = running.output.find(words);
    return at != std::string::npos && running.output.find('\n', at) != std::string::npos;
  });
  return has_said ? std::stoi(running.output.substr(running.output.find(words) + words.size())) : 0;
}

const std::vector<std::string> kMetrics{"--metrics-listen", "127.0.0.1:0"};

TEST(ImexProgram, SaysWhatIsWrongWithItsFlagsInOneLine) {
  for (const auto& flags : std::vector<std::vector<std::string>>{{"--bogus"},
                                                                 {"--socket", "relative"},
                                                                 {"--server-port", "0"},
                                                                 {"--server-port", "50005"},
                                                                 {"--imex-option", "novalue"},
                                                                 {"--device-files", "maybe"}}) {
    const Outcome done = run(flags);
    EXPECT_EQ(done.ending, "exited with code 2") << done.output;
    EXPECT_EQ(std::count(done.output.begin(), done.output.end(), '\n'), 1) << done.output;
    EXPECT_THAT(done.output, HasSubstr("compute-domain-imex: "));
  }
}

TEST(ImexProgram, TellsItsVersion) {
  const Outcome done = run({"--version"});
  EXPECT_EQ(done.ending, "exited with code 0");
  EXPECT_THAT(done.output, HasSubstr("compute-domain-imex "));
}

TEST(ImexProgram, SaysWhereItCannotListen) {
  const Outcome done = run({"--socket", "/proc/imex.sock", "--directory", "/tmp"});
  EXPECT_EQ(done.ending, "exited with code 1");
  EXPECT_THAT(done.output, HasSubstr("cannot listen on /proc/imex.sock"));
}

TEST(ImexProgram, EndsItsDaemonOnSigterm) {
  RunningProgram running;
  ASSERT_GT(running.daemon, 0);
  running.child->signal(SIGTERM);
  std::optional<Ending> ending;
  ASSERT_TRUE(running.rig.until([&] {
    ending = running.child->reap();
    return ending.has_value();
  }));
  EXPECT_EQ(to_string(*ending), "exited with code 0");
  EXPECT_TRUE(running.daemon_ends());
}

TEST(ImexProgram, LeavesNoDaemonBehindWhenItIsKilled) {
  RunningProgram running;
  running.child->signal(SIGKILL);
  EXPECT_TRUE(running.daemon_ends());
}

// In the place of nvidia-imex a program that starts it after these lines of shell.
void wrap_daemon(const Node& node, const std::string& lines) {
  const std::string program = node.dir.at("root/usr/bin/nvidia-imex");
  const std::string real = node.dir.at("real/nvidia-imex");
  std::filesystem::create_directories(node.dir.at("real"));
  std::filesystem::rename(program, real);
  node.dir.write("root/usr/bin/nvidia-imex", "#!/bin/sh\n" + lines + "exec " + real + " \"$@\"\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
}

TEST(ImexProgram, PrintsWhatItsDaemonPrints) {
  RunningProgram running(
      [](const Node& node) { wrap_daemon(node, "printf '\\033[31mone \\377\\ntwo'\n"); });
  EXPECT_TRUE(running.rig.until([&] {
    running.read_output();
    return running.output.find("\033[31mone \377\ntwo") != std::string::npos;
  })) << running.output;
}

TEST(ImexProgram, IsProbedOnItsSocket) {
  const RunningProgram running;
  const std::string& socket = running.rig.nodes.front()->options.socket_path;
  EXPECT_EQ(run({"probe", "--socket", socket}).ending, "exited with code 0");
  const Outcome elsewhere = run({"probe", "--socket", socket + ".other"});
  EXPECT_EQ(elsewhere.ending, "exited with code 1");
  EXPECT_THAT(elsewhere.output, HasSubstr("cannot connect to"));
  EXPECT_EQ(run({"prob"}).ending, "exited with code 2");
}

// As who enters its container calls it, by the image's link.
Outcome ask_by_link(const Node& node, const std::vector<std::string>& arguments) {
  const std::string link = node.dir.at("nvidia-imex-ctl");
  if (!std::filesystem::exists(link)) std::filesystem::create_symlink(CDOM_IMEX_PROGRAM, link);
  Command command{
      .arguments = {link},
      .environment = {"PATH=/usr/bin:/bin", "IMEX_DIRECTORY=" + node.options.directory}};
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  return run_command(std::move(command));
}

TEST(ImexProgram, IsTheControlToolOfTheDriverUnderItsName) {
  RunningProgram running;
  const Node& node = running.rig.node(0);
  const std::string configuration = node.options.directory + "/imexd.cfg";
  const Outcome state = ask_by_link(node, {"-c", configuration, "-q"});
  EXPECT_EQ(state.ending, "exited with code 0");
  EXPECT_EQ(state.output, "READY\n");
  const Outcome view = ask_by_link(node, {"-c", configuration, "-N", "-j", "-H"});
  EXPECT_THAT(view.output, HasSubstr("\"nodes\""));
  EXPECT_EQ(std::filesystem::read_symlink(node.options.directory + "/nvidia-imex-ctl"),
            node.dir.at("root/usr/bin/nvidia-imex-ctl"));
}

TEST(ImexProgram, SaysWhatThereIsBeforeTheFirstDaemon) {
  Rig rig(1);
  const Node& node = rig.node(0);
  const std::string configuration = node.options.directory + "/imexd.cfg";
  EXPECT_THAT(text_of(configuration), HasSubstr("has started no nvidia-imex yet"));
  // The tool is the driver's, and finds nobody.
  EXPECT_EQ(ask_by_link(node, {"-i", node.address, "50005", "-q"}).output, "UNAVAILABLE\n");
  std::filesystem::remove(node.options.directory + "/nvidia-imex-ctl");
  const Outcome without = ask_by_link(node, {"-q"});
  EXPECT_EQ(without.ending, "exited with code 1");
  EXPECT_THAT(without.output, HasSubstr("compute-domain-imex check says what is missing"));
}

TEST(ImexProgram, HandsNothingToItsDaemonButItsOutputsAndItsMark) {
  const RunningProgram running;
  std::map<std::string, std::string> held;
  for (const auto& one :
       std::filesystem::directory_iterator("/proc/" + std::to_string(running.daemon) + "/fd")) {
    held[one.path().filename()] = std::filesystem::read_symlink(one.path());
  }
  EXPECT_EQ(held["0"], "/dev/null");
  EXPECT_THAT(held["1"], ::testing::StartsWith("pipe:["));
  EXPECT_EQ(held["1"], held["2"]);
  for (const char* number : {"0", "1", "2"}) held.erase(number);
  for (const auto& [number, what] : held) {
    const Node& node = *running.rig.nodes.front();
    const bool is_its_own = what.starts_with("socket:[") || what == "anon_inode:[signalfd]" ||
                            what == node.dir.at("os/session") ||
                            what == life_mark_of(node.options.socket_path);
    EXPECT_TRUE(is_its_own) << number << " is " << what;
  }
}

// Also on a kernel older than close_range.
TEST(ImexProgram, HasNoDescriptorThatItsDaemonCouldInherit) {
  RunningProgram running({}, kMetrics);
  const base::Descriptor scraper = connect_to(metrics_port(running));
  // It has been accepted when one that came later is answered.
  EXPECT_THAT(page(metrics_port(running), "/healthz"), HasSubstr("ok"));
  int found = 0;
  for (const auto& one : std::filesystem::directory_iterator(running.path("fdinfo"))) {
    if (std::stoi(one.path().filename()) <= STDERR_FILENO) continue;
    std::ifstream file(one.path());
    std::string word;
    while (file >> word && word != "flags:") {
    }
    int flags = 0;
    if (!(file >> std::oct >> flags)) continue;  // closed meanwhile
    ++found;
    EXPECT_TRUE(flags & O_CLOEXEC)
        << std::filesystem::read_symlink(running.path("fd/" + one.path().filename().string()));
  }
  EXPECT_GT(found, 5);
}

// Nobody reads the log, and a child of the daemon prints without end, also after the daemon's end.
TEST(ImexProgram, IsHeldUpByNoLogAndByNothingThatItsDaemonPrints) {
  RunningProgram running([](const Node& node) { wrap_daemon(node, "yes chatter &\n"); });
  Node& node = running.rig.node(0);
  for (int i = 0; i < 20; ++i) {  // each start is some lines of the supervisor's own
    const std::string before = node.agent->state->instance;
    EXPECT_FALSE(running.rig.ask(node, Stop{}));
    ASSERT_TRUE(running.rig.until_phase(0, DaemonPhase::Stopped));
    running.rig.start(0);
    ASSERT_TRUE(running.rig.until_phase(0, DaemonPhase::Ready));
    EXPECT_NE(node.agent->state->instance, before);
  }
  running.see_daemon();
  kill(running.daemon, SIGKILL);
  ASSERT_TRUE(running.rig.until([&] {
    return std::ranges::any_of(node.agent->states, [](const DaemonStatus& state) {
      // A child that prints without end may have come to the middle of its word, and no other.
      constexpr std::string_view kBefore = "nvidia-imex was ended by SIGKILL; its last words: ";
      return state.message.starts_with(kBefore) && state.message.size() > kBefore.size() &&
             std::string_view("chatter").starts_with(state.message.substr(kBefore.size()));
    });
  }));
  ASSERT_TRUE(running.rig.until_phase(0, DaemonPhase::Ready));
  EXPECT_TRUE(running.rig.until([&] {
    running.read_output();
    return running.output.find("left out lines of it") != std::string::npos &&
           running.output.find("left out what nvidia-imex has printed") != std::string::npos;
  }));
}

TEST(ImexProgram, ServesItsMetrics) {
  RunningProgram running({}, kMetrics);
  const int port = metrics_port(running);
  EXPECT_THAT(page(port, "/metrics"),
              ::testing::AllOf(HasSubstr("compute_domain_imex_state{state=\"Ready\"} 1\n"),
                               HasSubstr("compute_domain_imex_deaths_total 0\n"),
                               HasSubstr("compute_domain_build_info{version="),
                               HasSubstr("process_open_fds ")));
  EXPECT_THAT(page(port, "/healthz"), HasSubstr("\r\n\r\nok\n"));
  EXPECT_THAT(page(port, "/readyz"), HasSubstr("\r\n\r\nok\n"));
  kill(running.daemon, SIGKILL);
  EXPECT_TRUE(running.rig.until([&] {
    const std::string now = page(port, "/metrics");
    return now.find("imex_deaths_total 1\n") != std::string::npos &&
           now.find("imex_state{state=\"Ready\"} 1\n") != std::string::npos &&
           // NVML below its driver root is no library.
           now.find("fabric_error{reason=\"FabricUnreadable\"} 1\n") != std::string::npos;
  }));
}

TEST(ImexProgram, AnswersAScrapeBesidePeersThatOnlyHoldConnections) {
  RunningProgram running({}, kMetrics);
  const int port = metrics_port(running);
  std::vector<base::Descriptor> held;
  held.reserve(100);
  for (int i = 0; i < 100; ++i) held.push_back(connect_to(port));
  EXPECT_THAT(page(port, "/metrics"), HasSubstr("compute_domain_imex_state"));
  // Nor do they keep the supervisor from its work, or from its end.
  EXPECT_FALSE(running.rig.ask(running.rig.node(0), Stop{}));
  running.child->signal(SIGTERM);
  EXPECT_TRUE(running.rig.until([&] { return running.child->reap().has_value(); }));
}

TEST(ImexProgram, RunsItsDaemonAlsoWhereItCannotServeMetrics) {
  const base::Descriptor other(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(other.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(other.get(), 1), 0);
  ASSERT_EQ(getsockname(other.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string taken = base::cat("127.0.0.1:", ntohs(address.sin_port));
  for (const std::vector<std::string>& flags : std::vector<std::vector<std::string>>{
           {"--metrics-listen", taken},
           {"--metrics-listen", "nowhere"},
           {"--metrics-listen", "127.0.0.1:0", "--metrics-tls-cert", "/nowhere/tls.crt"},
           {"--metrics-listen", "127.0.0.1:0", "--metrics-path", "/healthz"},
           {"--metrics-listen", "127.0.0.1:0", "--metrics-tls-cert", "/nowhere/tls.crt",
            "--metrics-tls-key", "/nowhere/tls.key"}}) {
    RunningProgram running({}, flags);  // has a READY daemon
    EXPECT_TRUE(running.rig.until([&] {
      running.read_output();
      return running.output.find("the metrics are not served") != std::string::npos;
    })) << running.output;
    EXPECT_THAT(running.output, ::testing::Not(HasSubstr("serving metrics")));
    // Nor does what it waits for keep it from its end.
    running.child->signal(SIGTERM);
    EXPECT_TRUE(running.rig.until([&] { return running.child->reap().has_value(); }));
  }
}

TEST(ImexProgram, GoesOnWithMistakesAboutMetricsThatNobodyAskedFor) {
  const std::vector<std::string> mistakes{"--metrics-tls-key", "/nowhere/tls.key", "--metrics-path",
                                          "/healthz"};
  RunningProgram running({}, mistakes);  // has a READY daemon
  std::vector<std::string> probe{"probe", "--socket", running.rig.node(0).options.socket_path};
  probe.insert(probe.end(), mistakes.begin(), mistakes.end());
  const Outcome done = run(probe);
  EXPECT_EQ(done.ending, "exited with code 0") << done.output;
  // check has looked, and found something wrong; fabric cannot answer.
  for (const auto& [command, code] : {std::pair{"check", "3"}, std::pair{"fabric", "1"}}) {
    std::vector<std::string> flags{command, "--driver-root", "/nowhere"};
    flags.insert(flags.end(), mistakes.begin(), mistakes.end());
    const Outcome looked = run(flags);
    EXPECT_EQ(looked.ending, base::cat("exited with code ", code)) << looked.output;
    EXPECT_THAT(looked.output, ::testing::Not(HasSubstr("--metrics"))) << command;
  }
}

TEST(ImexProgram, ServesNothingUnlessItIsTold) {
  const RunningProgram running;
  std::ifstream tasks(running.path("status"));
  std::string threads;
  for (std::string line; std::getline(tasks, line);) {
    if (line.starts_with("Threads:")) threads = line;
  }
  EXPECT_EQ(threads, "Threads:\t2");  // its own and that of signals
}

TEST(ImexProgram, IsSmall) {
  RunningProgram running;
  std::ifstream status(running.path("status"));
  int kibibytes = 0;
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) std::istringstream(line.substr(6)) >> kibibytes;
  }
  RecordProperty("rss_kib", kibibytes);
  EXPECT_GT(kibibytes, 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LE(kibibytes, 8 * 1024);
#endif
}

}  // namespace
}  // namespace cdom::imex
