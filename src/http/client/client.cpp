#include "compute_domain/http/client.h"

#include <cpprest/http_client.h>

#include <algorithm>
#include <mutex>
#include <stop_token>
#include <utility>

#include "compute_domain/base/text.h"
#include "http/client/attempt.h"
#include "http/client/client_tls.h"
#include "http/client/connection_settings.h"
#include "http/client/exchange.h"
#include "http/client/stream/split_stream.h"
#include "http/client/stream/stream_exchange.h"
#include "http/client/token_source.h"

namespace cdom::http {
namespace {

using base::cat;
using base::Error;
using base::ErrorKind;
using base::Result;

// A connection that the server closed while it was kept alive fails at once. A request that took
// longer than this was under way: its error is returned, and it is not repeated.
constexpr base::Duration kBreaksAtOnce = std::chrono::seconds(1);
// For an answer of which something comes now and then.
constexpr base::Duration kLongestAnswer = std::chrono::hours(1);

// The library resolves an IPv6 address and checks the certificate for it only in this form, in
// which the port has to be there.
web::uri without_brackets(const web::uri& base, const std::string& address) {
  const int port = base.port() > 0 ? base.port() : base.scheme() == "https" ? 443 : 80;
  return web::uri(cat(base.scheme(), "://", address, ":", port, base.resource().to_string()));
}

// Kubernetes' media type of a watch in protobuf.
bool comes_in_frames(const Response& head) {
  const auto type = head.headers.find("Content-Type");
  return type != head.headers.end() &&
         type->second.starts_with("application/vnd.kubernetes.protobuf") &&
         type->second.find("stream=watch") != std::string::npos;
}

std::unique_ptr<Stream> parts_of(std::unique_ptr<ResponseSource> answer, const Response& head,
                                 std::string what) {
  if (comes_in_frames(head)) {
    return std::make_unique<SplitStream<FrameSplitter>>(std::move(answer), std::move(what));
  }
  return std::make_unique<SplitStream<LineSplitter>>(std::move(answer), std::move(what));
}

// Requests by cpprest, streams by Beast.
class MixedClient : public Client {
 public:
  MixedClient(ClientConfig config, const base::Clock& clock)
      : config_(std::move(config)),
        token_(config_.token, config_.token_file, clock),
        invalid_(connect()) {}
  ~MixedClient() override { shut_down(); }

  Result<Response> send(const Request& request) override {
    auto answer = start(Way::Whole, request);
    if (!answer) return answer.error();
    return whole(*answer, request, kLongestAnswer);
  }

  Result<Opened> open(const Request& request) override {
    auto answer = start(Way::Streamed, request);
    if (!answer) return answer.error();
    Opened opened;
    if (answer->head.status == 200) {
      opened.response = std::move(answer->head);
      opened.stream = parts_of(std::move(answer->exchange), opened.response, name_of(request));
      return opened;
    }
    // A request that is not a stream may not be idle for as long as a stream.
    auto response = whole(*answer, request, config_.request_timeout);
    if (!response) return response.error();
    opened.response = *std::move(response);
    return opened;
  }

  void shut_down() override { stop_.request_stop(); }

 private:
  using HttpClient = web::http::client::http_client;

  enum class Way { Whole, Streamed };
  struct Answer {
    Response head;
    std::unique_ptr<ResponseSource> exchange;
  };

  // The answer with its body, of which no more is read than is wanted.
  Result<Response> whole(Answer& answer, const Request& request, base::Duration wait) const {
    auto body = answer.exchange->pipe().read_all(
        request.most_bytes, wait,
        {ErrorKind::Unavailable,
         cat(name_of(request), ": status ", answer.head.status, ", and not the whole answer for ",
             base::short_duration(wait))});
    if (!body) return body.error();
    answer.head.is_too_long = !*body;
    if (*body) answer.head.body = **std::move(body);
    return std::move(answer.head);
  }

