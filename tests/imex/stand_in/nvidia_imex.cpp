// nvidia-imex, a stand-in: what is publicly known of the daemon's behaviour, over real sockets.
//
// `nvidia-imex -c FILE`. One daemon per operating system (STAND_IN_OS_DIRECTORY); the file
// `importing` there means that a workload imports from every peer. It sleeps unless something
// happens or is due.
#include <fcntl.h>
#include <ifaddrs.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <set>

#include "compute_domain/base/text.h"
#include "imex/stand_in/endpoint.h"
#include "imex/stand_in/parameters.h"
#include "imex/stand_in/peers.h"
#include "imex/stand_in/socket.h"

namespace cdom::stand_in {
namespace {

using base::cat;
using base::Duration;

Duration now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::chrono::seconds(time.tv_sec) + Duration(time.tv_nsec);
}

// Importers of this run, for a daemon that comes after an unclean end. "Keyed by the node table: if
// the table changed, it is dropped" (IMEX guide).
class Record {
 public:
  explicit Record(const Parameters& parameters)
      : parameters_(parameters),
        path_(parameters.os_directory + "/persist.dat"),
        key_(base::hex64(base::fnv1a64(base::join(parameters.table, ",")))) {
    if (access(path_.c_str(), R_OK) != 0) return;
    const std::vector<std::string> lines = base::split(read_or_end(path_), '\n');
    if (lines.front() == key_) names_.insert(lines.begin() + 1, lines.end());
    names_.erase("");
  }

  [[nodiscard]] const std::set<std::string>& names() const { return names_; }
  void add(const std::string& name) {
    if (access((parameters_.os_directory + "/importing").c_str(), F_OK) != 0) return;
    if (!names_.insert(name).second) return;
    std::string text = key_ + "\n";
    for (const std::string& one : names_) text += one + "\n";
    const std::string next = path_ + ".next";
    if (std::FILE* file = std::fopen(next.c_str(), "we")) {
      std::fputs(text.c_str(), file);
      std::fclose(file);
      std::rename(next.c_str(), path_.c_str());
    }
  }
  void remove() const { unlink(path_.c_str()); }

 private:
  const Parameters& parameters_;
  const std::string path_, key_;
  std::set<std::string> names_;
};

class Daemon {
 public:
  Daemon(const Parameters& parameters, std::size_t own_index)
      : parameters_(parameters),
        own_index_(own_index),
        started_(now()),
        record_(parameters),
        log_(parameters.log_file),
        peers_(parameters, log_, own_index, cat(getpid(), "-", started_.count()),
               [this](std::size_t index) { see_connected(index); }),
        commands_(Socket::listen(parameters.command_address, parameters.command_port)) {
    if (!parameters.command_socket.empty()) {
      local_commands_ = Socket::listen_on(parameters.command_socket);
    }
    if (parameters.quorum == "RECOVERY") awaited_ = record_.names();
    sigset_t all;
    sigemptyset(&all);
    for (const int number : {SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1}) sigaddset(&all, number);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    log_.info(cat("IMEX version ", parameters.version, " is running"));
    log_.info(cat("Creating gRPC channels to all peers (nPeers = ", parameters.table.size(), ")."));
    signals_ = Socket(signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK));
  }

  int run() {
    while (!over_at_ || now() < *over_at_) {
      see_ready();
      peers_.step(now());
      wait();
    }
    return 0;
  }

 private:
  struct Visitor {
    Socket socket;
  };

  void see_connected(std::size_t index) {
    awaited_.erase(parameters_.table[index]);
    record_.add(parameters_.table[index]);
  }

  void see_ready() {
    if (is_ready_ || now() < started_ + parameters_.ready_delay || !awaited_.empty()) return;
    is_ready_ = true;
    log_.info("GPU event successfully subscribed");
  }

  [[nodiscard]] const char* state() const {
    if (over_at_) return "SHUTTING_DOWN";
    if (is_ready_) return "READY";
    if (!awaited_.empty()) return "WAITING_FOR_RECOVERY";
    const Duration age = now() - started_;
    if (age < parameters_.ready_delay / 3) return "INITIALIZING";
    if (parameters_.has_authentication && age < parameters_.ready_delay * 2 / 3) {
      return "STARTING_AUTH_SERVER";
    }
    return "INIT_GPU";
  }

  static const char* word_of(char letter) {
    switch (letter) {
      case 'C':
        return "CONNECTED";
      case 'R':
        return "RECOVERING";
      case 'D':
        return "DISCONNECTED";
      case 'M':
        return "NODE_MAP_MISMATCH";
      case 'V':
        return "VERSION_MISMATCH";
      case 'I':
        return "INVALID";
      default:
        return "NEVER_CONNECTED";
    }
  }

  // As `nvidia-imex-ctl -N -j`; the rows of the others without their connections.
  [[nodiscard]] std::string view() const {
    std::string text = "{\"nodes\":{";
    bool is_up = is_ready_;
    for (std::size_t i = 0; i < parameters_.table.size(); ++i) {
      const bool is_own = i == own_index_;
      const bool is_connected = is_own || peers_.letter(i) == 'C';
      is_up = is_up && is_connected;
      text += cat(i == 0 ? "" : ",", "\"", i, "\":{\"status\":\"",
                  is_own ? state() : (is_connected ? "READY" : "UNAVAILABLE"), "\",\"host\":\"",
                  parameters_.table[i], "\",\"version\":\"", parameters_.version,
                  "\",\"hostName\":\"\",\"connections\":{");
      for (std::size_t k = 0; is_own && k < parameters_.table.size(); ++k) {
        text += cat(k == 0 ? "" : ",", "\"", k, "\":{\"host\":\"", parameters_.table[k],
                    "\",\"status\":\"", k == own_index_ ? "CONNECTED" : word_of(peers_.letter(k)),
                    "\",\"changed\":false}");
      }
      text += "}}";
    }
    return cat(text, "},\"timestamp\":\"", std::time(nullptr), "\",\"status\":\"",
               is_up ? "UP" : (is_ready_ ? "DEGRADED" : "DOWN"), "\"}\n");
  }

