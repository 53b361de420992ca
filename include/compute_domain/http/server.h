// Server: answers HTTP requests on a loopback or pod address with one I/O thread.
//
// A Route function gets each request and gives back a Reply: a whole response, or a stream that it
// goes on feeding from any thread. Routes run on the I/O thread and must not block for long.
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
  // False when the peer is gone or has fallen too far behind (8 MiB or 1,000 pieces): stop writing.
  virtual bool write(std::shared_ptr<const std::string> text) = 0;
  // Ends the reply properly once all that was written has been sent.
  virtual void finish() = 0;
  // Breaks the connection in the middle, as a failing server does.
  virtual void abort() = 0;
  // Called once, on the I/O thread, when the peer closed the connection. Set it before returning
  // from the route.
  virtual void on_closed(std::function<void()> callback) = 0;
};

struct StreamReply {
  Response head;  // status and headers; its body is ignored
  std::function<void(std::shared_ptr<StreamWriter>)> start;
};

using Reply = std::variant<Response, StreamReply>;

struct Peer {
  std::string address;  // "127.0.0.1:43210"
};

using Route = std::function<Reply(const Request&, const Peer&)>;

struct ServerConfig {
  std::string listen = "127.0.0.1:0";
  // PEM texts; plain HTTP when empty.
  std::string certificate_pem, key_pem;
  std::size_t body_limit = 8u << 20;
};

class Server {
 public:
  virtual ~Server() = default;  // stops accepting, breaks what is open, joins the thread
  // The address it listens on, with the port the system chose: "127.0.0.1:38211".
  [[nodiscard]] virtual std::string address() const = 0;
  // Runs `work` on the I/O thread after `delay`; for deadlines of streamed replies.
  virtual void run_after(std::chrono::nanoseconds delay, std::function<void()> work) = 0;
};

// Starts serving at once. Invalid: an address that does not parse or cannot be bound.
base::Result<std::unique_ptr<Server>> make_server(ServerConfig config, Route route);

}  // namespace cdom::http