  // "PATCH https://10.96.0.1:443/api/v1/nodes/a": what an error is about. The query is left out, as
  // it can be long.
  [[nodiscard]] std::string name_of(const Request& request) const {
    return cat(request.method, " ", without_user(config_.base_url),
               request.target.substr(0, request.target.find('?')));
  }

  // Sets the clients up; the error when the configuration does not allow it.
  std::optional<Error> connect() {
    try {
      web::uri url(config_.base_url);
      if ((url.scheme() != "https" && url.scheme() != "http") || url.host().empty()) {
        return unusable("use http://HOST:PORT or https://HOST:PORT");
      }
      if (url.host().front() == '[') {
        const std::string address = url.host().substr(1, url.host().size() - 2);
        if (!base::is_ip_address(address)) return unusable("the host is not an IPv6 address");
        url = without_brackets(url, address);
        if (url.scheme() == "http") host_field_ = cat('[', address, "]:", url.port());
      }
      constexpr int kMostPort = 65535;
      if (url.port() > kMostPort) return unusable("the port is above 65535");
      tls_ = std::make_shared<ClientTls>(
          config_, config_.server_name.empty() ? url.host() : config_.server_name);
      requests_ = std::make_unique<HttpClient>(
          url, connection_settings(url, tls_, !config_.insecure_skip_tls_verify,
                                   config_.request_timeout));
      set_destination(url);
      return std::nullopt;
    } catch (const web::uri_exception&) {
      return unusable("use http://HOST:PORT or https://HOST:PORT");
    } catch (const std::exception& e) {
      return unusable(e.what());
    }
  }

  // For streams, which need no pool of connections: each has its own for as long as it lasts.
  void set_destination(const web::uri& url) {
    const bool is_tls = url.scheme() == "https";
    to_.host = url.host();
    to_.port = std::to_string(url.port() > 0 ? url.port() : is_tls ? 443 : 80);
    if (is_tls) to_.tls = tls_;
    to_.verifies = !config_.insecure_skip_tls_verify;
    const std::string& name = config_.server_name.empty() ? to_.host : config_.server_name;
    if (!base::is_ip_address(name)) to_.server_name = name;
    const bool is_ipv6 = to_.host.find(':') != std::string::npos;
    authority_ = cat(is_ipv6 ? "[" : "", to_.host, is_ipv6 ? "]" : "",
                     url.port() > 0 ? cat(":", url.port()) : "");
    base_path_ = url.path() == "/" ? "" : url.path();
  }

  [[nodiscard]] Error unusable(std::string_view reason) const {
    return {ErrorKind::Invalid,
            cat("API server URL \"", without_user(config_.base_url), "\": ", reason)};
  }

  // Sends the request and waits for the head of the answer; once more with a new token when the
  // server no longer takes the one we had.
  Result<Answer> start(Way way, const Request& request) {
    if (stop_.stop_requested()) {
      return Error{ErrorKind::Cancelled, cat(name_of(request), ": the client is shut down")};
    }
    if (invalid_) return *invalid_;
    auto token = token_.current();
    if (!token) return token.error();
    auto answer = start_with(way, request, *token);
    if (!answer || answer->head.status != 401 || !token_.rejected(*token)) return answer;
    token = token_.current();
    if (!token) return token.error();
    return start_with(way, request, *token);
  }

  Result<Answer> start_with(Way way, const Request& request, const std::string& token) {
    try {
      const Headers extra = extra_headers(token);
      if (way == Way::Streamed) return streamed_answer_to(request, extra);
      const base::SystemClock clock;
      const base::Duration start = clock.elapsed();
      const Attempt first(request, extra, config_.fields);
      auto answer = answer_to(first, request);
      const bool broke_at_once =
          !answer && answer.error().kind == ErrorKind::Unavailable &&
          clock.elapsed() - start < std::min(kBreaksAtOnce, config_.request_timeout);
      if (!broke_at_once || !first.may_be_repeated()) return answer;
      return answer_to(Attempt(request, extra, config_.fields), request);
    } catch (const web::uri_exception& e) {
      return Error{ErrorKind::Invalid, cat(name_of(request), ": not a valid URI: ", e.what())};
    } catch (const std::exception& e) {
      return Error{ErrorKind::Unavailable, cat(name_of(request), ": ", e.what())};
    }
  }