  void wait() {
    std::optional<Duration> due = peers_.next_due();
    const auto keep_earlier = [&](const std::optional<Duration>& other) {
      if (other && (!due || *other < *due)) due = other;
    };
    keep_earlier(over_at_);
    if (!is_ready_ && now() < started_ + parameters_.ready_delay) {
      keep_earlier(started_ + parameters_.ready_delay);
    }
    std::vector<pollfd> polled;
    peers_.add_to(polled);
    const std::size_t own = polled.size();
    polled.push_back({.fd = signals_.fd(), .events = POLLIN, .revents = 0});
    polled.push_back({.fd = commands_.fd(), .events = POLLIN, .revents = 0});
    polled.push_back({.fd = local_commands_.fd(), .events = POLLIN, .revents = 0});
    for (const Visitor& visitor : visitors_) {
      polled.push_back({.fd = visitor.socket.fd(), .events = POLLIN, .revents = 0});
    }
    const Duration left = due ? std::max(*due - now(), Duration::zero()) : Duration::zero();
    const timespec most{.tv_sec = left / std::chrono::seconds(1),
                        .tv_nsec = (left % std::chrono::seconds(1)).count()};
    if (ppoll(polled.data(), polled.size(), due ? &most : nullptr, nullptr) <= 0) return;
    peers_.serve({polled.begin(), polled.begin() + static_cast<std::ptrdiff_t>(own)}, now());
    see_ready();
    if (polled[own].revents != 0) take_signals();
    if (polled[own + 1].revents != 0) {
      while (Socket visitor = commands_.accept()) visitors_.push_back({std::move(visitor)});
    }
    if (polled[own + 2].revents != 0) {
      while (Socket visitor = local_commands_.accept()) visitors_.push_back({std::move(visitor)});
    }
    visitors_.remove_if([this](Visitor& visitor) { return !answer(visitor); });
  }

  // False when the visitor is done.
  bool answer(Visitor& visitor) {
    const bool goes_on = visitor.socket.receive();
    const auto line = visitor.socket.line();
    if (!line) return goes_on;
    visitor.socket.send(*line == "N" ? view() : cat(state(), "\n"));
    return false;
  }

  void take_signals() {
    signalfd_siginfo signal{};
    while (read(signals_.fd(), &signal, sizeof signal) == sizeof signal) {
      if (signal.ssi_signo == SIGHUP) continue;  // dumps a log
      if (signal.ssi_signo != SIGUSR1) {
        shut_down();
      } else if (!signalled_ || now() - *signalled_ >= parameters_.signal_interval) {
        signalled_ = now();
        peers_.redial(now());
      }
    }
  }

  void shut_down() {
    if (over_at_) return;
    peers_.say_goodbye();
    record_.remove();
    over_at_ = now() + parameters_.shutdown_delay;
  }

  const Parameters& parameters_;
  const std::size_t own_index_;
  const Duration started_;
  Record record_;
  std::set<std::string> awaited_;
  const DaemonLog log_;
  Peers peers_;
  Socket commands_, local_commands_;
  Socket signals_;
  std::list<Visitor> visitors_;
  bool is_ready_ = false;
  std::optional<Duration> signalled_, over_at_;
};

std::set<std::string> own_addresses() {
  std::set<std::string> addresses;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return addresses;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr != nullptr) addresses.insert(Endpoint(*one->ifa_addr).address());
  }
  freeifaddrs(all);
  addresses.erase("");
  return addresses;
}

std::size_t own_index_in(Parameters& parameters) {
  const std::set<std::string> own =
      parameters.address.empty() ? own_addresses()
                                 : std::set<std::string>{Endpoint(parameters.address).address()};
  for (std::size_t i = 0; i < parameters.table.size(); ++i) {
    const std::string address = address_of(parameters.table[i], parameters.hosts_file);
    if (address.empty() || !own.contains(address)) continue;
    parameters.address = address;
    return i;
  }
  end_with("no entry of the node table resolves to an address of this node");
}

int run(const std::string& config) {
  Parameters parameters = read_parameters(config);
  for (const std::string& device : parameters.devices) {
    struct stat facts {};
    if (stat(device.c_str(), &facts) != 0 || !S_ISCHR(facts.st_mode)) {
      end_with(cat("no device ", device));
    }
  }
  const std::string session = parameters.os_directory + "/session";
  const int lock = open(session.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0) end_with(cat("cannot open ", session));
  if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
    end_with("the IMEX session of this operating system is in use");
  }
  const std::size_t own_index = own_index_in(parameters);
  if (parameters.command_address.empty()) parameters.command_address = parameters.address;
  // Until it has handlers, a signal ends it.
  const timespec delay{.tv_sec = parameters.handler_delay / std::chrono::seconds(1),
                       .tv_nsec = (parameters.handler_delay % std::chrono::seconds(1)).count()};
  nanosleep(&delay, nullptr);
  return Daemon(parameters, own_index).run();
}

}  // namespace
}  // namespace cdom::stand_in

int main(int argc, char** argv) {
  const bool is_usage = argc == 3 && std::strcmp(argv[1], "-c") == 0;
  if (!is_usage) cdom::stand_in::end_with("usage: nvidia-imex -c FILE");
  return cdom::stand_in::run(argv[2]);
}
