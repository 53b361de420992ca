// The client on cpprest: the only file that knows the library, with the settings and detours that
// make it fit for long-lived watches.
#include "compute_domain/http/client.h"

#include <cpprest/http_client.h>
#include <cpprest/producerconsumerstream.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pplx/threadpool.h>

#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <stop_token>
#include <utility>

#include "compute_domain/base/text.h"
#include "http/client_tls.h"
#include "http/line_splitter.h"
#include "http/pipe.h"
#include "http/pipe_buffer.h"
#include "http/token_source.h"

namespace cdom::http {
namespace {

using base::cat;
using base::Error;
using base::ErrorKind;
using base::Result;
namespace asio = boost::asio;

// A line of a watch is one object of at most some MiB; more than this is not a watch.
constexpr std::size_t kLongestLine = 64u << 20;

// A connection that the server closed while it was kept alive fails at once; what took longer than
// this was under way, and is told rather than repeated.
constexpr base::Duration kBreaksAtOnce = std::chrono::seconds(1);

// One request on its way. Its callbacks run on cpprest's threads and hold only the pipe.
class Exchange {
 public:
  Exchange(web::http::client::http_client& client, web::http::http_request request,
           const std::stop_token& stop, std::function<Error(std::exception_ptr)> explain)
      : pipe_(std::make_shared<Pipe>()), on_stop_(stop, Cancel{this}) {
    const auto buffer = std::make_shared<PipeBuffer>(pipe_);
    request.set_response_stream(concurrency::streams::streambuf<uint8_t>(buffer).create_ostream());
    client.request(request, cancellation_.get_token())
        .then([pipe = pipe_, explain](const pplx::task<web::http::http_response>& answer) {
          try {
            const auto response = answer.get();
            pipe->set_head(head_of(response));
            // Only content_ready() tells how a body ended that goes to a stream of ours.
            response.content_ready().then(
                [pipe, explain](const pplx::task<web::http::http_response>& body) {
                  try {
                    body.get();
                    pipe->end();
                  } catch (...) {
                    pipe->fail(explain(std::current_exception()));
                  }
                });
          } catch (...) {
            pipe->fail(explain(std::current_exception()));
          }
        });
  }
  ~Exchange() {
    // Cancelling what is over would close a connection that the next request can use.
    if (!pipe_->is_over()) cancel();
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  void cancel() {
    pipe_->cancel();  // first: a body that waits for room must not keep the connection
    cancellation_.cancel();
  }

  Pipe& pipe() { return *pipe_; }

 private:
  struct Cancel {
    Exchange* exchange;
    void operator()() const { exchange->cancel(); }
  };

  static Response head_of(const web::http::http_response& response) {
    Response head;
    head.status = response.status_code();
    for (const auto& [name, value] : response.headers()) head.headers[name] = value;
    return head;
  }

  std::shared_ptr<Pipe> pipe_;
  pplx::cancellation_token_source cancellation_;
  std::stop_callback<Cancel> on_stop_;
};

class LineStream : public Stream {
 public:
  LineStream(std::unique_ptr<Exchange> exchange, std::string what)
      : exchange_(std::move(exchange)), what_(std::move(what)) {}

  Result<StreamRead> next(base::Duration wait) override {
    if (exchange_->pipe().is_cancelled()) {
      return Error{ErrorKind::Cancelled, cat(what_, ": the stream was cancelled")};
    }
    // A socket is waited for in real time, whatever the clock of the program.
    const base::SystemClock clock;
    const base::Duration start = clock.elapsed();
    while (true) {
      if (auto line = lines_.next()) return StreamRead{StreamRead::What::Line, std::move(*line)};
      if (lines_.carried() > kLongestLine) {
        return Error{ErrorKind::Unavailable,
                     cat(what_, ": a line of over ", kLongestLine, " bytes")};
      }
      auto piece = exchange_->pipe().read(wait - (clock.elapsed() - start));
      if (!piece) return piece.error();
      if (piece->is_end) return last();
      if (piece->bytes.empty()) return StreamRead{};
      lines_.add(piece->bytes);
    }
  }

