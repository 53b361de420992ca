#include "http/session.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <cstdio>
#include <utility>

#include "compute_domain/base/log.h"
#include "compute_domain/base/text.h"
#include "http/reply_head.h"

namespace cdom::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;

constexpr std::size_t kHeaderLimit = 64u << 10;
// Bytes read ahead of the request being answered.
constexpr std::size_t kReadAhead = 2 * kHeaderLimit;
constexpr std::size_t kPiecesPerWrite = 32;
// A whole response is written in parts of this size: a peer that takes one has made progress.
constexpr std::size_t kWholePart = 256u << 10;
constexpr std::chrono::seconds kDrainLimit{5};

std::string text(beast::string_view view) { return {view.data(), view.size()}; }

// What to tell a peer whose request does not parse.
std::pair<int, std::string> refusal_of(const beast::error_code& code) {
  using beast::http::error;
  if (code == error::body_limit) return {413, "the body is larger than this server takes"};
  if (code == error::header_limit) return {431, "the header fields are larger than 64 KiB"};
  return {400, base::cat("not a valid HTTP request: ", code.message())};
}

std::string hex(std::size_t number) {
  char digits[2 * sizeof number + 1];
  std::snprintf(digits, sizeof digits, "%zx", number);
  return digits;
}

}  // namespace

Session::Session(std::unique_ptr<Transport> transport, const SessionContext& context)
    : transport_(std::move(transport)), context_(context) {}

void Session::start() {
  peer_.address = transport_->peer_address();
  expect_progress_within(context_.config.header_timeout);
  transport_->handshake([self = shared_from_this()](bool ok, std::size_t) {
    if (!ok) return self->close();
    self->peer_.common_name = self->transport_->peer_common_name();
    self->expect_next_request();
    self->read();
  });
}

void Session::tick() {
  if (outbox_ && writing_) see_what_was_taken();
  if (ticks_left_ && --*ticks_left_ < 0) close();
}

void Session::expect_progress_within(std::chrono::nanoseconds limit) {
  ticks_left_ = limit / context_.tick + 1;
}

void Session::expect_next_request() {
  state_ = State::Receiving;
  in_request_ = continued_ = false;
  parser_.emplace();
  parser_->eager(true);
  parser_->header_limit(static_cast<std::uint32_t>(kHeaderLimit));
  parser_->body_limit(context_.config.body_limit);
  expect_progress_within(context_.config.idle_timeout);
}

void Session::close() {
  if (state_ == State::Closed) return;
  state_ = State::Closed;
  ticks_left_.reset();
  transport_->close();
  if (outbox_) std::exchange(outbox_, nullptr)->close();
  if (awaited_) std::exchange(awaited_, nullptr)->close();
  context_.forget(shared_from_this());
}

// Reading.

void Session::read() {
  if (reading_ || peer_ended_ || state_ == State::Closed || received_.size() >= kReadAhead) return;
  reading_ = true;
  transport_->read_some(asio::buffer(chunk_),
                        [self = shared_from_this()](bool ok, std::size_t count) {
                          self->reading_ = false;
                          self->received(ok, count);
                        });
}

void Session::received(bool ok, std::size_t count) {
  if (state_ == State::Closed) return;
  if (!ok) return peer_ended();
  silent_since_ = std::chrono::steady_clock::now();
  if (state_ != State::Draining) received_.append(chunk_.data(), count);
  parse();
  read();
}

// Half-closed peers still get the answers to whole requests that they sent; a watcher that closes
// is gone.
void Session::peer_ended() {
  peer_ended_ = true;
  if (state_ != State::Replying || outbox_) close();
}

void Session::parse() {
  while (state_ == State::Receiving && !received_.empty()) {
    if (!in_request_) {
      in_request_ = true;
      expect_progress_within(context_.config.header_timeout);
    }
    beast::error_code error;
    const std::size_t used = parser_->put(asio::buffer(received_), error);
    received_.erase(0, used);
    if (error && error != beast::http::error::need_more) {
      const auto [status, reason] = refusal_of(error);
      return refuse(status, reason);
    }
    if (parser_->is_done()) {
      serve();
    } else if (parser_->is_header_done()) {
      // Header fields have one limit in all, a body must only keep coming.
      expect_progress_within(context_.config.header_timeout);
      answer_expectation();
    }
    if (error || used == 0) return;  // the rest has not come yet
  }
}

void Session::answer_expectation() {
  if (continued_ || !beast::iequals(parser_->get()[beast::http::field::expect], "100-continue")) {
    return;
  }
  continued_ = true;
  pending_text_ += "HTTP/1.1 100 Continue\r\n\r\n";
  flush();
}

void Session::refuse(int status, const std::string& reason) {
  keep_alive_ = is_head_ = is_http10_ = false;
  received_.clear();
  reply(plain_text(status, reason + "\n"));
}

// Replying.

void Session::serve() {
  const Request request = take_request();
  try {
    Reply chosen = context_.route(request, peer_);
    if (auto* stream = std::get_if<StreamReply>(&chosen)) {
      start_stream(*stream);
    } else if (const auto* late = std::get_if<LateReply>(&chosen)) {
      await(*late);
    } else {
      reply(std::get<Response>(chosen));
    }
  } catch (const std::exception& e) {
    base::log_error("HTTP route failed",
                    {{"method", request.method}, {"target", request.target}, {"error", e.what()}});
    if (outbox_ || awaited_) return close();
    reply(plain_text(500, "internal error\n"));
  }
}

