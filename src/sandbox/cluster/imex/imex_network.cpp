#include <algorithm>
#include <stdexcept>

#include "compute_domain/base/text.h"
#include "compute_domain/sandbox/imex.h"
#include "sandbox/cluster/imex/imex_constants.h"
#include "sandbox/cluster/imex/imex_daemon.h"
#include "sandbox/cluster/part.h"

namespace cdom::sandbox {

ImexNetwork::ImexNetwork(const base::Clock& clock, base::Random random, ImexParameters parameters)
    : clock_(clock), random_(random), parameters_(std::move(parameters)) {}

ImexNetwork::~ImexNetwork() = default;

Imex& ImexNetwork::add_node(const std::string& node, const std::string& address) {
  auto imex = std::make_unique<Imex>(*this, node, address);
  if (!by_address_.emplace(address, imex.get()).second || nodes_.contains(node)) {
    throw std::logic_error(
        base::cat("IMEX network: node ", node, " or address ", address, " exists already"));
  }
  return *nodes_.emplace(node, std::move(imex)).first->second;
}

Imex* ImexNetwork::at(const std::string& address) const {
  const auto found = by_address_.find(address);
  return found == by_address_.end() ? nullptr : found->second;
}

bool ImexNetwork::hear_each_other(const Imex& one, const Imex& other) const {
  return !cut_.contains(one.node_) && !cut_.contains(other.node_);
}

void ImexNetwork::set_cut(const std::string& node, bool cut) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return;
  if (cut) {
    if (cut_.insert(node).second) lose(*found->second, parameters_.silence_notice);
  } else if (cut_.erase(node) > 0) {
    heal(*found->second);
  }
}

void ImexNetwork::power_off(const std::string& node) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return;
  Imex& imex = *found->second;
  set_cut(node, true);
  imex.records_.clear();
  imex.importing_ = false;
  imex.hosts_.clear();
  if (imex.daemon_) imex.end();
}

bool ImexNetwork::step() {
  if (is_quiet_ && (!wake_ || clock_.elapsed() < *wake_)) return false;
  for (auto& [name, imex] : nodes_) {
    if (advance(*imex)) return true;
  }
  wake_ = next_due();
  is_quiet_ = true;
  return false;
}

bool ImexNetwork::advance(Imex& imex) {
  Imex::Daemon* daemon = imex.daemon_.get();
  if (daemon == nullptr || daemon->is_hung) return false;
  const base::Duration now = clock_.elapsed();
  if (!daemon->has_booted) {
    if (now < daemon->boots_at) return false;
    imex.boot();
    return true;
  }
  if (imex.become_ready()) return true;
  for (std::size_t i = 0; i < daemon->links.size(); ++i) {
    Imex::Link& link = daemon->links[i];
    if (link.lost_at && *link.lost_at <= now) {
      link = Imex::Link{};
      link.letter = ImexLink::Recovering;
      link.attempt_at = now;
      return true;
    }
    if (link.attempt_at && *link.attempt_at <= now) {
      attempt(imex, i);
      return true;
    }
  }
  return false;
}

std::optional<base::Duration> ImexNetwork::next_due() const {
  std::optional<base::Duration> due;
  for (const auto& [name, imex] : nodes_) {
    const Imex::Daemon* daemon = imex->daemon_.get();
    if (daemon == nullptr || daemon->is_hung) continue;
    if (!daemon->has_booted) {
      due = earlier(due, daemon->boots_at);
      continue;
    }
    if (daemon->state != ImexState::Ready && daemon->awaited.empty()) {
      due = earlier(due, daemon->ready_at);
    }
    for (const Imex::Link& link : daemon->links) {
      due = earlier(due, earlier(link.lost_at, link.attempt_at));
    }
  }
  return due;
}

void ImexNetwork::attempt(Imex& imex, std::size_t index) {
  Imex::Daemon& daemon = *imex.daemon_;
  Imex::Link& link = daemon.links[index];
  const auto address = imex.address_of(daemon.config.table[index]);
  if (!address) return fail(link, ImexLink::Invalid);
  Imex* callee = at(*address);
  if (callee == nullptr || !hear_each_other(imex, *callee) || !callee->daemon_ ||
      !callee->daemon_->is_answering()) {
    const bool was_connected = link.letter == ImexLink::Connected ||
                               link.letter == ImexLink::Recovering ||
                               link.letter == ImexLink::Disconnected;
    const ImexLink lost =
        link.letter == ImexLink::Disconnected ? ImexLink::Disconnected : ImexLink::Recovering;
    return fail(link, was_connected ? lost : ImexLink::Never);
  }
  // Peers compare their whole node table (IMEX guide, deployment).
  if (callee->daemon_->config.table != daemon.config.table || callee->daemon_->own_index != index) {
    return fail(link, ImexLink::MapMismatch);
  }
  join(imex, index, *callee);
}

void ImexNetwork::join(Imex& caller, std::size_t index, Imex& callee) {
  const auto meet = [](Imex& one, std::size_t i, Imex& other) {
    Imex::Link link;
    link.letter = ImexLink::Connected;
    link.peer = &other;
    link.peer_instance = other.daemon_->instance;
    one.daemon_->links[i] = std::move(link);
    const std::string& name = one.daemon_->config.table[i];
    one.daemon_->awaited.erase(name);
    if (one.importing_) one.record_importer(name);
  };
  meet(caller, index, callee);
  if (parameters_.incoming_handshake_connects) {
    meet(callee, caller.daemon_->own_index, caller);
  }
}

void ImexNetwork::fail(Imex::Link& link, ImexLink letter) {
  link.letter = letter;
  link.peer = nullptr;
  link.lost_at.reset();
  const auto& steps = parameters_.back_off;
  link.attempt_at = clock_.elapsed() + steps[std::min(link.failures, steps.size() - 1)];
  ++link.failures;
}

void ImexNetwork::lose(Imex& imex, base::Duration delay) {
  is_quiet_ = false;
  const base::Duration when = clock_.elapsed() + delay;
  const auto mark = [&](Imex::Link& link) {
    if (link.peer != nullptr && !link.lost_at) link.lost_at = when;
  };
  for (auto& [name, other] : nodes_) {
    if (!other->daemon_ || other.get() == &imex) continue;
    for (Imex::Link& link : other->daemon_->links) {
      if (link.peer == &imex) mark(link);
    }
  }
  if (imex.daemon_) std::for_each(imex.daemon_->links.begin(), imex.daemon_->links.end(), mark);
}

void ImexNetwork::say_goodbye(Imex& imex) {
  is_quiet_ = false;
  for (auto& [name, other] : nodes_) {
    if (!other->daemon_ || other.get() == &imex || !hear_each_other(imex, *other)) continue;
    for (Imex::Link& link : other->daemon_->links) {
      if (link.peer == &imex) fail(link, ImexLink::Disconnected);
    }
  }
}

void ImexNetwork::heal(Imex& imex) {
  is_quiet_ = false;
  const auto is_whole = [&](const Imex& one, const Imex::Link& link) {
    const Imex& other = *link.peer;
    return hear_each_other(one, other) && other.daemon_ && !one.daemon_->is_hung &&
           !other.daemon_->is_hung && other.daemon_->instance == link.peer_instance;
  };
  for (auto& [name, other] : nodes_) {
    if (!other->daemon_) continue;
    for (Imex::Link& link : other->daemon_->links) {
      const bool concerns = link.peer == &imex || (other.get() == &imex && link.peer != nullptr);
      if (concerns && is_whole(*other, link)) link.lost_at.reset();
    }
  }
}

}  // namespace cdom::sandbox
