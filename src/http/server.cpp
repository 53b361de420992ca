#include "compute_domain/http/server.h"

#include <fcntl.h>
#include <pthread.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <optional>
#include <stdexcept>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compute_domain/base/log.h"
#include "compute_domain/base/text.h"
#include "http/pem.h"
#include "http/session.h"

namespace cdom::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::chrono::nanoseconds kLongestTick = std::chrono::seconds(1);
// Without file descriptors accepting fails at once, again and again.
constexpr std::chrono::milliseconds kAcceptPause{100};
// The pause between warnings that a peer can cause as often as it likes.
constexpr std::chrono::minutes kBetweenWarnings{1};

std::chrono::nanoseconds tick_of(const ServerConfig& config) {
  const auto shortest =
      std::min({config.header_timeout, config.idle_timeout, config.stall_timeout});
  return std::clamp(shortest / 4, std::chrono::nanoseconds(std::chrono::milliseconds(1)),
                    kLongestTick);
}

// Asio's sockets would go on in a process that this one starts.
void close_at_exec(int descriptor) { fcntl(descriptor, F_SETFD, FD_CLOEXEC); }

std::string text_of(const tcp::endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  return endpoint.address().is_v6() ? base::cat("[", address, "]:", endpoint.port())
                                    : base::cat(address, ":", endpoint.port());
}

// "127.0.0.1:8080", "[::1]:8080", "localhost:8080", ":8080". Throws std::runtime_error.
tcp::endpoint parse_endpoint(const std::string& listen) {
  const std::size_t colon = listen.rfind(':');
  std::string host = listen.substr(0, colon);
  const std::string port = colon == std::string::npos ? "" : listen.substr(colon + 1);
  if (port.empty() || port.size() > 5 ||
      port.find_first_not_of("0123456789") != std::string::npos || std::stoi(port) > 65535) {
    throw std::runtime_error("want HOST:PORT with a port of 0 to 65535");
  }
  if (host == "localhost") host = "127.0.0.1";
  if (host.empty()) host = "[::]";
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  error_code error;
  const auto address = asio::ip::make_address(host, error);
  if (error) throw std::runtime_error(base::cat("\"", host, "\" is not an IP address"));
  return {address, static_cast<unsigned short>(std::stoi(port))};
}

using Tls = std::shared_ptr<asio::ssl::context>;  // null: plain HTTP

