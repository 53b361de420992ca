#include "http/client/stream/stream_connection.h"

#include <fcntl.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/error.hpp>
#include <limits>
#include <utility>

#include "compute_domain/base/text.h"
#include "http/client/keepalive.h"

namespace cdom::http {
namespace {

namespace asio = boost::asio;
namespace beast_http = boost::beast::http;
using base::cat;

constexpr std::uint32_t kLongestHead = 64u << 10;
constexpr base::Duration kRestOfTheBusy = std::chrono::milliseconds(10);
// The kernel makes room for what it is to wake somebody for (tcp(7): tcp_rmem): a quarter of a
// second of the heartbeats of 100,000 nodes.
constexpr int kRoomToRest = 1 << 20;

}  // namespace

StreamConnection::StreamConnection(asio::io_context& io, Destination to, Question question,
                                   std::shared_ptr<Pipe> pipe)
    : io_(io),
      to_(std::move(to)),
      question_(std::move(question)),
      pipe_(std::move(pipe)),
      resolver_(io),
      socket_(io),
      silence_(io),
      rest_(io) {}

void StreamConnection::start() {
  asio::post(io_, [self = shared_from_this()] {
    if (self->is_over_) return;
    self->wait_for_silence();
    self->resolve();
  });
}

void StreamConnection::close() {
  asio::post(io_, [self = shared_from_this()] { self->break_off(); });
}

void StreamConnection::resolve() {
  const auto flags = Tcp::resolver::numeric_service | Tcp::resolver::address_configured;
  Error not_an_address;
  const auto address = asio::ip::make_address(to_.host, not_an_address);
  if (!not_an_address) {
    const auto port = static_cast<unsigned short>(std::stoi(to_.port));
    return connect(
        Tcp::resolver::results_type::create(Tcp::endpoint(address, port), to_.host, to_.port));
  }
  resolver_.async_resolve(
      to_.host, to_.port, flags,
      [self = shared_from_this()](const Error& error, const Tcp::resolver::results_type& found) {
        if (self->is_over_) return;
        if (error) {
          return self->fail(cat("cannot resolve ", self->to_.host, ": ", error.message()));
        }
        self->connect(found);
      });
}

void StreamConnection::connect(const Tcp::resolver::results_type& endpoints) {
  asio::async_connect(socket_, endpoints,
                      [self = shared_from_this()](const Error& error, const Tcp::endpoint&) {
                        if (self->is_over_) return;
                        if (error) {
                          return self->fail(cat("cannot connect to ", self->to_.host, " port ",
                                                self->to_.port, ": ", error.message()));
                        }
                        ::fcntl(self->socket_.native_handle(), F_SETFD, FD_CLOEXEC);
                        set_keepalive(self->socket_);
                        self->moved();
                        self->secure();
                      });
}

void StreamConnection::secure() {
  std::uint64_t refusals_before = 0;
  try {
    if (to_.tls) {
      tls_.emplace(asio::ssl::context::tls_client);
      tls_->set_verify_mode(to_.verifies ? asio::ssl::verify_peer : asio::ssl::verify_none);
      to_.tls->set_up(tls_->native_handle());
      refusals_before = to_.tls->refusals().count;
    }
    transport_ =
        make_client_transport(std::move(socket_), tls_ ? &*tls_ : nullptr, to_.server_name);
  } catch (const std::exception& e) {
    return fail(e.what());
  }
  transport_->handshake([self = shared_from_this(), refusals_before](bool ok, std::size_t) {
    if (self->is_over_) return;
    if (ok) return self->send();
    // For a refused certificate the library says only that the handshake failed.
    const auto refusals = self->to_.tls->refusals();
    self->fail(refusals.count > refusals_before
                   ? refusals.last_reason
                   : cat("TLS handshake: ", self->transport_->problem().message()));
  });
}

void StreamConnection::send() {
  moved();
  transport_->write({asio::buffer(question_.head)},
                    [self = shared_from_this()](bool ok, std::size_t) {
                      if (self->is_over_) return;
                      if (!ok) return self->fail(self->transport_->problem().message());
                      self->expect_answer();
                      self->moved();
                      self->read();
                    });
}

void StreamConnection::read() {
  transport_->read_what_came(asio::buffer(chunk_),
                             [self = shared_from_this()](bool ok, std::size_t count) {
                               if (!self->is_over_) self->received(ok, count);
                             });
}

void StreamConnection::received(bool ok, std::size_t count) {
  if (!ok) return peer_ended();
  moved();
  const std::string_view arrived(chunk_.data(), count);
  if (!received_.empty()) received_ += arrived;
  const Error problem = parse(received_.empty() ? arrived : std::string_view(received_));
  // What came before it is good.
  std::string& body = parser_->get().body();
  const bool goes_on = body.empty() || pipe_->hand_over(body);
  if (problem) return fail(cat("not an answer of HTTP: ", problem.message()));
  if (parser_->is_done()) return end();
  since_rest_ += count;
  if (goes_on) return count < chunk_.size() ? read_after_rest() : read();
  pipe_->when_room([self = shared_from_this()] {
    asio::post(self->io_, [self] {
      if (self->is_over_) return;
      self->moved();
      self->read();
    });
  });
}

// What comes meanwhile waits in the kernel. Asio has epoll watch a socket also while nobody reads
// it, so the socket is set to wake it for much only.
void StreamConnection::read_after_rest() {
  if (!has_given_head_ || question_.rest <= base::Duration::zero()) return read();
  // As much as the kernel may have had room for, half of which it takes itself: who sends it waits.
  // That room grows while it is read.
  const std::size_t much = std::min<std::size_t>(transport_->room() / 2, kRoomToRest) * 3 / 4;
  const bool is_busy = std::exchange(since_rest_, 0) > much;
  rest_.expires_after(is_busy ? std::min(question_.rest, kRestOfTheBusy) : question_.rest);
  transport_->wake_for(kRoomToRest);
  rest_.async_wait([self = shared_from_this()](const Error& error) {
    if (error || self->is_over_) return;
    self->transport_->wake_for(1);
    self->read();
  });
}

void StreamConnection::peer_ended() {
  const Error& problem = transport_->problem();
  if (problem != asio::error::eof && problem != asio::ssl::error::stream_truncated) {
    return fail(problem.message());
  }
  Error error;
  // Where only its end tells how long an answer is, TLS has to say that this is the end.
  if (has_given_head_ && problem == asio::error::eof) parser_->put_eof(error);
  if (has_given_head_ && !error && parser_->is_done()) return end();
  fail(has_given_head_ ? "the connection ended in the middle of the answer"
                       : "the connection ended before an answer");
}

StreamConnection::Error StreamConnection::parse(std::string_view bytes) {
  Error error;
  while (!error && !bytes.empty() && !parser_->is_done()) {
    bytes.remove_prefix(parser_->put(asio::buffer(bytes), error));
    if (!parser_->is_header_done() || has_given_head_) continue;
    if (parser_->get().result_int() / 100 == 1) {
      expect_answer();  // the one that is meant comes after it
    } else {
      tell_head();
    }
  }
  received_ = std::string(bytes);
  // What waits for its end is a line between chunks, or behind the last one.
  if (received_.size() > kLongestHead) return beast_http::error::header_limit;
  return error == beast_http::error::need_more ? Error{} : error;
}

void StreamConnection::expect_answer() {
  parser_.emplace();
  parser_->eager(true);
  parser_->header_limit(kLongestHead);
  // None: to it any length is longer.
  parser_->body_limit(std::numeric_limits<std::uint64_t>::max());
}

void StreamConnection::tell_head() {
  has_given_head_ = true;
  Response head;
  head.status = static_cast<int>(parser_->get().result_int());
  for (const auto& field : parser_->get()) {
    head.headers[std::string(field.name_string())] = std::string(field.value());
  }
  pipe_->set_head(std::move(head));
}

// Looks at its clock now and then, rather than be set again by each read.
void StreamConnection::wait_for_silence() {
  silence_.expires_at(moved_at_ + question_.idle_timeout);
  silence_.async_wait([self = shared_from_this()](const Error& error) {
    if (error || self->is_over_) return;
    if (std::chrono::steady_clock::now() < self->moved_at_ + self->question_.idle_timeout) {
      return self->wait_for_silence();
    }
    self->fail(cat("nothing was heard for ", base::short_duration(self->question_.idle_timeout)));
  });
}

void StreamConnection::fail(std::string_view problem) {
  if (is_over_) return;
  pipe_->fail({base::ErrorKind::Unavailable, cat(question_.what, ": ", problem)});
  break_off();
}

void StreamConnection::end() {
  pipe_->end();
  break_off();
}

void StreamConnection::break_off() {
  if (std::exchange(is_over_, true)) return;
  Error ignored;  // what cannot be closed is closed already
  resolver_.cancel();
  silence_.cancel(ignored);
  rest_.cancel(ignored);
  if (transport_) {
    transport_->close();
  } else {
    socket_.close(ignored);
  }
}

}  // namespace cdom::http
