// A daemon that is killed, with the supervisor's real program and a stand-in: from SIGKILL until
// the supervisor has told it on its socket, and until it has told READY again.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/text.h"
#include "compute_domain/imex/protocol.h"
#include "figure.h"
#include "imex/process/child.h"

namespace {

using namespace cdom;  // NOLINT(google-build-using-namespace): a main file names every module
using base::cat;
using std::chrono::milliseconds;
namespace fs = std::filesystem;

constexpr base::Duration kPatience = std::chrono::seconds(30);

// What one node has: a driver root with the stand-ins, and places for files.
class Folder {
 public:
  explicit Folder(const fs::path& stand_ins) {
    char name[] = "/tmp/bench-imex-XXXXXX";
    path_ = mkdtemp(name);
    for (const char* folder : {"driver/usr/bin", "os"}) {
      fs::create_directories(path_ / folder);
    }
    for (const char* program : {"nvidia-imex", "nvidia-imex-ctl"}) {
      fs::copy_file(stand_ins / program, path_ / "driver/usr/bin" / program);
    }
    std::ofstream(path_ / "hosts") << "127.0.0.1 localhost\n";
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  [[nodiscard]] std::string at(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

imex::Child start_supervisor(const std::string& program, const Folder& folder,
                             milliseconds ready_delay) {
  imex::Command command;
  command.arguments = {program,
                       "--socket",
                       folder.at("imex.sock"),
                       "--directory",
                       folder.at("run"),
                       "--driver-root",
                       folder.at("driver"),
                       "--hosts-file",
                       folder.at("hosts"),
                       "--persist-file",
                       folder.at("os/persist.dat"),
                       "--device-files",
                       "given",
                       "--log-level",
                       "error"};
  for (const std::string& option : {cat("STAND_IN_OS_DIRECTORY=", folder.at("os")),
                                    cat("STAND_IN_READY_DELAY_MS=", ready_delay.count())}) {
    command.arguments.insert(command.arguments.end(), {"--imex-option", option});
  }
  command.environment = {"PATH=/usr/bin:/bin"};
  auto supervisor = imex::Child::start(command);
  if (!supervisor) throw std::runtime_error(supervisor.error().message);
  return *std::move(supervisor);
}

// The connection of an agent that does nothing but wait for news.
class Agent {
 public:
  explicit Agent(const std::string& path)
      : socket_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    const base::Duration end = clock_.elapsed() + kPatience;
    while (connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      if (clock_.elapsed() > end) throw std::runtime_error("the supervisor does not listen");
      usleep(1000);
    }
    const timeval most{.tv_sec = kPatience / std::chrono::seconds(1), .tv_usec = 0};
    setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
  }

  void ask(const imex::Request& request) {
    const std::string line = imex::encode(++last_id_, request);
    if (send(socket_.get(), line.data(), line.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(line.size())) {
      throw std::runtime_error("the supervisor does not read");
    }
  }

  // When a state came of which it holds.
  template <class Condition>
  base::Duration wait_for(const Condition& holds) {
    for (;;) {
      while (const auto line = in_.next()) {
        const auto notice = imex::decode_notice(*line);
        if (!notice) continue;
        const auto* reply = std::get_if<imex::Reply>(&*notice);
        if (reply != nullptr && reply->error) throw std::runtime_error(reply->error->message);
        const auto* state = std::get_if<imex::DaemonStatus>(&*notice);
        if (state != nullptr && holds(*state)) return clock_.elapsed();
      }
      char block[4096];
      const ssize_t got = recv(socket_.get(), block, sizeof block, 0);
      if (got <= 0) throw std::runtime_error("the supervisor tells nothing");
      in_.add({block, static_cast<std::size_t>(got)});
    }
  }

 private:
  const base::SystemClock clock_;
  const base::Descriptor socket_;
  imex::LineBuffer in_;
  std::uint64_t last_id_ = 0;
};

int daemon_of(const imex::Child& supervisor) {
  const std::string pid = std::to_string(supervisor.pid());
  std::ifstream children(cat("/proc/", pid, "/task/", pid, "/children"));
  for (int child = 0; children >> child;) {
    std::ifstream comm(cat("/proc/", child, "/comm"));
    std::string name;
    if (std::getline(comm, name) && name == "nvidia-imex") return child;
  }
  throw std::runtime_error("there is no daemon");
}

struct Samples {
  std::vector<double> told, ready;  // milliseconds
};

void measure_once(const std::string& program, const fs::path& stand_ins, milliseconds ready_delay,
                  Samples& samples) {
  // The last one's daemon may be about to end still.
  const std::string address = cat("127.43.", getpid() % 250, ".", samples.told.size() % 250 + 1);
  const base::SystemClock clock;
  const Folder folder(stand_ins);
  const imex::Child supervisor = start_supervisor(program, folder, ready_delay);
  Agent agent(folder.at("imex.sock"));
  agent.ask(imex::Watch{});
  agent.ask(imex::Hosts{cat(address, "\tslot-0\n"), "r"});
  agent.ask(imex::Want{"group", 0, "slot-0\n", "hash", address});
  agent.wait_for(
      [](const imex::DaemonStatus& state) { return state.phase == imex::DaemonPhase::Ready; });
  const int daemon = daemon_of(supervisor);
  const base::Duration killed = clock.elapsed();
  kill(daemon, SIGKILL);
  const auto since_kill = [&](base::Duration moment) {
    return std::chrono::duration<double, std::milli>(moment - killed).count();
  };
  samples.told.push_back(since_kill(agent.wait_for(
      [](const imex::DaemonStatus& state) { return state.phase == imex::DaemonPhase::Failed; })));
  const base::Duration ready = agent.wait_for(
      [](const imex::DaemonStatus& state) { return state.phase == imex::DaemonPhase::Ready; });
  samples.ready.push_back(since_kill(ready - ready_delay));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: bench_imex COMPUTE_DOMAIN_IMEX STAND_IN_FOLDER [RUNS]\n");
    return 2;
  }
  const int runs = argc > 3 ? std::stoi(argv[3]) : 50;
  try {
    for (const milliseconds delay : {milliseconds(0), milliseconds(500), milliseconds(3000)}) {
      Samples samples;
      const int times = delay > milliseconds(500) ? runs / 5 : runs;
      for (int run = 0; run < times; ++run) measure_once(argv[1], argv[2], delay, samples);
      const std::string note = cat("a daemon that needs ", delay.count(), " ms to be READY");
      bench::print(
          {"imex: daemon killed -> the agent sees it", "ms", samples.told, {{"p99", 10}}, note});
      bench::print({"imex: daemon killed -> READY again is reported, less the daemon's own start",
                    "ms",
                    samples.ready,
                    {{"p99", 100}},
                    note});
    }
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "imex_bench: %s\n", failure.what());
    return 1;
  }
  return 0;
}
