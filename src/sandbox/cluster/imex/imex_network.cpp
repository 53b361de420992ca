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
  imex->number_ = by_number_.size();
  by_number_.push_back(imex.get());
  return *nodes_.emplace(node, std::move(imex)).first->second;
}

Imex* ImexNetwork::at(const std::string& address) const {
  const auto found = by_address_.find(address);
  return found == by_address_.end() ? nullptr : found->second;
}

bool ImexNetwork::hear_each_other(const Imex& one, const Imex& other) const {
  return !cut_.contains(one.node_) && !cut_.contains(other.node_) &&
         split_.contains(one.node_) == split_.contains(other.node_);
}

void ImexNetwork::set_cut(const std::string& node, bool cut) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return;
  if (cut) {
    if (cut_.insert(node).second) lose_unheard(*found->second);
  } else if (cut_.erase(node) > 0) {
    heal(*found->second);
  }
}

void ImexNetwork::set_split(const std::string& node, bool split) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return;
  const bool changes = split ? split_.insert(node).second : split_.erase(node) > 0;
  if (!changes) return;
  lose_unheard(*found->second);
  heal(*found->second);
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
  if (agenda_.empty() || agenda_.begin()->first > clock_.elapsed()) return false;
  advance(*by_number_[agenda_.begin()->second]);
  return true;
}

void ImexNetwork::advance(Imex& imex) {
  Imex::Daemon& daemon = *imex.daemon_;
  if (!daemon.has_booted) return imex.boot();
  if (imex.become_ready()) return;
  const std::size_t index = daemon.agenda.begin()->second;
  const base::Duration now = clock_.elapsed();
  const auto& lost_at = daemon.links[index].lost_at;
  if (!lost_at || *lost_at > now) return attempt(imex, index);
  set_link(imex, index, {.letter = ImexLink::Recovering, .attempt_at = now});
}

std::optional<base::Duration> ImexNetwork::next_due() const {
  if (agenda_.empty()) return std::nullopt;
  return agenda_.begin()->first;
}

void ImexNetwork::plan(Imex& imex) {
  std::optional<base::Duration> due;
  const Imex::Daemon* daemon = imex.daemon_.get();
  if (daemon != nullptr && !daemon->is_hung) {
    if (!daemon->has_booted) {
      due = daemon->boots_at;
    } else {
      if (!daemon->agenda.empty()) due = daemon->agenda.begin()->first;
      if (daemon->state != ImexState::Ready && daemon->awaited.empty()) {
        due = earlier(due, daemon->ready_at);
      }
    }
  }
  if (due == imex.due_) return;
  if (imex.due_) agenda_.erase({*imex.due_, imex.number_});
  if (due) agenda_.insert({*due, imex.number_});
  imex.due_ = due;
}

void ImexNetwork::set_link(Imex& imex, std::size_t index, Imex::Link link) {
  Imex::Daemon& daemon = *imex.daemon_;
  Imex::Link& known = daemon.links[index];
  if (known.peer != link.peer) {
    const std::pair place{imex.number_, index};
    if (known.peer != nullptr) known.peer->callers_.erase(place);
    if (link.peer != nullptr) link.peer->callers_.insert(place);
    daemon.connected -= known.peer != nullptr ? 1 : 0;
    daemon.connected += link.peer != nullptr ? 1 : 0;
  }
  if (known.letter != link.letter) {
    ++imex.revision_;
    ++imex.link_changes_;
  }
  if (const auto due = known.due()) daemon.agenda.erase({*due, index});
  known = std::move(link);
  if (const auto due = known.due()) daemon.agenda.insert({*due, index});
  plan(imex);
}

void ImexNetwork::forget_links(Imex& imex) {
  for (std::size_t i = 0; i < imex.daemon_->links.size(); ++i) {
    Imex* const peer = imex.daemon_->links[i].peer;
    if (peer != nullptr) peer->callers_.erase({imex.number_, i});
  }
}

// Tables are compared at each handshake, and all daemons of a domain have the same one.
Imex::Table ImexNetwork::shared(std::vector<std::string> table) {
  std::erase_if(tables_, [](const auto& known) { return known.expired(); });
  for (const auto& known : tables_) {
    if (auto same = known.lock(); *same == table) return same;
  }
  auto fresh = std::make_shared<const std::vector<std::string>>(std::move(table));
  tables_.push_back(fresh);
  return fresh;
}

