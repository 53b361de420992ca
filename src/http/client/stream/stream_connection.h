// StreamConnection: a connection of its own for one GET whose answer may go on for long, as a watch
// does.
//
// cpprest takes two tasks of its pool for each chunk; here a read takes whatever the socket has,
// and Boost.Beast's parser cuts it. Everything runs on the given thread; it lives as long as an
// operation of its is pending.
#pragma once

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/optional.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "compute_domain/base/clock.h"
#include "http/client/client_tls.h"
#include "http/pipe.h"
#include "http/transport.h"

namespace cdom::http {

// Where a client connects, and how.
struct Destination {
  std::string host, port;
  std::string server_name;         // which TLS asks for; empty: an address
  std::shared_ptr<ClientTls> tls;  // null: plain HTTP
  bool verifies = true;            // the server's certificate
};

// The part of a body that has come and has not been passed on. Beast's own makes room at once for
// as much as a server says will come.
struct ArrivedBody {
  using value_type = std::string;

  class reader {  // NOLINT(readability-identifier-naming): Beast's name
   public:
    template <class Head>
    reader(const Head& /*head*/, value_type& body) : body_(body) {}
    void init(const boost::optional<std::uint64_t>& /*length*/, boost::system::error_code& error) {
      error = {};
    }
    template <class Buffers>
    std::size_t put(const Buffers& buffers, boost::system::error_code& error) {
      error = {};
      std::size_t size = 0;
      for (auto it = boost::asio::buffer_sequence_begin(buffers);
           it != boost::asio::buffer_sequence_end(buffers); ++it) {
        const boost::asio::const_buffer part = *it;
        body_.append(static_cast<const char*>(part.data()), part.size());
        size += part.size();
      }
      return size;
    }
    void finish(boost::system::error_code& error) { error = {}; }

   private:
    value_type& body_;
  };
};

// What is asked there.
struct Question {
  std::string what;             // the request, for errors: "GET https://host/path"
  std::string head;             // its text, with the empty line
  base::Duration idle_timeout;  // when nothing has moved for so long, it breaks off
  base::Duration rest{};        // Request::rest
};

class StreamConnection : public std::enable_shared_from_this<StreamConnection> {
 public:
  StreamConnection(boost::asio::io_context& io, Destination to, Question question,
                   std::shared_ptr<Pipe> pipe);

  // From any thread. What is pending after close() is dropped.
  void start();
  void close();

 private:
  using Error = boost::system::error_code;
  using Tcp = boost::asio::ip::tcp;
  using Parser = boost::beast::http::response_parser<ArrivedBody>;

  void resolve();
  void connect(const Tcp::resolver::results_type& endpoints);
  void secure();
  void send();
  void read();
  void read_after_rest();
  void received(bool ok, std::size_t count);
  void peer_ended();
  void expect_answer();
  // Takes what it can of `bytes`, and keeps the rest in received_; what is wrong with it.
  Error parse(std::string_view bytes);
  void tell_head();
  void wait_for_silence();
  void moved() { moved_at_ = std::chrono::steady_clock::now(); }
  void fail(std::string_view problem);
  void end();
  void break_off();

  boost::asio::io_context& io_;
  const Destination to_;
  const Question question_;
  const std::shared_ptr<Pipe> pipe_;

  bool is_over_ = false;
  Tcp::resolver resolver_;
  Tcp::socket socket_;  // until it has become part of transport_
  std::optional<boost::asio::ssl::context> tls_;
  std::unique_ptr<Transport> transport_;
  std::chrono::steady_clock::time_point moved_at_ = std::chrono::steady_clock::now();
  boost::asio::steady_timer silence_, rest_;

  std::array<char, 64u << 10> chunk_{};  // what a pending read fills
  std::string received_;                 // not parsed yet
  std::optional<Parser> parser_;
  bool has_given_head_ = false;
  std::size_t since_rest_ = 0;  // bytes
};

}  // namespace cdom::http
