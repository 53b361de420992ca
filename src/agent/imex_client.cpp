#include "compute_domain/agent/imex_client.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "compute_domain/base/files.h"
#include "compute_domain/base/life_mark.h"
#include "compute_domain/base/text.h"
#include "compute_domain/imex/protocol.h"

namespace cdom::agent {

using base::cat;
using base::Duration;
using base::Error;
using base::ErrorKind;
using base::Result;

namespace {

// A supervisor that is silent for so long is asked whether it lives, and has as long again to
// answer.
constexpr Duration kQuietTime = std::chrono::seconds(2);

Error unavailable(const std::string& path, const std::string& what) {
  return {ErrorKind::Unavailable, cat("compute-domain-imex does not answer on ", path, ": ", what)};
}

Error too_new(const std::string& path, const imex::Hello& supervisor) {
  return {ErrorKind::Unavailable,
          cat(supervisor.program.empty() ? "compute-domain-imex" : supervisor.program, " on ", path,
              " speaks protocol ", supervisor.version, ", and this agent speaks ",
              imex::kProtocolVersion,
              ": bring the agent to that version, or delete the compute-domain-imex pod of this "
              "node, which comes back in the version that is installed; that ends what uses NVLink "
              "here")};
}

// Proven by its mark, which a supervisor makes before it starts anything. Without a mark none has
// run since the node has booted, or the last has ended its daemon and taken its files along.
bool supervisor_has_ended(const std::string& socket_path) {
  const std::string mark = imex::life_mark_of(socket_path);
  if (base::LifeMark::is_free(mark)) return true;
  std::error_code error;
  const auto folder = std::filesystem::path(mark).parent_path();
  return !std::filesystem::exists(mark, error) && !error &&
         std::filesystem::is_directory(folder, error);
}

// Its socket is there before it holds the mark: nobody listens, and who holds it is a daemon.
bool only_its_daemon_lives(const std::string& socket_path) {
  const std::string mark = imex::life_mark_of(socket_path);
  std::error_code error;
  return std::filesystem::exists(mark, error) && !base::LifeMark::is_free(mark);
}

}  // namespace

class ImexClient::Connection {
 public:
  // Writes the fabric that the supervisor reports to `fabric`, and counts its reports in `news`,
  // which outlive this.
  Connection(int socket, const base::Clock& clock, Duration patience,
             std::optional<nvidia::FabricFacts>& fabric, std::uint64_t& news)
      : socket_(socket),
        clock_(clock),
        patience_(patience),
        fabric_(fabric),
        news_(news),
        heard_(clock.elapsed()) {}
  ~Connection() { close(socket_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] int descriptor() const { return socket_; }
  [[nodiscard]] bool is_over() const { return is_over_; }
  [[nodiscard]] const std::optional<base::DaemonStatus>& status() const { return status_; }

  // Its number.
  std::uint64_t send(const imex::Request& request) {
    const std::string line = imex::encode(++last_id_, request);
    std::string_view rest = line;
    const Duration end = clock_.elapsed() + patience_;
    while (!rest.empty() && !is_over_) {
      const ssize_t sent = ::send(socket_, rest.data(), rest.size(), MSG_NOSIGNAL);
      if (sent >= 0) {
        rest.remove_prefix(static_cast<std::size_t>(sent));
      } else if (errno != EINTR && (errno != EAGAIN || !wait(POLLOUT, end))) {
        is_over_ = true;  // half a line is of no use to anybody
      }
    }
    return last_id_;
  }

  void take() {
    char block[4096];
    while (!is_over_) {
      const ssize_t got = recv(socket_, block, sizeof block, 0);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) break;
      if (got <= 0) is_over_ = true;
      if (got > 0) in_.add({block, static_cast<std::size_t>(got)});
    }
    while (const auto line = in_.next()) hear(*line);
    is_over_ = is_over_ || in_.is_flooded();
  }

  template <class Condition>
  bool take_until(const Condition& holds) {
    const Duration end = clock_.elapsed() + patience_;
    for (;;) {
      take();
      if (holds()) return true;
      if (is_over_ || !wait(POLLIN, end)) return false;
    }
  }