  Result<Answer> answer_to(const Attempt& attempt, const Request& request) {
    // The library ends an exchange that is idle, of which waiting for the head is a part.
    return answer_of(
        std::make_unique<Exchange>(*requests_, attempt.message(),
                                   Explainer(name_of(request), config_.request_timeout, tls_),
                                   stop_.get_token()),
        request, base::Duration::max());
  }

  Result<Answer> streamed_answer_to(const Request& request, const Headers& extra) {
    (void)web::uri(request.target);  // throws
    // A stream may be idle for longer than anybody should wait for its head.
    Question question{.what = name_of(request),
                      .head = head_text(request, extra),
                      .idle_timeout = config_.stream_idle_timeout,
                      .rest = request.rest};
    return answer_of(std::make_unique<StreamExchange>(io_thread(), to_, std::move(question),
                                                      stop_.get_token(), config_.on_stream_news),
                     request, config_.request_timeout);
  }

  Result<Answer> answer_of(std::unique_ptr<ResponseSource> exchange, const Request& request,
                           base::Duration wait) {
    auto head = exchange->pipe().wait_for_head(wait);
    if (!head) {
      return Error{ErrorKind::Unavailable, cat(name_of(request), ": no answer for ",
                                               base::short_duration(config_.request_timeout))};
    }
    if (!*head) return head->error();
    return Answer{std::move(**head), std::move(exchange)};
  }

  // The one thread of all streams, once there is one.
  std::shared_ptr<IoThread> io_thread() {
    const std::lock_guard lock(mutex_);
    if (!io_thread_) io_thread_ = std::make_shared<IoThread>();
    return io_thread_;
  }

  // A request without a body as it goes over the wire.
  [[nodiscard]] std::string head_text(const Request& request, const Headers& extra) const {
    Headers headers = request.headers;
    headers.insert(extra.begin(), extra.end());
    headers.insert({"Host", authority_});
    headers.insert({"Connection", "close"});
    std::string text = cat(request.method, " ", base_path_, request.target, " HTTP/1.1\r\n");
    const auto add_line = [&text](const std::string& name, std::string value) {
      std::ranges::replace_if(
          value, [](unsigned char c) { return c < ' '; }, ' ');
      text += cat(name, ": ", value, "\r\n");
    };
    for (const auto& [name, value] : headers) add_line(name, value);
    for (const auto& [name, value] : config_.fields) add_line(name, value);
    return text + "\r\n";
  }

  [[nodiscard]] Headers extra_headers(const std::string& token) const {
    Headers headers;
    if (!config_.user_agent.empty()) headers["User-Agent"] = config_.user_agent;
    // Also the name that TLS asks for and checks.
    const std::string& host = config_.server_name.empty() ? host_field_ : config_.server_name;
    if (!host.empty()) headers["Host"] = host;
    if (!token.empty()) headers["Authorization"] = "Bearer " + token;
    return headers;
  }

  const ClientConfig config_;
  TokenSource token_;
  std::stop_source stop_;
  std::shared_ptr<ClientTls> tls_;  // shared with connections that outlive this client
  std::string host_field_;          // where the library would write it wrong
  std::unique_ptr<HttpClient> requests_;
  Destination to_;
  std::string authority_, base_path_;
  std::mutex mutex_;
  std::shared_ptr<IoThread> io_thread_;  // shared with streams that outlive this client
  const std::optional<Error> invalid_;
};

}  // namespace

std::unique_ptr<Client> make_client(ClientConfig config, const base::Clock& clock) {
  return std::make_unique<MixedClient>(std::move(config), clock);
}

}  // namespace cdom::http