Tls tls_context(const ServerConfig& config) {
  if (config.certificate_pem.empty()) return nullptr;
  auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
  asio::ssl::context& tls = *context;
  SSL_CTX_set_min_proto_version(tls.native_handle(), TLS1_2_VERSION);
  use_identity(tls.native_handle(), config.certificate_pem, config.key_pem, "server certificate");
  if (!config.client_ca_pem.empty()) {
    trust_only(tls.native_handle(), config.client_ca_pem, "certificate authority of clients");
    SSL_CTX_set_verify(tls.native_handle(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
                       nullptr);
  }
  return context;
}

class BeastServer : public Server {
 public:
  BeastServer(ServerConfig config, Route route)
      : config_(std::move(config)),
        route_(std::move(route)),
        tls_(tls_context(config_)),
        acceptor_(io_),
        accept_pause_(io_),
        tick_(io_) {
    listen();
    accept();
    thread_ = std::thread([this] {
      pthread_setname_np(pthread_self(), "http-server");
      run();
    });
  }

  ~BeastServer() override {
    asio::post(io_, [this] { stop(); });
    thread_.join();
  }

  std::string address() const override { return address_; }

  void run_after(std::chrono::nanoseconds delay, std::function<void()> work) override {
    if (delay <= std::chrono::nanoseconds::zero()) {
      asio::post(io_, std::move(work));
      return;
    }
    const auto timer = std::make_shared<asio::steady_timer>(io_, delay);
    timer->async_wait([timer, work = std::move(work)](const error_code& error) {
      if (!error) work();
    });
  }

  base::Result<void> set_certificate(const std::string& certificate_pem,
                                     const std::string& key_pem) override {
    if (config_.certificate_pem.empty()) return base::invalid("this server has no TLS");
    ServerConfig renewed = config_;
    renewed.certificate_pem = certificate_pem;
    renewed.key_pem = key_pem;
    try {
      asio::post(io_, [this, tls = tls_context(renewed)] { tls_ = tls; });
    } catch (const std::exception& e) {
      return base::invalid(e.what());
    }
    return {};
  }

 private:
  void listen() {
    const tcp::endpoint endpoint = parse_endpoint(config_.listen);
    error_code error;
    listen_at(endpoint, error);
    // Switched off in the kernel, or for this network namespace.
    const bool lacks_ipv6 = error == asio::error::address_family_not_supported ||
                            error == boost::system::errc::address_not_available;
    if (lacks_ipv6 && config_.listen.front() == ':') {
      listen_at(tcp::endpoint(tcp::v4(), endpoint.port()), error);
    }
    if (error) throw boost::system::system_error(error);
    address_ = text_of(acceptor_.local_endpoint());
  }

  void listen_at(const tcp::endpoint& endpoint, error_code& error) {
    error_code ignored;
    acceptor_.close(ignored);
    acceptor_.open(endpoint.protocol(), error);
    if (!error) close_at_exec(acceptor_.native_handle());
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    // A server for ":PORT" answers IPv4 too.
    if (!error && endpoint.address().is_v6()) {
      acceptor_.set_option(asio::ip::v6_only(false), error);
    }
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(tcp::acceptor::max_listen_connections, error);
  }

  void accept() {
    acceptor_.async_accept([this](const error_code& error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (error) return accept_later(error);
      close_at_exec(socket.native_handle());
      if (sessions_.size() >= config_.session_limit) {
        warn("too many connections; the longest silent one is closed for each new one",
             {{"listen", address_}, {"limit", base::cat(config_.session_limit)}});
        close_longest_silent();
      }
      auto session =
          std::make_shared<Session>(make_transport(std::move(socket), tls_.get()), context_);
      sessions_.insert(session);
      session->start();
      if (!std::exchange(is_ticking_, true)) tick();
      accept();
    });
  }

  void accept_later(const error_code& error) {
    warn("cannot accept a connection", {{"listen", address_}, {"error", error.message()}});
    // Its descriptor may be the one that was missing.
    close_longest_silent();
    accept_pause_.expires_after(kAcceptPause);
    accept_pause_.async_wait([this](const error_code& cancelled) {
      if (!cancelled) accept();
    });
  }

  void close_longest_silent() {
    const auto longest = std::ranges::min_element(
        sessions_, {}, [](const auto& session) { return session->silent_since(); });
    if (longest != sessions_.end()) std::shared_ptr(*longest)->close();
  }

  // At most one of all its warnings a minute.
  void warn(std::string_view message, std::initializer_list<base::LogField> fields) {
    const auto now = std::chrono::steady_clock::now();
    if (warned_ && now - *warned_ < kBetweenWarnings) return;
    warned_ = now;
    base::log_warning(message, fields);
  }

  // While there are connections: a server that nobody asks does not wake.
  void tick() {
    tick_.expires_after(context_.tick);
    tick_.async_wait([this](const error_code& cancelled) {
      if (cancelled) return;
      for (const auto& session : open_sessions()) session->tick();
      is_ticking_ = !sessions_.empty();
      if (is_ticking_) tick();
    });
  }

  void stop() {
    acceptor_.close();
    for (const auto& session : open_sessions()) session->close();
    io_.stop();
  }

  // A copy, as a session that closes leaves the set.
  std::vector<std::shared_ptr<Session>> open_sessions() const {
    return {sessions_.begin(), sessions_.end()};
  }

  // What a callback of the user throws ends that callback, not the server.
  void run() {
    while (!io_.stopped()) {
      try {
        io_.run();
      } catch (const std::exception& e) {
        base::log_error("HTTP callback failed", {{"listen", address_}, {"error", e.what()}});
      }
    }
  }

  const ServerConfig config_;
  const Route route_;
  Tls tls_;  // of the next connection
  asio::io_context io_{1};
  std::unordered_set<std::shared_ptr<Session>> sessions_;
  const SessionContext context_{io_, config_, route_, tick_of(config_),
                                [this](const std::shared_ptr<Session>& s) { sessions_.erase(s); }};
  tcp::acceptor acceptor_;
  asio::steady_timer accept_pause_;
  asio::steady_timer tick_;
  bool is_ticking_ = false;
  std::optional<std::chrono::steady_clock::time_point> warned_;
  std::string address_;
  std::thread thread_;
};

}  // namespace

std::string mistake_in_certificate(const std::string& certificate_pem, const std::string& key_pem) {
  if (certificate_pem.empty()) return "server certificate: no PEM certificate in it";
  ServerConfig config;
  config.certificate_pem = certificate_pem;
  config.key_pem = key_pem;
  try {
    tls_context(config);
    return "";
  } catch (const std::exception& e) {
    return e.what();
  }
}

base::Result<std::unique_ptr<Server>> make_server(ServerConfig config, Route route) {
  const std::string listen = config.listen;
  try {
    return std::unique_ptr<Server>(
        std::make_unique<BeastServer>(std::move(config), std::move(route)));
  } catch (const std::exception& e) {
    return base::Error{base::ErrorKind::Invalid,
                       base::cat("cannot listen on \"", listen, "\": ", e.what())};
  }
}

}  // namespace cdom::http
