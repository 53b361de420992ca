// Server: answers HTTP requests on a loopback or pod address with one I/O thread.
//
// A Route function gets each request and gives back a Reply: a whole response, one that comes later
// from any thread, or a stream that it goes on feeding. Routes run on the I/O thread and must not
// block for long; one that throws is answered by 500 and logged.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <variant>

#include "compute_domain/base/result.h"
#include "compute_domain/http/message.h"

namespace cdom::http {

// The sending side of a streamed reply. Thread-safe. Text is shared, so that one event can go to a
// thousand watchers without a copy.
class StreamWriter {
 public:
  virtual ~StreamWriter() = default;
  // False when the reply is over: finished, the peer gone, or so much written ahead of it (8 MiB or
  // 1,000 pieces) that its connection is broken. An empty text sends nothing.
  virtual bool write(std::shared_ptr<const std::string> text) = 0;
  // Whether less than 256 KiB and 64 pieces wait for the peer: who writes only then, and can get
  // the rest later, never writes too far ahead.
  [[nodiscard]] virtual bool has_room() const = 0;
  // Calls `on_room` once, on the I/O thread, when there is room; not once the reply is over.
  virtual void when_room(std::function<void()> on_room) = 0;
  // Ends the reply properly once all that was written has been sent.
  virtual void finish() = 0;
  // Breaks the connection in the middle, as a failing server does.
  virtual void abort() = 0;
  // Called once, on the I/O thread, when the connection ended before finish(): the peer closed it
  // or took nothing, too much was written ahead of it, abort() was called or the server stops. Set
  // it before StreamReply::start returns.
  virtual void on_closed(std::function<void()> callback) = 0;
};

struct StreamReply {
  Response head;  // status and headers; its body is ignored
  // Called once on the I/O thread, but not for HEAD, whose reply has no body.
  std::function<void(std::shared_ptr<StreamWriter>)> start;
};

// A whole response that takes a while.
struct LateReply {
  // Called once on the I/O thread with the function that takes the response: on any thread, also
  // when the peer or the server has gone meanwhile. Its first call counts, and the connection waits
  // for it without a limit.
  std::function<void(std::function<void(Response)>)> start;
};

using Reply = std::variant<Response, StreamReply, LateReply>;

struct Peer {
  std::string address;      // "127.0.0.1:43210"
  std::string common_name;  // of the client's certificate, when one was demanded
};

using Route = std::function<Reply(const Request&, const Peer&)>;

struct ServerConfig {
  // An IP address or "localhost", and a port, 0 for any; without an address on all, IPv6 and IPv4
  // (IPv4 only where there is no IPv6).
  std::string listen = "127.0.0.1:0";
  // PEM texts; plain HTTP when empty.
  std::string certificate_pem, key_pem;
  std::string client_ca_pem;  // when set, clients must show a certificate of this authority
  std::size_t body_limit = 8u << 20;
  // Connections at a time. One more takes the place of the one that has been silent the longest, so
  // that a peer that only holds connections open keeps no other peer out.
  std::size_t session_limit = 10'000;
  // The longest that a handshake or a request's header fields may take, and a body may pause.
  std::chrono::nanoseconds header_timeout = std::chrono::seconds(30);
  // Until a kept connection brings its next request, or a peer takes more of a whole response.
  std::chrono::nanoseconds idle_timeout = std::chrono::minutes(2);
  // The longest that a peer may take nothing of a stream that waits for it. However slowly it
  // takes, it is waited for.
  std::chrono::nanoseconds stall_timeout = std::chrono::seconds(10);
};

class Server {
 public:
  virtual ~Server() = default;  // stops accepting, breaks what is open, joins the thread
  // The address it listens on, with the port the system chose: "127.0.0.1:38211".
  [[nodiscard]] virtual std::string address() const = 0;
  // Runs `work` on the I/O thread after `delay`; for deadlines of streamed replies.
  virtual void run_after(std::chrono::nanoseconds delay, std::function<void()> work) = 0;
  // Shows this certificate to new connections from now on; open connections go on. Invalid:
  // the two cannot be used, or there is no TLS here, and nothing changes. Any thread.
  virtual base::Result<void> set_certificate(const std::string& certificate_pem,
                                             const std::string& key_pem) = 0;
};

// Why a server cannot show this certificate; "" when it can.
std::string mistake_in_certificate(const std::string& certificate_pem, const std::string& key_pem);

// Starts serving at once. Invalid: an address that does not parse or cannot be bound.
base::Result<std::unique_ptr<Server>> make_server(ServerConfig config, Route route);

}  // namespace cdom::http
