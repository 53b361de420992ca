// Transport: the socket of one connection, plain or TLS behind one interface, so that the code
// above it is compiled once. For the I/O thread only.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cdom::http {

class Transport {
 public:
  // `count` bytes were moved; `ok` is false when the connection has ended or broken: problem().
  using Done = std::function<void(bool ok, std::size_t count)>;

  virtual ~Transport() = default;
  virtual void handshake(Done done) = 0;
  virtual void read_some(boost::asio::mutable_buffer into, Done done) = 0;
  // The same, and what has come behind it, as far as it fits; of who waits to write nothing.
  virtual void read_what_came(boost::asio::mutable_buffer into, Done done) {
    read_some(into, std::move(done));
  }
  // Writes all of `buffers`, whose memory has to stay until `done`.
  virtual void write(const std::vector<boost::asio::const_buffer>& buffers, Done done) = 0;
  // What the last operation that was not ok has met.
  [[nodiscard]] const boost::system::error_code& problem() const { return problem_; }
  // Common name of the certificate that the peer showed; empty when none was asked for.
  [[nodiscard]] virtual std::string peer_common_name() = 0;

  // Tells the peer that nothing more comes; reading goes on.
  void end_sending();
  // Ends all that is pending; every `done` is still called.
  void close();
  // "127.0.0.1:43210".
  [[nodiscard]] std::string peer_address();
  // Bytes that the peer's machine has taken so far: what is written may wait for it in the kernel.
  [[nodiscard]] std::uint64_t acknowledged();
  // From now on the thread is woken only for so many bytes at least, for which the kernel makes
  // room, when that room runs out, or by the connection's end. A read takes what there is, and
  // waits for so many where there is nothing. 1 at first.
  void wake_for(int bytes);
  // Bytes that the kernel keeps for the reader at most, its own accounts included.
  [[nodiscard]] std::size_t room();

 protected:
  virtual boost::asio::ip::tcp::socket& socket() = 0;
  [[nodiscard]] auto telling(Done done) {
    return
        [this, done = std::move(done)](const boost::system::error_code& error, std::size_t count) {
          if (error) problem_ = error;
          done(!error, count);
        };
  }

 private:
  boost::system::error_code problem_;
};

// The transport of an accepted connection, with TLS when `tls` is not null.
std::unique_ptr<Transport> make_transport(boost::asio::ip::tcp::socket socket,
                                          boost::asio::ssl::context* tls);
// The transport of a connection to a server. TLS asks for `server_name`, unless it is empty.
std::unique_ptr<Transport> make_client_transport(boost::asio::ip::tcp::socket socket,
                                                 boost::asio::ssl::context* tls,
                                                 const std::string& server_name);

}  // namespace cdom::http
