#include "imex/main/imex_probe.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "compute_domain/base/descriptor.h"
#include "compute_domain/base/text.h"
#include "compute_domain/imex/protocol.h"

namespace cdom::program {

using base::cat;

std::string probe_imex(const std::string& socket_path, base::Duration patience) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_path.size() >= sizeof address.sun_path) return cat(socket_path, " is too long");
  std::memcpy(address.sun_path, socket_path.c_str(), socket_path.size() + 1);
  const base::Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket ||
      connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return cat("cannot connect to ", socket_path, ": ", std::generic_category().message(errno));
  }
  const base::SystemClock clock;
  const base::Duration end = clock.elapsed() + patience;
  imex::LineBuffer lines;
  for (;;) {
    while (const auto line = lines.next()) {
      const auto notice = imex::decode_notice(*line);
      if (!notice) continue;
      // Its loop says that to whoever connects, unasked, so that a probe leaves no line in its log.
      if (std::holds_alternative<imex::Hello>(*notice)) return "";
      const auto* reply = std::get_if<imex::Reply>(&*notice);
      if (reply != nullptr && reply->error) return reply->error->message;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - clock.elapsed()).count();
    pollfd news{.fd = socket.get(), .events = POLLIN, .revents = 0};
    if (left <= 0 || poll(&news, 1, static_cast<int>(left)) <= 0) {
      return cat("no answer on ", socket_path);
    }
    char block[4096];
    const ssize_t got = recv(socket.get(), block, sizeof block, 0);
    if (got <= 0) return cat("no answer on ", socket_path, ": the connection has ended");
    lines.add({block, static_cast<std::size_t>(got)});
  }
}

}  // namespace cdom::program
