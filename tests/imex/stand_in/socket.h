// Socket: a TCP connection that is read and written in lines, without waiting.
#pragma once

#include <optional>
#include <string>

namespace cdom::stand_in {

class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket();
  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&& other) noexcept;

  static Socket listen(const std::string& address, int port);  // ends the program on failure
  static Socket listen_on(const std::string& path);            // a unix socket; the same
  // Begins to connect, from `own`.
  static Socket connect(const std::string& own, const std::string& address, int port);
  [[nodiscard]] Socket accept() const;

  [[nodiscard]] int fd() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  // Whether a connect that has ended was a success.
  [[nodiscard]] bool is_connected() const;
  void send(const std::string& text) const;
  // Takes what has come; false at the end of the connection.
  bool receive();
  // The next whole line.
  std::optional<std::string> line();

 private:
  int fd_ = -1;
  std::string bytes_;
};

}  // namespace cdom::stand_in
