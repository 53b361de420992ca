// Keepalive: how a peer that vanished is found.
#pragma once

#include <boost/asio/ip/tcp.hpp>

namespace cdom::http {

// Probes after 15 s of silence, gives up after three.
void set_keepalive(boost::asio::ip::tcp::socket& socket);

}  // namespace cdom::http
