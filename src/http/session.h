// Session: one accepted connection, from its handshake to its end.
//
// How it goes: a read is always outstanding, so that a peer that closes is noticed; what it brings
// goes to the parser, one request at a time; the reply is queued and written, and only then is the
// next request parsed, which keeps pipelined answers in order. Everything runs on the I/O thread,
// which also calls tick() at a fixed interval: that is how a session runs out of patience with a
// peer that does not go on. It lives as long as an operation of its transport is pending.
#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute_domain/http/server.h"
#include "http/late_response.h"
#include "http/outbox.h"
#include "http/transport.h"

namespace cdom::http {

class Session;

// What all sessions of a server share.
struct SessionContext {
  boost::asio::io_context& io;
  const ServerConfig& config;
  const Route& route;
  std::chrono::nanoseconds tick;
  std::function<void(const std::shared_ptr<Session>&)> forget;  // the session has ended
};

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(std::unique_ptr<Transport> transport, const SessionContext& context);

  void start();
  void tick();
  // When the last byte came or went.
  [[nodiscard]] std::chrono::steady_clock::time_point silent_since() const { return silent_since_; }
  // Breaks the connection; open streams hear of it.
  void close();

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  enum class State {
    Receiving,  // the next request, or its first byte
    Replying,
    Draining,  // all is said; waiting for the peer to close
    Closed,
  };

  void expect_progress_within(std::chrono::nanoseconds limit);
  void expect_next_request();
  void read();
  void received(bool ok, std::size_t count);
  void peer_ended();
  void parse();
  void answer_expectation();
  void refuse(int status, const std::string& reason);
  void serve();
  Request take_request();
  void reply(const Response& response);
  void start_stream(const StreamReply& stream);
  void await(const LateReply& late);
  void flush();
  void add_stream_pieces();
  void see_what_was_taken();
  void written(bool ok);
  void reply_done();
  void drain();

  const std::unique_ptr<Transport> transport_;
  const SessionContext& context_;
  Peer peer_;
  State state_ = State::Receiving;
  std::chrono::steady_clock::time_point silent_since_ = std::chrono::steady_clock::now();
  std::optional<long> ticks_left_;  // none: no limit

  std::array<char, 16u << 10> chunk_{};  // what a pending read fills
  std::string received_;                 // not parsed yet
  std::optional<Parser> parser_;
  bool reading_ = false;
  bool peer_ended_ = false;
  bool in_request_ = false;  // its first byte has come
  bool continued_ = false;   // "100 Continue" was sent

  // Properties of the request that is being answered.
  bool keep_alive_ = true;
  bool is_head_ = false;
  bool is_http10_ = false;

  std::string pending_text_;  // heads and whole bodies, before any piece of outbox_
  std::shared_ptr<Outbox> outbox_;
  std::shared_ptr<LateResponse> awaited_;
  bool reply_complete_ = false;  // nothing is added to it after what is being written
  // What is being written; empty when nothing is.
  std::string writing_text_;
  std::size_t begun_ = 0;  // bytes of it that are written or being written
  std::vector<Outbox::Piece> writing_pieces_;
  bool writing_ = false;
  std::uint64_t acknowledged_ = 0;  // by the peer, as of the last tick of a stream that waits
};

}  // namespace cdom::http