void ImexNetwork::attempt(Imex& imex, std::size_t index) {
  const Imex::Daemon& daemon = *imex.daemon_;
  const Imex::Link& link = daemon.links[index];
  const auto address = imex.address_of((*daemon.table)[index]);
  if (!address) return fail(imex, index, ImexLink::Invalid);
  Imex* callee = at(*address);
  if (callee == nullptr || !hear_each_other(imex, *callee) || !callee->daemon_ ||
      !callee->daemon_->is_answering()) {
    const bool was_connected = link.letter == ImexLink::Connected ||
                               link.letter == ImexLink::Recovering ||
                               link.letter == ImexLink::Disconnected;
    const ImexLink lost =
        link.letter == ImexLink::Disconnected ? ImexLink::Disconnected : ImexLink::Recovering;
    return fail(imex, index, was_connected ? lost : ImexLink::Never);
  }
  // Peers compare their whole node table (IMEX guide, deployment).
  if (callee->daemon_->table != daemon.table || callee->daemon_->own_index != index) {
    return fail(imex, index, ImexLink::MapMismatch);
  }
  join(imex, index, *callee);
}

void ImexNetwork::join(Imex& caller, std::size_t index, Imex& callee) {
  const auto meet = [this](Imex& one, std::size_t i, Imex& other) {
    const std::string& name = (*one.daemon_->table)[i];
    one.daemon_->awaited.erase(name);
    if (one.importing_) one.record_importer(name);
    set_link(
        one, i,
        {.letter = ImexLink::Connected, .peer = &other, .peer_instance = other.daemon_->instance});
  };
  meet(caller, index, callee);
  if (parameters_.incoming_handshake_connects) {
    meet(callee, caller.daemon_->own_index, caller);
  }
}

void ImexNetwork::fail(Imex& imex, std::size_t index, ImexLink letter) {
  const auto& steps = parameters_.back_off;
  const std::size_t failures = imex.daemon_->links[index].failures;
  set_link(imex, index,
           {.letter = letter,
            .failures = failures + 1,
            .attempt_at = clock_.elapsed() + steps[std::min(failures, steps.size() - 1)]});
}

void ImexNetwork::lose(Imex& imex, base::Duration delay) {
  const base::Duration when = clock_.elapsed() + delay;
  for_each_link(imex, [&](Imex& one, std::size_t index) { lose_link(one, index, when); });
}

void ImexNetwork::lose_unheard(Imex& imex) {
  const base::Duration when = clock_.elapsed() + parameters_.silence_notice;
  for_each_link(imex, [&](Imex& one, std::size_t index) {
    const Imex* peer = one.daemon_->links[index].peer;
    if (peer != nullptr && !hear_each_other(one, *peer)) lose_link(one, index, when);
  });
}

void ImexNetwork::lose_link(Imex& one, std::size_t index, base::Duration when) {
  Imex::Link link = one.daemon_->links[index];
  if (link.peer == nullptr || link.lost_at) return;
  link.lost_at = when;
  set_link(one, index, std::move(link));
}

void ImexNetwork::for_each_link(Imex& imex, const std::function<void(Imex&, std::size_t)>& visit) {
  for (const auto& [number, index] : imex.callers_) visit(*by_number_[number], index);
  if (!imex.daemon_) return;
  for (std::size_t i = 0; i < imex.daemon_->links.size(); ++i) visit(imex, i);
}

void ImexNetwork::say_goodbye(Imex& imex) {
  const auto callers = imex.callers_;  // each one's link leads here no more
  for (const auto& [number, index] : callers) {
    Imex& other = *by_number_[number];
    if (hear_each_other(imex, other)) fail(other, index, ImexLink::Disconnected);
  }
}

void ImexNetwork::heal(Imex& imex) {
  for_each_link(imex, [&](Imex& one, std::size_t index) {
    Imex::Link link = one.daemon_->links[index];
    if (link.peer == nullptr || !link.lost_at) return;
    const Imex& other = *link.peer;
    const bool is_whole = hear_each_other(one, other) && other.daemon_ && !one.daemon_->is_hung &&
                          !other.daemon_->is_hung && other.daemon_->instance == link.peer_instance;
    if (!is_whole) return;
    link.lost_at.reset();
    set_link(one, index, std::move(link));
  });
}

}  // namespace cdom::sandbox
