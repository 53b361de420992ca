#include "compute_domain/sandbox/imex.h"

#include <algorithm>

#include "compute_domain/base/text.h"
#include "sandbox/cluster/imex/imex_constants.h"
#include "sandbox/cluster/imex/imex_daemon.h"

namespace cdom::sandbox {
namespace {

bool is_address(const std::string& name) {
  return name.find_first_not_of("0123456789.") == std::string::npos ||
         name.find(':') != std::string::npos;
}

}  // namespace

std::string_view name_of(ImexState state) {
  switch (state) {
    case ImexState::Initializing:
      return "INITIALIZING";
    case ImexState::StartingAuthServer:
      return "STARTING_AUTH_SERVER";
    case ImexState::WaitingForPeers:
      return "WAITING_FOR_PEERS";
    case ImexState::WaitingForRecovery:
      return "WAITING_FOR_RECOVERY";
    case ImexState::InitGpu:
      return "INIT_GPU";
    case ImexState::Ready:
      return "READY";
    case ImexState::ShuttingDown:
      return "SHUTTING_DOWN";
    case ImexState::Unavailable:
      return "UNAVAILABLE";
  }
  return "UNAVAILABLE";
}

ImexParameters ImexParameters::documented() {
  namespace c = imex_constants;
  return {.ready_delay = c::kReadyDelay,
          .handler_delay = c::kHandlerDelay,
          .back_off = {c::kBackOff.begin(), c::kBackOff.end()},
          .signal_interval = c::kSignalInterval,
          .silence_notice = c::kSilenceNotice,
          .reset_notice = c::kResetNotice,
          .incoming_handshake_connects = c::kIncomingHandshakeConnects};
}

Imex::Imex(ImexNetwork& network, std::string node, std::string address)
    : network_(network), node_(std::move(node)), address_(std::move(address)) {}

Imex::~Imex() = default;

base::Result<std::string> Imex::start(ImexConfig config) {
  if (daemon_) {
    return base::Error{base::ErrorKind::Conflict,
                       base::cat("node ", node_, ": the IMEX session is in use by group ",
                                 daemon_->group, "; one per operating system")};
  }
  const auto own = std::find_if(config.table.begin(), config.table.end(), [&](const auto& name) {
    return address_of(name) == config.own_address;
  });
  if (own == config.table.end()) {
    return base::Error{base::ErrorKind::Invalid,
                       base::cat("node ", node_, ": no entry of the node table resolves to ",
                                 config.own_address, "; see the hosts file")};
  }
  const base::Duration now = network_.clock_.elapsed();
  daemon_ = std::make_unique<Daemon>();
  daemon_->own_index = static_cast<std::size_t>(own - config.table.begin());
  daemon_->links.resize(config.table.size());
  daemon_->group = std::move(config.group);
  daemon_->table = network_.shared(std::move(config.table));
  daemon_->instance = base::hex64(network_.random_.next());
  daemon_->boots_at = now + network_.parameters_.handler_delay;
  daemon_->ready_at = now + network_.parameters_.ready_delay;
  ++revision_;
  network_.plan(*this);
  return daemon_->instance;
}

void Imex::boot() {
  daemon_->has_booted = true;
  ++revision_;
  const auto record = records_.find(daemon_->group);
  if (record != records_.end()) {
    // "The record is keyed by the node table: if the table changed, it is dropped" (IMEX guide).
    if (record->second.table != daemon_->table) {
      records_.erase(record);
    } else {
      daemon_->awaited = record->second.importers;
    }
  }
  if (!daemon_->awaited.empty()) daemon_->state = ImexState::WaitingForRecovery;
  for (std::size_t i = 0; i < daemon_->links.size(); ++i) {
    if (i != daemon_->own_index)
      network_.set_link(*this, i, {.attempt_at = network_.clock_.elapsed()});
  }
  network_.plan(*this);
}

bool Imex::become_ready() {
  if (daemon_->state == ImexState::Ready || !daemon_->awaited.empty() ||
      network_.clock_.elapsed() < daemon_->ready_at) {
    return false;
  }
  daemon_->state = ImexState::Ready;
  ++revision_;
  network_.plan(*this);
  return true;
}

void Imex::set_hosts(std::map<std::string, std::string> address_by_name) {
  hosts_ = std::move(address_by_name);
}

std::optional<std::string> Imex::address_of(const std::string& name) const {
  const auto found = hosts_.find(name);
  if (found != hosts_.end()) return found->second;
  if (is_address(name)) return name;
  return std::nullopt;
}

void Imex::signal_usr1() {
  if (!daemon_) return;
  if (!daemon_->has_booted) return kill();  // the signal's default action
  const base::Duration now = network_.clock_.elapsed();
  if (daemon_->is_hung || (daemon_->last_signal &&
                           now - *daemon_->last_signal < network_.parameters_.signal_interval)) {
    return;
  }
  daemon_->last_signal = now;
  for (std::size_t i = 0; i < daemon_->links.size(); ++i) {
    if (i == daemon_->own_index) continue;
    Link link = daemon_->links[i];
    link.failures = 0;
    link.attempt_at = now;
    network_.set_link(*this, i, std::move(link));
  }
}

void Imex::stop() {
  if (!daemon_) return;
  if (daemon_->is_hung) {
    daemon_->is_told_to_stop = true;
    return;
  }
  records_.erase(daemon_->group);
  network_.say_goodbye(*this);
  end();
}

void Imex::kill() {
  if (!daemon_) return;
  network_.lose(*this, network_.parameters_.reset_notice);
  end();
}

void Imex::end() {
  network_.forget_links(*this);
  daemon_.reset();
  ++ends_;
  ++revision_;
  network_.plan(*this);
}

void Imex::set_hung(bool hung) {
  if (!daemon_ || daemon_->is_hung == hung) return;
  daemon_->is_hung = hung;
  ++revision_;
  network_.plan(*this);
  if (hung) {
    network_.lose(*this, network_.parameters_.silence_notice);
  } else if (daemon_->is_told_to_stop) {
    stop();
  } else {
    network_.heal(*this);
  }
}

bool Imex::is_running() const { return daemon_ != nullptr; }

std::optional<ImexView> Imex::query() const {
  if (!daemon_ || !daemon_->is_answering()) return std::nullopt;
  ImexView view{daemon_->state, daemon_->instance, {}};
  view.peers.reserve(daemon_->links.size());
  for (std::size_t i = 0; i < daemon_->links.size(); ++i) {
    if (i == daemon_->own_index) continue;
    view.peers.push_back({(*daemon_->table)[i], i, daemon_->links[i].letter});
  }
  return view;
}

std::optional<ImexState> Imex::state() const {
  if (!daemon_ || !daemon_->is_answering()) return std::nullopt;
  return daemon_->state;
}

std::size_t Imex::connected_count() const { return daemon_ ? daemon_->connected : 0; }

std::vector<std::string> Imex::connected_nodes() const {
  std::vector<std::string> names;
  if (!daemon_) return names;
  for (const Link& link : daemon_->links) {
    if (link.peer != nullptr) names.push_back(link.peer->node_);
  }
  std::sort(names.begin(), names.end());
  return names;
}

void Imex::set_importing(bool importing) {
  importing_ = importing;
  if (!importing || !daemon_) return;
  for (std::size_t i = 0; i < daemon_->links.size(); ++i) {
    if (daemon_->links[i].letter == ImexLink::Connected) record_importer((*daemon_->table)[i]);
  }
}

void Imex::record_importer(const std::string& name) {
  Record& record = records_[daemon_->group];
  record.table = daemon_->table;
  record.importers.insert(name);
}

std::vector<std::string> Imex::record(const std::string& group) const {
  const auto found = records_.find(group);
  if (found == records_.end()) return {};
  return {found->second.importers.begin(), found->second.importers.end()};
}

void Imex::remove_record(const std::string& group) { records_.erase(group); }

}  // namespace cdom::sandbox
