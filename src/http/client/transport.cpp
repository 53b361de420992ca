#include "http/client/transport.h"

#include <openssl/x509.h>

#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <utility>

#include "compute_domain/base/text.h"

namespace cdom::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

auto to_done(Transport::Done done) {
  return
      [done = std::move(done)](const error_code& error, std::size_t count) { done(!error, count); };
}

class PlainTransport : public Transport {
 public:
  explicit PlainTransport(tcp::socket socket) : socket_(std::move(socket)) {}

  void handshake(Done done) override { done(true, 0); }
  void read_some(asio::mutable_buffer into, Done done) override {
    socket_.async_read_some(into, to_done(std::move(done)));
  }
  void write(const std::vector<asio::const_buffer>& buffers, Done done) override {
    asio::async_write(socket_, buffers, to_done(std::move(done)));
  }
  std::string peer_common_name() override { return {}; }

 protected:
  tcp::socket& socket() override { return socket_; }

 private:
  tcp::socket socket_;
};

class TlsTransport : public Transport {
 public:
  TlsTransport(tcp::socket socket, asio::ssl::context& tls) : stream_(std::move(socket), tls) {}

  void handshake(Done done) override {
    stream_.async_handshake(asio::ssl::stream_base::server,
                            [done = std::move(done)](const error_code& error) { done(!error, 0); });
  }
  void read_some(asio::mutable_buffer into, Done done) override {
    stream_.async_read_some(into, to_done(std::move(done)));
  }
  void write(const std::vector<asio::const_buffer>& buffers, Done done) override {
    asio::async_write(stream_, buffers, to_done(std::move(done)));
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
  asio::ssl::stream<tcp::socket> stream_;
};

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

std::unique_ptr<Transport> make_transport(tcp::socket socket, asio::ssl::context* tls) {
  error_code ignored;  // only a matter of speed
  socket.set_option(tcp::no_delay(true), ignored);
  if (tls != nullptr) return std::make_unique<TlsTransport>(std::move(socket), *tls);
  return std::make_unique<PlainTransport>(std::move(socket));
}

}  // namespace cdom::http