  // The text of the answer to the request of this number; nullopt: none has come.
  std::optional<Result<std::string>> answer(std::uint64_t id) {
    if (!take_until([&] { return reply_.id == id; })) return std::nullopt;
    return reply_.error ? Result<std::string>(*reply_.error) : Result<std::string>(reply_.text);
  }

  // That of the supervisor, where it is lower than this agent's.
  [[nodiscard]] std::int64_t protocol() const {
    return supervisor_ ? std::min(supervisor_->version, imex::kProtocolVersion)
                       : imex::kProtocolVersion;
  }

  // False when it has not been heard of for too long.
  bool is_alive() {
    const Duration now = clock_.elapsed();
    if (asked_alive_) return now - *asked_alive_ < kQuietTime;
    if (now - heard_ >= kQuietTime) {
      asked_alive_ = now;
      send(imex::Hello{protocol(), ""});
    }
    return true;
  }

  [[nodiscard]] bool has_heard() const { return has_heard_; }
  [[nodiscard]] const std::optional<imex::Hello>& supervisor() const { return supervisor_; }
  [[nodiscard]] const std::string& refusal() const { return refusal_; }

 private:
  bool wait(short events, Duration end) const {
    const Duration left = end - clock_.elapsed();
    if (left <= Duration::zero()) return false;
    pollfd one{.fd = socket_, .events = events, .revents = 0};
    const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(left);
    return poll(&one, 1, static_cast<int>(milliseconds.count())) != 0;
  }

  void hear(const std::string& line) {
    heard_ = clock_.elapsed();
    asked_alive_.reset();
    has_heard_ = true;
    const auto notice = imex::decode_notice(line, heard_);
    if (!notice) return;
    // Not a greeting: one that is refused greets at each attempt.
    if (std::holds_alternative<base::DaemonStatus>(*notice) ||
        std::holds_alternative<nvidia::FabricFacts>(*notice)) {
      ++news_;
    }
    if (const auto* status = std::get_if<base::DaemonStatus>(&*notice)) {
      status_ = *status;
      // Why one is not connected decides nothing, and changes of it would only wake the agent.
      std::erase_if(status_->peers, [](const auto& p) { return p.second != base::kConnected; });
    }
    if (const auto* hello = std::get_if<imex::Hello>(&*notice)) supervisor_ = *hello;
    if (const auto* fabric = std::get_if<nvidia::FabricFacts>(&*notice)) fabric_ = *fabric;
    if (const auto* reply = std::get_if<imex::Reply>(&*notice)) {
      reply_ = *reply;
      if (reply_.id == 0 && reply_.error) refusal_ = reply_.error->message;
    }
  }

