// Peers that speak bytes, for what a well-behaved client or server never does.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <thread>

namespace cdom::http {

// A connected TCP socket. Every wait ends after kPatience; what fails gives an empty text.
class RawConnection {
 public:
  explicit RawConnection(int fd);
  RawConnection(RawConnection&& other) noexcept;
  RawConnection& operator=(RawConnection&&) = delete;
  ~RawConnection();

  // To the loopback address of the family of `address`: "127.0.0.1:PORT", "[::1]:PORT".
  static RawConnection to(const std::string& address);

  bool send(std::string_view bytes) const;
  // Up to and with `mark`; the rest stays for the next read.
  std::string read_until(std::string_view mark);
  // All up to the end of the connection, or to its reset.
  std::string read_all();
  // The same with little room here, and a millisecond after each 16 KiB.
  std::string read_all_slowly();
  // Head and body of one request that has a Content-Length or no body.
  std::string read_request();
  // Tells the peer that nothing more comes.
  void end_sending() const;

 private:
  bool fill();

  int fd_;
  std::string received_;
};

// A server that runs `script` for each connection, in a thread of its own, and closes the
// connection when the script returns. Its end waits for the scripts.
class RawServer {
 public:
  explicit RawServer(std::function<void(RawConnection&)> script);
  ~RawServer();
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;

  [[nodiscard]] std::string url() const;

 private:
  int listening_;
  std::jthread thread_;
};

}  // namespace cdom::http
