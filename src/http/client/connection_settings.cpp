#include "http/client/connection_settings.h"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <optional>

#include "http/client/keepalive.h"

namespace cdom::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

// cpprest calls this for each request before it connects, when a new socket is not open yet.
// Opening it here fixes its family, so that is done only for an address; behind a name the idle
// timeout has to notice a silent peer until the connection is used again.
void prepare_socket(tcp::socket& socket, const std::optional<asio::ip::address>& address) {
  if (!socket.is_open() && address) {
    boost::system::error_code ignored;  // connecting will meet the same error and tell it
    socket.open(address->is_v6() ? tcp::v6() : tcp::v4(), ignored);
  }
  if (socket.is_open()) set_keepalive(socket);
}

}  // namespace

web::http::client::http_client_config connection_settings(const web::uri& base,
                                                          const std::shared_ptr<ClientTls>& tls,
                                                          bool verify_certificates,
                                                          base::Duration idle_timeout) {
  web::http::client::http_client_config settings;
  // A redirect would carry the token to another host.
  settings.set_max_redirects(0);
  settings.set_timeout(std::chrono::duration_cast<std::chrono::microseconds>(idle_timeout));
  settings.set_validate_certificates(verify_certificates);
  settings.set_ssl_context_callback(
      [tls](asio::ssl::context& context) { tls->set_up(context.native_handle()); });
  boost::system::error_code not_an_address;
  std::optional<asio::ip::address> address = asio::ip::make_address(base.host(), not_an_address);
  if (not_an_address) address.reset();
  const bool is_tls = base.scheme() == "https";
  settings.set_nativehandle_options([is_tls, address](void* handle) {
    auto& socket = is_tls ? static_cast<asio::ssl::stream<tcp::socket&>*>(handle)->next_layer()
                          : *static_cast<tcp::socket*>(handle);
    prepare_socket(socket, address);
  });
  return settings;
}

}  // namespace cdom::http