  const int socket_;
  const base::Clock& clock_;
  const Duration patience_;
  std::optional<nvidia::FabricFacts>& fabric_;
  std::uint64_t& news_;
  imex::LineBuffer in_;
  std::uint64_t last_id_ = 0;
  imex::Reply reply_;
  std::string refusal_;  // of the connection itself
  std::optional<imex::Hello> supervisor_;
  std::optional<base::DaemonStatus> status_;
  Duration heard_;
  bool has_heard_ = false;
  std::optional<Duration> asked_alive_;
  bool is_over_ = false;
};

ImexClient::ImexClient(std::string socket_path, std::string program, const base::Clock& clock,
                       imex::Watch watch, Duration patience)
    : socket_path_(std::move(socket_path)),
      program_(std::move(program)),
      watch_(std::move(watch)),
      clock_(clock),
      patience_(patience) {}

ImexClient::~ImexClient() = default;

int ImexClient::descriptor() const { return connection_ ? connection_->descriptor() : -1; }

Result<void> ImexClient::connect() {
  connection_.reset();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_path_.size() >= sizeof address.sun_path) {
    return Error{ErrorKind::Invalid, cat(socket_path_, ": too long for the path of a socket")};
  }
  std::memcpy(address.sun_path, socket_path_.c_str(), socket_path_.size() + 1);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket < 0) return unavailable(socket_path_, std::generic_category().message(errno));
  auto connection = std::make_unique<Connection>(socket, clock_, patience_, fabric_, news_);
  if (::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    const int why = errno;
    if (supervisor_has_ended(socket_path_)) {
      return Error{ErrorKind::NotFound,
                   cat("compute-domain-imex does not run, nor does a nvidia-imex of it (",
                       socket_path_, "): its pod has to run on this node")};
    }
    const bool is_absent = why == ECONNREFUSED || why == ENOENT;
    return unavailable(
        socket_path_,
        cat(std::generic_category().message(why),
            is_absent && only_its_daemon_lives(socket_path_)
                ? "; it has ended, and its nvidia-imex has not: where that lasts a GPU or its "
                  "driver hangs, and only a reboot of the node ends it"
                : "; does its pod run on this node?"));
  }
  // It speaks first. One that is refused, as it is tried at each step, is asked for nothing.
  (void)connection->take_until([&] { return connection->has_heard(); });
  if (const auto& supervisor = connection->supervisor()) {
    if (supervisor->version > imex::kProtocolVersion) return too_new(socket_path_, *supervisor);
  }
  const bool is_heard = connection->has_heard() && connection->refusal().empty();
  if (is_heard) {
    connection->send(imex::Hello{connection->protocol(), program_});
    connection->send(watch_);
  }
  if (!is_heard || !connection->take_until([&] { return connection->status().has_value(); })) {
    return unavailable(socket_path_, connection->refusal().empty() ? "it reports no state"
                                                                   : connection->refusal());
  }
  connection_ = std::move(connection);
  return {};
}

Result<base::DaemonStatus> ImexClient::status() {
  if (connection_) {
    connection_->take();
    if (!connection_->is_over() && !connection_->is_alive()) {
      connection_.reset();
      return unavailable(socket_path_, "it is silent");
    }
  }
  if (!connection_ || connection_->is_over()) {
    if (auto connected = connect(); !connected) return connected.error();
  }
  return *connection_->status();
}

Result<std::string> ImexClient::ask_for_text(const imex::Request& request) {
  if (auto known = status(); !known) return known.error();
  auto answer = connection_->answer(connection_->send(request));
  if (answer) return *std::move(answer);
  connection_.reset();
  return unavailable(socket_path_, "it gives no answer");
}

Result<void> ImexClient::ask(const imex::Request& request) {
  const auto answer = ask_for_text(request);
  return answer ? Result<void>() : Result<void>(answer.error());
}

Result<std::string> ImexClient::kubelet_state() { return ask_for_text(imex::ReadKubeletState{}); }

Result<void> ImexClient::write_hosts(const core::WriteHosts& hosts) {
  return ask(imex::Hosts{hosts.text, hosts.revision});
}
Result<void> ImexClient::forget_importers(const std::string& group) {
  return ask(imex::Forget{group});
}
Result<void> ImexClient::start(const core::StartDaemon& config) {
  return ask(
      imex::Want{config.group, config.slot, config.table_text, config.table_hash, config.address});
}
Result<void> ImexClient::pause_driver(bool is_paused) { return ask(imex::PauseDriver{is_paused}); }
Result<void> ImexClient::signal() { return ask(imex::Signal{}); }
Result<void> ImexClient::stop() {
  auto stopped = ask(imex::Stop{});
  if (stopped || stopped.error().kind != ErrorKind::NotFound) return stopped;
  auto withdrawn = withdraw();
  return withdrawn || withdrawn.error().kind != ErrorKind::Conflict ? withdrawn : stopped;
}

Result<void> ImexClient::withdraw() {
  // A supervisor that starts reads this file while it holds the mark: either it finds the
  // withdrawal, or this agent finds the supervisor.
  const std::string withdrawal = imex::withdrawal_of(socket_path_);
  if (auto written = base::replace_file(withdrawal, ""); !written) return written;
  if (supervisor_has_ended(socket_path_)) return {};
  (void)base::remove_file(withdrawal);
  return Error{ErrorKind::Conflict, "compute-domain-imex is there again"};
}

}  // namespace cdom::agent