Request Session::take_request() {
  const bool keeps_alive = parser_->keep_alive();
  auto message = parser_->release();
  is_http10_ = message.version() < 11;
  keep_alive_ = keeps_alive && !is_http10_;
  is_head_ = message.method() == beast::http::verb::head;
  Request request;
  request.method = text(message.method_string());
  request.target = text(message.target());
  for (const auto& field : message) {
    std::string& value = request.headers[text(field.name_string())];
    if (!value.empty()) value += ", ";
    value += text(field.value());
  }
  request.body = std::move(message.body());
  return request;
}

void Session::reply(const Response& response) {
  state_ = State::Replying;
  reply_complete_ = true;
  expect_progress_within(context_.config.idle_timeout);
  pending_text_ += reply_head(response, {Framing::Body::Length, response.body.size(), keep_alive_});
  if (!is_head_ && !has_no_body(response.status)) pending_text_ += response.body;
  flush();
}

void Session::start_stream(const StreamReply& stream) {
  state_ = State::Replying;
  ticks_left_.reset();
  pending_text_ +=
      reply_head(stream.head,
                 {is_http10_ ? Framing::Body::UntilClose : Framing::Body::Chunked, 0, keep_alive_});
  reply_complete_ = is_head_;
  if (!is_head_) {
    const auto flush_later = [&io = context_.io, weak = weak_from_this()] {
      asio::post(io, [weak] {
        if (const auto self = weak.lock()) self->flush();
      });
    };
    outbox_ = std::make_shared<Outbox>(flush_later);
    stream.start(outbox_);
  }
  flush();
}

void Session::await(const LateReply& late) {
  state_ = State::Replying;
  ticks_left_.reset();
  awaited_ =
      std::make_shared<LateResponse>([&io = context_.io, weak = weak_from_this()](auto come) {
        asio::post(io, [weak, response = std::move(come)] {
          const auto self = weak.lock();
          if (!self || !self->awaited_) return;
          self->awaited_.reset();
          self->reply(response);
        });
      });
  late.start([awaited = awaited_](Response response) { awaited->give(std::move(response)); });
}

void Session::flush() {
  if (state_ == State::Closed) return;
  if (outbox_ && outbox_->is_broken()) return close();
  if (writing_) return;
  if (begun_ == writing_text_.size()) {
    writing_text_ = std::exchange(pending_text_, {});
    begun_ = 0;
    writing_pieces_.clear();
    if (outbox_) add_stream_pieces();
    if (state_ == State::Closed) return;
  }
  const bool ends_chunks = outbox_ && reply_complete_ && !is_http10_;

  std::vector<asio::const_buffer> buffers;
  const std::string_view part =
      std::string_view(writing_text_).substr(begun_, outbox_ ? std::string::npos : kWholePart);
  begun_ += part.size();
  if (!part.empty()) buffers.push_back(asio::buffer(part));
  for (const auto& piece : writing_pieces_) buffers.push_back(asio::buffer(*piece));
  if (!writing_pieces_.empty() && !is_http10_) buffers.push_back(asio::buffer("\r\n", 2));
  if (ends_chunks) buffers.push_back(asio::buffer("0\r\n\r\n", 5));
  if (buffers.empty()) {
    if (reply_complete_) reply_done();
    return;
  }
  writing_ = true;
  if (outbox_) expect_progress_within(context_.config.stall_timeout);
  transport_->write(buffers, [self = shared_from_this()](bool ok, std::size_t) {
    self->writing_ = false;
    self->written(ok);
  });
}

// All pieces of one write make one chunk.
void Session::add_stream_pieces() {
  Outbox::Batch batch = outbox_->take(kPiecesPerWrite);
  if (batch.broken) return close();
  reply_complete_ = batch.is_last;
  writing_pieces_ = std::move(batch.pieces);
  if (writing_pieces_.empty() || is_http10_) return;
  std::size_t size = 0;
  for (const auto& piece : writing_pieces_) size += piece->size();
  writing_text_ += hex(size);
  writing_text_ += "\r\n";
}

// One write may be more than a slow peer takes in the time that it may take nothing.
void Session::see_what_was_taken() {
  const std::uint64_t now = transport_->acknowledged();
  if (std::exchange(acknowledged_, now) != now) {
    expect_progress_within(context_.config.stall_timeout);
  }
}

void Session::written(bool ok) {
  if (!ok) return close();
  if (outbox_) ticks_left_.reset();
  silent_since_ = std::chrono::steady_clock::now();
  const bool is_all = begun_ == writing_text_.size();
  if (state_ == State::Replying && reply_complete_ && is_all && pending_text_.empty()) {
    return reply_done();
  }
  if (!is_all && ticks_left_) expect_progress_within(context_.config.idle_timeout);
  flush();
}

void Session::reply_done() {
  if (outbox_) std::exchange(outbox_, nullptr)->close();
  reply_complete_ = false;
  if (!keep_alive_) return drain();
  expect_next_request();
  parse();
  if (peer_ended_ && state_ == State::Receiving) return close();
  read();
}

// Closing at once would reset the connection while the peer still sends, and it might never read
// the answer.
void Session::drain() {
  if (peer_ended_) return close();
  state_ = State::Draining;
  received_.clear();
  transport_->end_sending();
  expect_progress_within(kDrainLimit);
  read();
}

}  // namespace cdom::http
