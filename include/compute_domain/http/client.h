// Client: sends requests to one server, and opens streams of lines or frames.
//
// The one interface through which this project speaks HTTP: make_client() gives the real thing,
// tests and the sandbox bring in-memory ones. Implementations are thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/result.h"
#include "compute_domain/http/message.h"

namespace cdom::http {

// What one read of a stream gave.
struct StreamRead {
  enum class What {
    Line,  // `line` is the next line or frame, without its newline or length, until the next call
    Nothing,  // none came within the wait
    End,      // the server ended the stream properly
  };
  What what = What::Nothing;
  std::string_view line;
};

// The body of one long response, line by line, or frame by frame where its media type is a stream
// of protobuf. next() is for one thread; cancel() for any.
class Stream {
 public:
  virtual ~Stream() = default;
  // Waits at most `wait` (zero: not at all). Unavailable when the connection broke or nothing moved
  // for longer than the client's idle timeout: the server was silent, or 128 KiB waited here to be
  // read. Cancelled after cancel().
  virtual base::Result<StreamRead> next(base::Duration wait) = 0;
  virtual void cancel() = 0;
};

// What open() gave: a stream when the status is 200, else the server's answer.
struct Opened {
  Response response;               // status and headers; with a body when `stream` is empty
  std::unique_ptr<Stream> stream;  // set exactly when response.status is 200
};

class Client {
 public:
  virtual ~Client() = default;
  // One exchange. An answer of any status is a value, also one whose body is too long; an Error
  // means that no answer came: Unavailable (transport, timeout), Invalid (a base URL or target that
  // cannot be used) or Cancelled (the client is shutting down). When the connection breaks at once,
  // as a kept-alive one does that the server has closed, a request goes out again if that cannot do
  // its work twice: GET, HEAD, PUT, DELETE, an apply or merge PATCH, and any of which the body was
  // not yet sent.
  virtual base::Result<Response> send(const Request& request) = 0;
  virtual base::Result<Opened> open(const Request& request) = 0;
  // Ends what is in flight and refuses what comes later.
  virtual void shut_down() = 0;
};

// Where and how to connect. Files are read again for each new connection, the token file once a
// minute and after a 401, so that rotation needs no restart.
struct ClientConfig {
  std::string base_url;         // "https://10.96.0.1:443", "http://127.0.0.1:8001"
  std::string server_name;      // for certificate and SNI when not the host of base_url
  std::string ca_file, ca_pem;  // PEM; only these CAs are trusted
  std::string certificate_file, certificate_pem;  // of the client, with its chain
  std::string key_file, key_pem;
  std::string token_file, token;  // bearer token
  bool insecure_skip_tls_verify = false;
  std::string user_agent;
  // Name and value of fields that each request has, a line each: a name may come twice. The values
  // have no control characters.
  std::vector<std::pair<std::string, std::string>> fields;
  // Idle time of an exchange, and the longest time until a stream is open.
  base::Duration request_timeout = std::chrono::seconds(10);
  base::Duration stream_idle_timeout = std::chrono::seconds(120);
  // Called on any thread when Stream::next() may have something new, for who reads several streams
  // on one thread; also by a stream that is just being cancelled, and after the client's end.
  std::function<void()> on_stream_news;
};

// The real client. Call initialize_process() first in main.
std::unique_ptr<Client> make_client(ClientConfig config, const base::Clock& clock);

// Once, before any other use of this module and before any thread: sizes the library's thread pool
// (two threads), keeps the system's CA bundle from being loaded for each connection, and raises the
// limit of open files.
void initialize_process();

}  // namespace cdom::http