  void cancel() override { exchange_->cancel(); }

 private:
  // A proper end may leave a last line without a newline.
  Result<StreamRead> last() {
    std::string rest = lines_.rest();
    if (rest.empty()) return StreamRead{StreamRead::What::End, {}};
    return StreamRead{StreamRead::What::Line, std::move(rest)};
  }

  const std::unique_ptr<Exchange> exchange_;
  const std::string what_;  // "GET https://host/path", for errors
  LineSplitter lines_;
};

// Finds a peer that is gone without a word: probes after 15 s of silence, gives up after three.
template <class Socket>
void set_keepalive(Socket& socket) {
  constexpr int kIdle = 15, kInterval = 5, kProbes = 3, kUserTimeoutMs = 30'000;
  const int fd = socket.native_handle();
  const auto set = [fd](int level, int name, int value) {
    ::setsockopt(fd, level, name, &value, sizeof value);
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, kIdle);
  set(IPPROTO_TCP, TCP_KEEPINTVL, kInterval);
  set(IPPROTO_TCP, TCP_KEEPCNT, kProbes);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, kUserTimeoutMs);
}

// cpprest calls this before it connects, when a new socket is not open yet. Opening it here fixes
// its family, so that is done only for an address literal; behind a name the idle timeout has to
// notice a silent peer, until the connection is used again.
void prepare_socket(void* handle, bool is_tls, bool is_ipv4_literal) {
  auto& socket = is_tls
                     ? static_cast<asio::ssl::stream<asio::ip::tcp::socket&>*>(handle)->next_layer()
                     : *static_cast<asio::ip::tcp::socket*>(handle);
  if (!socket.is_open() && is_ipv4_literal) {
    boost::system::error_code ignored;  // connecting will meet the same error and tell it
    socket.open(asio::ip::tcp::v4(), ignored);
  }
  if (socket.is_open()) set_keepalive(socket);
}

// May be sent twice with the effect of once (RFC 9110, 9.2.2; a PATCH that names final values).
bool is_repeatable(const Request& request) {
  if (request.method == "PATCH") {
    const auto type = request.headers.find("Content-Type");
    return type != request.headers.end() && (type->second == "application/apply-patch+yaml" ||
                                             type->second == "application/merge-patch+json");
  }
  return request.method == "GET" || request.method == "HEAD" || request.method == "PUT" ||
         request.method == "DELETE";
}

// A body that cannot be rewound: cpprest resends a request by itself when a kept-alive connection
// ends before the answer, a POST too, but not when it cannot rewind.
concurrency::streams::istream once_only(const std::string& body) {
  concurrency::streams::producer_consumer_buffer<uint8_t> buffer(body.size() + 1);
  buffer.putn_nocopy(reinterpret_cast<const uint8_t*>(body.data()), body.size()).wait();
  buffer.close(std::ios_base::out).wait();
  return buffer.create_istream();
}

class CpprestClient : public Client {
 public:
  CpprestClient(ClientConfig config, const base::Clock& clock)
      : config_(std::move(config)),
        clock_(clock),
        token_(config_.token, config_.token_file, clock),
        invalid_(connect()) {}
  ~CpprestClient() override { shut_down(); }

  Result<Response> send(const Request& request) override {
    const base::Duration start = clock_.elapsed();
    auto answer = exchange(request);
    const bool broke_at_once = !answer && answer.error().kind == ErrorKind::Unavailable &&
                               clock_.elapsed() - start < kBreaksAtOnce;
    return broke_at_once && is_repeatable(request) ? exchange(request) : std::move(answer);
  }

