// ConnectionLog: what the containers of a node that have a channel print of its IMEX daemon.
//
// A change is printed once it has lasted a second: a formation costs a line, not one for each peer.
// One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "compute_domain/sandbox/imex.h"

namespace cdom::sandbox {

class ConnectionLog {
 public:
  ConnectionLog(const Imex& imex, const base::Clock& clock) : imex_(imex), clock_(clock) {}

  // Looks at the daemon, which is cheap. Counts changes from 1.
  void look();
  // "IMEX: READY; connected to 2 peers: r1n02, r1n03\n", for a container that was last told of the
  // change `told`, which then becomes the last one. nullopt: there is nothing to tell now.
  std::optional<std::string> news(std::uint64_t& told) const;
  // When what look() saw last will have lasted.
  [[nodiscard]] std::optional<base::Duration> next_due() const;

 private:
  struct Look {
    std::optional<ImexState> state;  // nullopt: nobody answers
    std::size_t connected = 0;
    friend bool operator==(const Look&, const Look&) = default;
  };

  const Imex& imex_;
  const base::Clock& clock_;
  Look look_;
  base::Duration since_{};
  std::uint64_t changes_ = 0;
};

}  // namespace cdom::sandbox
