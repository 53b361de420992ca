#include "http/transport.h"

#include <openssl/x509.h>

#include <boost/asio/post.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <utility>

#include "compute_domain/base/text.h"
#include "http/acknowledged.h"

namespace cdom::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

class PlainTransport : public Transport {
 public:
  explicit PlainTransport(tcp::socket socket) : socket_(std::move(socket)) {}

  void handshake(Done done) override { done(true, 0); }
  void read_some(asio::mutable_buffer into, Done done) override {
    socket_.async_read_some(into, telling(std::move(done)));
  }
  void write(const std::vector<asio::const_buffer>& buffers, Done done) override {
    asio::async_write(socket_, buffers, telling(std::move(done)));
  }
  std::string peer_common_name() override { return {}; }

 protected:
  tcp::socket& socket() override { return socket_; }

 private:
  tcp::socket socket_;
};

class TlsTransport : public Transport {
 public:
  using Side = asio::ssl::stream_base::handshake_type;

  TlsTransport(tcp::socket socket, asio::ssl::context& tls, Side side,
               const std::string& server_name = {})
      : side_(side), stream_(std::move(socket), tls) {
    if (!server_name.empty()) {
      SSL_set_tlsext_host_name(stream_.native_handle(), server_name.c_str());
    }
  }

  void handshake(Done done) override {
    stream_.async_handshake(
        side_, [tell = telling(std::move(done))](const error_code& error) { tell(error, 0); });
  }
  void read_some(asio::mutable_buffer into, Done done) override {
    stream_.async_read_some(into, telling(std::move(done)));
  }
  void read_what_came(asio::mutable_buffer into, Done done) override {
    if (late_) {
      asio::post(stream_.get_executor(), [tell = telling(std::move(done)),
                                          error = std::exchange(late_, {})] { tell(error, 0); });
      return;
    }
    read_some(into, [this, into, done = std::move(done)](bool ok, std::size_t count) {
      done(ok, ok ? count + take_what_came(into + count) : count);
    });
  }
  void write(const std::vector<asio::const_buffer>& buffers, Done done) override {
    asio::async_write(stream_, buffers, telling(std::move(done)));
  }
  std::string peer_common_name() override {
    const std::unique_ptr<X509, void (*)(X509*)> certificate(
        SSL_get1_peer_certificate(stream_.native_handle()), X509_free);
    char name[256] = "";
    if (certificate) {
      X509_NAME_get_text_by_NID(X509_get_subject_name(certificate.get()), NID_commonName, name,
                                sizeof name);
    }
    return name;
  }

 protected:
  tcp::socket& socket() override { return stream_.next_layer(); }

 private:
  // A read gives one record, which often is what the peer has written in one piece of 4 KiB.
  std::size_t take_what_came(asio::mutable_buffer into) {
    std::size_t taken = 0;
    error_code error;
    stream_.next_layer().non_blocking(true, error);
    while (!error && into.size() > 0) {
      const std::size_t count = stream_.read_some(into, error);
      into += count;
      taken += count;
    }
    if (error != asio::error::would_block) late_ = error;
    return taken;
  }

  const Side side_;
  asio::ssl::stream<tcp::socket> stream_;
  error_code late_;  // met behind what was given last
};

void send_at_once(tcp::socket& socket) {
  error_code ignored;  // only a matter of speed
  socket.set_option(tcp::no_delay(true), ignored);
}

}  // namespace

void Transport::end_sending() {
  error_code ignored;  // a peer that is gone already
  socket().shutdown(tcp::socket::shutdown_send, ignored);
}

void Transport::close() {
  error_code ignored;  // what cannot be closed is closed already
  socket().close(ignored);
}

std::string Transport::peer_address() {
  error_code gone;
  const auto peer = socket().remote_endpoint(gone);
  if (gone) return {};
  const std::string address = peer.address().to_string();
  return peer.address().is_v6() ? base::cat("[", address, "]:", peer.port())
                                : base::cat(address, ":", peer.port());
}

void Transport::wake_for(int bytes) {
  error_code ignored;  // only a matter of speed
  socket().set_option(tcp::socket::receive_low_watermark(bytes), ignored);
}

std::size_t Transport::room() {
  tcp::socket::receive_buffer_size size;
  error_code unknown;
  socket().get_option(size, unknown);
  return unknown ? 0 : static_cast<std::size_t>(size.value());
}

std::uint64_t Transport::acknowledged() { return acknowledged_bytes(socket().native_handle()); }

std::unique_ptr<Transport> make_transport(tcp::socket socket, asio::ssl::context* tls) {
  send_at_once(socket);
  if (tls == nullptr) return std::make_unique<PlainTransport>(std::move(socket));
  return std::make_unique<TlsTransport>(std::move(socket), *tls, asio::ssl::stream_base::server);
}

std::unique_ptr<Transport> make_client_transport(tcp::socket socket, asio::ssl::context* tls,
                                                 const std::string& server_name) {
  send_at_once(socket);
  if (tls == nullptr) return std::make_unique<PlainTransport>(std::move(socket));
  return std::make_unique<TlsTransport>(std::move(socket), *tls, asio::ssl::stream_base::client,
                                        server_name);
}

}  // namespace cdom::http