  Result<Opened> open(const Request& request) override {
    auto answer = start(streams_.get(), request);
    if (!answer) return answer.error();
    Opened opened{std::move(answer->head), nullptr};
    if (opened.response.status == 200) {
      opened.stream = std::make_unique<LineStream>(std::move(answer->exchange), name_of(request));
      return opened;
    }
    auto body = answer->exchange->pipe().read_all();
    if (!body) return body.error();
    opened.response.body = std::move(*body);
    return opened;
  }

  void shut_down() override { stop_.request_stop(); }

 private:
  using HttpClient = web::http::client::http_client;

  struct Answer {
    Response head;
    std::unique_ptr<Exchange> exchange;
  };

  // "PATCH https://10.96.0.1:443/api/v1/nodes/a": what an error is about. The query is left out, as
  // it can be long.
  [[nodiscard]] std::string name_of(const Request& request) const {
    return cat(request.method, " ", config_.base_url,
               request.target.substr(0, request.target.find('?')));
  }

  // Sets the clients up; the error when the configuration does not allow it.
  std::optional<Error> connect() {
    try {
      const web::uri base(config_.base_url);
      is_tls_ = base.scheme() == "https";
      if ((!is_tls_ && base.scheme() != "http") || base.host().empty()) {
        return unusable("use http://HOST:PORT or https://HOST:PORT");
      }
      if (base.host().front() == '[') {
        return unusable(
            "the HTTP library cannot connect to an IPv6 literal; use a name, in a cluster "
            "https://kubernetes.default.svc");
      }
      tls_ = std::make_shared<ClientTls>(
          config_, config_.server_name.empty() ? base.host() : config_.server_name);
      requests_ = std::make_unique<HttpClient>(base, settings(base, config_.request_timeout));
      streams_ = std::make_unique<HttpClient>(base, settings(base, config_.stream_idle_timeout));
      return std::nullopt;
    } catch (const web::uri_exception&) {
      return unusable("use http://HOST:PORT or https://HOST:PORT");
    } catch (const std::exception& e) {
      return unusable(e.what());
    }
  }

  [[nodiscard]] Error unusable(std::string_view reason) const {
    return {ErrorKind::Invalid, cat("API server URL \"", config_.base_url, "\": ", reason)};
  }

  web::http::client::http_client_config settings(const web::uri& base, base::Duration timeout) {
    web::http::client::http_client_config settings;
    // A redirect would carry the token to another host.
    settings.set_max_redirects(0);
    settings.set_timeout(std::chrono::duration_cast<std::chrono::microseconds>(timeout));
    settings.set_validate_certificates(!config_.insecure_skip_tls_verify);
    settings.set_ssl_context_callback(
        [tls = tls_](asio::ssl::context& context) { tls->set_up(context.native_handle()); });
    boost::system::error_code not_ipv4;
    asio::ip::make_address_v4(base.host(), not_ipv4);
    settings.set_nativehandle_options([is_tls = is_tls_, is_ipv4 = !not_ipv4](void* handle) {
      prepare_socket(handle, is_tls, is_ipv4);
    });
    return settings;
  }

  Result<Response> exchange(const Request& request) {
    auto answer = start(requests_.get(), request);
    if (!answer) return answer.error();
    auto body = answer->exchange->pipe().read_all();
    if (!body) return body.error();
    answer->head.body = std::move(*body);
    return std::move(answer->head);
  }

  // Sends the request and waits for the head of the answer; once more with a new token when the
  // server no longer takes the one we had.
  Result<Answer> start(HttpClient* client, const Request& request) {
    if (stop_.stop_requested()) {
      return Error{ErrorKind::Cancelled, cat(name_of(request), ": the client is shut down")};
    }
    if (invalid_) return *invalid_;
    auto token = token_.current();
    if (!token) return token.error();
    auto answer = start_with(*client, request, *token);
    if (!answer || answer->head.status != 401 || !token_.rejected(*token)) return answer;
    token = token_.current();
    if (!token) return token.error();
    return start_with(*client, request, *token);
  }

