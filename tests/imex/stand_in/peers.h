// Peers: the connections of the stand-in daemon with the others of its table.
//
// Every daemon dials every other; one connection of either direction makes both sides connected.
// The caller sends its version, both indices, its instance and its whole table; the callee answers
// OK, MAP or VERSION, and both show their credentials. BYE says that a daemon shuts down. PING and
// PONG find who has fallen silent.
#pragma once

#include <poll.h>

#include <functional>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "imex/stand_in/credentials.h"
#include "imex/stand_in/daemon_log.h"
#include "imex/stand_in/parameters.h"
#include "imex/stand_in/socket.h"

namespace cdom::stand_in {

class Peers {
 public:
  using Connected = std::function<void(std::size_t index)>;
  Peers(const Parameters& parameters, const DaemonLog& log, std::size_t own_index,
        std::string instance, Connected on_connect);

  void add_to(std::vector<pollfd>& polled) const;
  void serve(const std::vector<pollfd>& polled, base::Duration now);
  void step(base::Duration now);
  [[nodiscard]] std::optional<base::Duration> next_due() const;

  // SIGUSR1: reads the credentials and dials all again.
  void redial(base::Duration now);
  void say_goodbye();
  [[nodiscard]] char letter(std::size_t index) const { return links_[index].letter; }

 private:
  struct Link {
    char letter = 'N';
    Socket out, in;
    bool is_dialling = false, is_up = false;  // of `out`
    std::string instance;                     // of the peer, as of the last handshake
    std::size_t failures = 0, meetings = 0;
    base::Duration heard{}, pinged{};
    std::optional<base::Duration> attempt_at, lost_at, clean_at;
  };
  struct Guest {  // has connected and not yet said who it is
    Socket socket;
    base::Duration since;
  };

  void dial(std::size_t index, base::Duration now);
  void fail(Link& link, char letter, base::Duration now);
  void meet(std::size_t index, const std::string& instance, base::Duration now);
  void lose(Link& link, base::Duration now);
  void read_out(std::size_t index, base::Duration now);
  void read_in(std::size_t index, base::Duration now);
  void hear(Link& link, const Socket& socket, const std::string& line, base::Duration now);
  [[nodiscard]] bool is_stranger(const std::string& proof, const std::string& instance,
                                 Credentials::Role own) const;
  // False: the guest has to go, or has become a link.
  bool greet(Guest& guest, base::Duration now);
  static bool is_live(const Link& link) { return link.is_up || link.in; }

  const Parameters& parameters_;
  const DaemonLog& log_;
  const std::size_t own_index_;
  const std::string instance_, table_;
  const Connected on_connect_;
  Credentials credentials_;
  Socket listener_;
  std::vector<Link> links_;
  std::list<Guest> guests_;
};

}  // namespace cdom::stand_in
