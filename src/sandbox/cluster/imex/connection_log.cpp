#include "sandbox/cluster/imex/connection_log.h"

#include "compute_domain/base/text.h"

namespace cdom::sandbox {
namespace {

constexpr base::Duration kLasts = std::chrono::seconds(1);

}  // namespace

void ConnectionLog::look() {
  const Look now{imex_.state(), imex_.connected_count()};
  if (changes_ > 0 && now == look_) return;
  look_ = now;
  since_ = clock_.elapsed();
  ++changes_;
}

std::optional<std::string> ConnectionLog::news(std::uint64_t& told) const {
  if (told == changes_ || clock_.elapsed() < since_ + kLasts) return std::nullopt;
  told = changes_;
  if (!look_.state) return "IMEX: the daemon does not answer\n";
  const std::vector<std::string> peers = imex_.connected_nodes();
  return base::cat("IMEX: ", name_of(*look_.state), "; connected to ", peers.size(),
                   peers.size() == 1 ? " peer" : " peers", peers.empty() ? "" : ": ",
                   base::join(peers, ", "), "\n");
}

std::optional<base::Duration> ConnectionLog::next_due() const {
  if (changes_ == 0 || clock_.elapsed() >= since_ + kLasts) return std::nullopt;
  return since_ + kLasts;
}

}  // namespace cdom::sandbox