  Result<Answer> start_with(HttpClient& client, const Request& request, const std::string& token) {
    try {
      auto exchange = std::make_unique<Exchange>(client, message(request, token), stop_.get_token(),
                                                 explainer(client, request));
      auto head = exchange->pipe().wait_for_head();
      if (!head) return head.error();
      return Answer{std::move(*head), std::move(exchange)};
    } catch (const web::uri_exception& e) {
      return Error{ErrorKind::Invalid, cat(name_of(request), ": not a valid URI: ", e.what())};
    } catch (const std::exception& e) {
      return Error{ErrorKind::Unavailable, cat(name_of(request), ": ", e.what())};
    }
  }

  web::http::http_request message(const Request& request, const std::string& token) const {
    web::http::http_request message(request.method);
    message.set_request_uri(web::uri(request.target));
    if (!is_repeatable(request)) {
      message.set_body(once_only(request.body), request.body.size());
    } else if (!request.body.empty()) {
      message.set_body(request.body);
    }
    auto& headers = message.headers();
    const auto set = [&headers](const std::string& name, const std::string& value) {
      headers.remove(name);  // add() alone would join the two with a comma
      headers.add(name, value);
    };
    if (!config_.user_agent.empty()) set("User-Agent", config_.user_agent);
    if (!config_.server_name.empty()) set("Host", config_.server_name);  // also what TLS asks for
    if (!token.empty()) set("Authorization", "Bearer " + token);
    for (const auto& [name, value] : request.headers) set(name, value);
    return message;
  }

  // Words for what cpprest threw. Of its codes only two mean one thing: cancelled and timed out.
  std::function<Error(std::exception_ptr)> explainer(const HttpClient& client,
                                                     const Request& request) {
    const base::Duration timeout =
        &client == streams_.get() ? config_.stream_idle_timeout : config_.request_timeout;
    return [what = name_of(request), timeout, tls = tls_,
            refused = tls_->refusals().count](const std::exception_ptr& thrown) {
      try {
        std::rethrow_exception(thrown);
      } catch (const web::http::http_exception& e) {
        const int code = e.error_code().value();
        if (code == ECANCELED) return Error{ErrorKind::Cancelled, cat(what, ": cancelled")};
        if (code == ETIMEDOUT) {
          return Error{ErrorKind::Unavailable,
                       cat(what, ": nothing was heard for ", base::short_duration(timeout))};
        }
        // The library only says that the handshake failed.
        const auto refusals = tls->refusals();
        return Error{ErrorKind::Unavailable,
                     cat(what, ": ", refusals.count > refused ? refusals.last_reason : e.what())};
      } catch (const pplx::task_canceled&) {
        return Error{ErrorKind::Cancelled, cat(what, ": cancelled")};
      } catch (const std::exception& e) {
        return Error{ErrorKind::Unavailable, cat(what, ": ", e.what())};
      }
    };
  }

  const ClientConfig config_;
  const base::Clock& clock_;
  TokenSource token_;
  std::stop_source stop_;
  bool is_tls_ = false;
  std::shared_ptr<ClientTls> tls_;  // shared with connections that outlive this client
  std::unique_ptr<HttpClient> requests_;
  std::unique_ptr<HttpClient> streams_;
  const std::optional<Error> invalid_;
};

}  // namespace

std::unique_ptr<Client> make_client(ClientConfig config, const base::Clock& clock) {
  return std::make_unique<CpprestClient>(std::move(config), clock);
}

void initialize_process() {
  static std::once_flag once;
  std::call_once(once, [] {
    // cpprest loads the system's CA bundle for each connection, 18 ms of CPU, although ClientTls
    // then replaces it.
    ::setenv("SSL_CERT_FILE", "/dev/null", 1);
    ::setenv("SSL_CERT_DIR", "/nonexistent", 1);
    // The default of 40 threads costs a factor of five on a stream of small chunks.
    crossplat::threadpool::initialize_with_threads(2);
  });
}

}  // namespace cdom::http
