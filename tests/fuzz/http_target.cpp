// A peer of our server that sends the bytes, in pieces; and the texts that HTTP is made of.
#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <cstring>
#include <memory>
#include <string>

#include "compute_domain/base/text.h"
#include "compute_domain/http/message.h"
#include "fuzz/laws.h"
#include "http/client/stream/frame_splitter.h"
#include "http/client/stream/line_splitter.h"
#include "http/session.h"

namespace cdom::fuzz {

namespace {

using base::cat;
namespace asio = boost::asio;

// Reads come as the bytes have them, at most 61 at once; what is written is kept.
class PeerInMemory : public http::Transport {
 public:
  PeerInMemory(asio::io_context& io, std::string_view bytes, std::string& sent)
      : io_(io), bytes_(bytes), sent_(sent), socket_(io) {}

  void handshake(Done done) override {
    asio::post(io_, [done = std::move(done)] { done(true, 0); });
  }
  void read_some(asio::mutable_buffer into, Done done) override {
    const std::size_t size = std::min({bytes_.size(), into.size(), std::size_t{61}});
    if (size > 0) std::memcpy(into.data(), bytes_.data(), size);
    bytes_.remove_prefix(size);
    asio::post(io_, [done = std::move(done), size] { done(size > 0, size); });
  }
  void write(const std::vector<asio::const_buffer>& buffers, Done done) override {
    std::size_t size = 0;
    for (const asio::const_buffer& buffer : buffers) {
      sent_.append(static_cast<const char*>(buffer.data()), buffer.size());
      size += buffer.size();
    }
    asio::post(io_, [done = std::move(done), size] { done(true, size); });
  }
  std::string peer_common_name() override { return {}; }

 protected:
  asio::ip::tcp::socket& socket() override { return socket_; }

 private:
  asio::io_context& io_;
  std::string_view bytes_;
  std::string& sent_;
  asio::ip::tcp::socket socket_;
};

bool is_plain(char c) { return static_cast<unsigned char>(c) > ' ' && c != 0x7f; }

http::Reply answer(const http::Request& request) {
  require(!request.method.empty() && std::ranges::all_of(request.method, is_plain),
          "a method is a word");
  require(!request.target.empty() && std::ranges::all_of(request.target, is_plain),
          "a target is a word");
  for (const auto& [name, value] : request.headers) {
    require(!name.empty() && value.find_first_of("\r\n") == std::string::npos,
            "a field is one line");
  }
  if (!request.target.ends_with("watch=true")) return http::Response{200, {}, request.target};
  return http::StreamReply{{}, [](const std::shared_ptr<http::StreamWriter>& writer) {
                             writer->write(std::make_shared<const std::string>("{}\n"));
                             writer->finish();
                           }};
}

void serve(std::string_view bytes) {
  asio::io_context io;
  const http::ServerConfig config{.body_limit = 1024};
  std::size_t requests = 0, ends = 0;
  std::string sent;
  const http::Route route = [&](const http::Request& request, const http::Peer&) {
    ++requests;
    return answer(request);
  };
  const http::SessionContext context{io, config, route, std::chrono::seconds(1),
                                     [&](const std::shared_ptr<http::Session>&) { ++ends; }};
  {
    const auto session =
        std::make_shared<http::Session>(std::make_unique<PeerInMemory>(io, bytes, sent), context);
    session->start();
    io.run();
    session->close();
  }
  require(ends == 1, "a session ends once");
  require(requests <= bytes.size() / 4, "a request has bytes of its own");
  require(sent.empty() || sent.starts_with("HTTP/1.1 "), "what is sent is HTTP");
  require(requests == 0 || !sent.empty(), "a request has an answer");
}

// However the bytes come.
template <class Splitter>
void split(std::string_view bytes) {
  Splitter splitter, at_once;
  std::string in_pieces, whole;
  for (std::size_t at = 0; at < bytes.size(); at += 7) {
    splitter.add(bytes.substr(at, 7));
    while (const auto part = splitter.next()) in_pieces += cat(*part, "\n");
  }
  at_once.add(bytes);
  while (const auto part = at_once.next()) whole += cat(*part, "\n");
  require(in_pieces == whole && splitter.carried() == at_once.carried() &&
              splitter.rest() == at_once.rest(),
          "lines and frames are the same however they come");
}

}  // namespace

void take_http(std::string_view bytes) {
  split<http::LineSplitter>(bytes);
  split<http::FrameSplitter>(bytes);
  const std::string encoded = http::percent_encoded(bytes);
  require(http::percent_decoded(encoded, false) == bytes, "what is encoded is decoded");
  (void)http::percent_decoded(bytes, true);
  serve(bytes);
}

}  // namespace cdom::fuzz
