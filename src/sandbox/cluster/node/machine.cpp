#include "sandbox/cluster/node/machine.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "compute_domain/base/log.h"
#include "compute_domain/base/text.h"

namespace cdom::sandbox {
namespace {

using std::chrono::seconds;

constexpr base::Duration kAgentRestart = seconds(1);
constexpr base::Duration kRetry = seconds(1);
constexpr base::Duration kSliceWipe = seconds(30);
constexpr base::Duration kSlowApiLag = seconds(2);
constexpr char kAgentApp[] = "compute-domain-agent";
// A node has few pods at a time, and one process plays thousands of nodes.
constexpr std::size_t kRememberedEvents = 128;

}  // namespace

Machine::Machine(Informers& informers, ImexNetwork& network, const base::Clock& clock,
                 base::Random random, MachineConfig config, const ClusterPorts& ports)
    : clock_(clock),
      random_(random),
      config_(std::move(config)),
      ports_(ports),
      network_(network),
      imex_(network.add_node(config_.description.name, config_.description.address)),
      uplink_(ports.component_client(base::cat("system:node:", config_.description.name)), clock,
              base::Random(random_.next())),
      client_(uplink_, clock, "kubelet"),
      objects_(client_),
      pods_(informers.of(kPods)),
      recorder_(client_, clock,
                {.component = "kubelet",
                 .instance = config_.description.name,
                 .seed = random_.next(),
                 .host = config_.description.name,
                 .remembered = kRememberedEvents}),
      registration_(client_, informers, clock, recorder_, config_.description),
      kubelet_(client_, informers, clock, base::Random(random_.next()),
               {config_.description.name, config_.description.address, config_.pod_network,
                config_.resource_version, ports.log},
               imex_, recorder_),
      writes_(clock),
      agent_key_{config_.node_namespace, base::cat(kAgentApp, "-", config_.description.name)},
      clique_now_(config_.description.clique) {
  power_on();
}

Machine::~Machine() = default;

void Machine::power_on() {
  boot_id_ = random_.uuid();
  files_.tmpfs.clear();
  network_.set_cut(name(), is_imex_cut());
  uplink_.set_cut(faults_.contains(Fault::Partition));
  registration_.boot(boot_id_);
  kubelet_.boot();
  agent_due_ = clock_.elapsed();
  wipe_due_ = clock_.elapsed();
  follow_network();
}

void Machine::power_off() {
  stop_agent();
  kubelet_.power_off();
  registration_.power_off();
  network_.power_off(name());
  uplink_.set_cut(true);
}

void Machine::stop_agent() {
  kubelet_.set_plugin(nullptr);
  agent_.reset();
  agent_uplink_.reset();
}

void Machine::follow_network() {
  const bool is_cut = faults_.contains(Fault::Partition);
  const auto lag = faults_.contains(Fault::SlowApi) ? kSlowApiLag : base::Duration::zero();
  registration_.set_frozen(is_cut);
  kubelet_.set_frozen(is_cut);
  if (!agent_uplink_) return;
  agent_uplink_->set_cut(is_cut);
  agent_uplink_->set_lag(lag);
}

std::string Machine::fabric_error() const {
  return faults_.contains(Fault::FabricError)
             ? "GPU 0 cannot be asked: GPU is lost: see nvidia-smi on the node and the kernel log"
             : "";
}

bool Machine::is_fabric_unhealthy() const { return faults_.contains(Fault::FabricUnhealthy); }

// As the IMEX supervisor says it of a real node.
std::string Machine::cannot_start() const {
  return faults_.contains(Fault::ImexForeign)
             ? "another IMEX daemon runs on this node, nvidia-imex -c /etc/nvidia-imex/config.cfg "
               "(pid 812): systemctl disable --now nvidia-imex.service && systemctl mask "
               "nvidia-imex.service"
             : "";
}

bool Machine::is_imex_cut() const {
  return faults_.contains(Fault::Partition) || faults_.contains(Fault::ImexCut);
}

void Machine::strike_daemon(Fault fault) {
  if (!imex_.is_running()) {
    of_next_daemon_.insert(fault);
  } else if (fault == Fault::ImexKill) {
    imex_.kill();
  } else {
    imex_.set_hung(true);
  }
}

void Machine::inject(Fault fault) {
  if (!faults_.insert(fault).second) return;
  switch (fault) {
    case Fault::PowerOff:
      return power_off();
    case Fault::ImexKill:
    case Fault::ImexHang:
      return strike_daemon(fault);
    case Fault::AgentCrash:
      stop_agent();
      return kubelet_.set_ready(agent_key_, false);
    case Fault::Partition:
      network_.set_cut(name(), true);
      uplink_.set_cut(true);
      return follow_network();
    case Fault::SlowApi:
      return follow_network();
    case Fault::WatchCut:
      if (agent_uplink_) agent_uplink_->break_streams();
      return;
    case Fault::ImexCut:
      return network_.set_cut(name(), true);
    case Fault::ImexSplit:
      return network_.set_split(name(), true);
    case Fault::FabricError:  // is read
    case Fault::FabricUnhealthy:
    case Fault::ImexForeign:
      return;
  }
}

void Machine::heal(Fault fault) {
  if (faults_.erase(fault) == 0) return;
  of_next_daemon_.erase(fault);
  switch (fault) {
    case Fault::PowerOff:
      return power_on();
    case Fault::ImexHang:
      return imex_.set_hung(false);
    case Fault::AgentCrash:
      agent_due_ = clock_.elapsed() + kAgentRestart;
      return;
    case Fault::Partition:
      if (faults_.contains(Fault::PowerOff)) return;
      network_.set_cut(name(), is_imex_cut());
      uplink_.set_cut(false);
      return follow_network();
    case Fault::ImexCut:
      if (!faults_.contains(Fault::PowerOff)) network_.set_cut(name(), is_imex_cut());
      return;
    case Fault::ImexSplit:
      return network_.set_split(name(), false);
    case Fault::SlowApi:
      return follow_network();
    case Fault::ImexKill:
    case Fault::WatchCut:
    case Fault::FabricError:
    case Fault::FabricUnhealthy:
    case Fault::ImexForeign:
      return;
  }
}

bool Machine::is_up() const {
  return registration_.is_registered() && (!ports_.agent || agent_ != nullptr);
}

bool Machine::step() {
  if (faults_.contains(Fault::PowerOff)) return false;
  if (!of_next_daemon_.empty() && imex_.is_running()) {
    for (const Fault fault : std::exchange(of_next_daemon_, {})) strike_daemon(fault);
    return true;
  }
  const bool is_cut = faults_.contains(Fault::Partition);
  if (!is_cut && recorder_.step()) return true;
  if (registration_.step() || kubelet_.step()) return true;
  if (agent_ && agent_->step()) return true;
  if (is_cut) return false;
  return wipe_slices() || keep_agent();
}

std::optional<base::Duration> Machine::next_due() const {
  if (faults_.contains(Fault::PowerOff)) return std::nullopt;
  auto due = earlier(registration_.next_due(), kubelet_.next_due());
  due = earlier(due, earlier(wipe_due_, writes_.next_due()));
  if (!faults_.contains(Fault::Partition)) due = earlier(due, recorder_.next_due());
  if (agent_) return earlier(due, agent_->next_due());
  return agent_due_ > clock_.elapsed() ? earlier(due, agent_due_) : due;
}

bool Machine::wipe_slices() {
  if (!wipe_due_ || clock_.elapsed() < *wipe_due_ || !registration_.is_registered()) return false;
  wipe_due_.reset();
  const api::Kind served = in_version(kSlices, config_.resource_version);
  const auto slices =
      objects_.list(served, {.field_selector = base::cat("spec.nodeName=", name())});
  if (!slices) {
    wipe_due_ = clock_.elapsed() + kRetry;
    return true;
  }
  for (const json& slice : *slices) {
    const auto gone = objects_.remove(served, key_of(slice), {.uid = uid_of(slice)});
    if (!gone && gone.error().kind == base::ErrorKind::Unavailable) {
      wipe_due_ = clock_.elapsed() + kRetry;
    }
  }
  return true;
}

bool Machine::keep_agent() {
  if (!ports_.agent || agent_ || !registration_.is_registered()) return false;
  if (faults_.contains(Fault::AgentCrash) || clock_.elapsed() < agent_due_) return false;
  if (!pods_.has_synced() || !writes_.all_seen()) return false;
  const ObjectPtr pod = pods_.find(agent_key_);
  if (!pod) return create_agent_pod();
  return kubelet_.is_running(agent_key_) && start_agent(*pod);
}

base::Result<json> Machine::compose_agent_pod() {
  json pod{
      {"metadata",
       {{"namespace", agent_key_.ns}, {"name", agent_key_.name}, {"labels", {{"app", kAgentApp}}}}},
      {"spec",
       {{"nodeName", name()},
        {"hostNetwork", true},
        {"serviceAccountName", config_.agent_service_account},
        {"priorityClassName", "system-node-critical"},
        {"tolerations", json::array({{{"operator", "Exists"}}})},
        {"containers",
         json::array({{{"name", "agent"}, {"image", "compute-domain-agent:sandbox"}}})}}}};
  if (config_.agent_daemon_set.empty()) return pod;
  const auto owner = objects_.get(kDaemonSets, {agent_key_.ns, config_.agent_daemon_set});
  // Without it there are no pods of its.
  if (!owner) return owner.error();
  pod["metadata"]["ownerReferences"] = json::array({{{"apiVersion", api_version_of(kDaemonSets)},
                                                     {"kind", kDaemonSets.kind},
                                                     {"name", config_.agent_daemon_set},
                                                     {"uid", uid_of(*owner)},
                                                     {"controller", true},
                                                     {"blockOwnerDeletion", true}}});
  // By its image one sees of which version of the DaemonSet a pod is.
  pod["spec"]["containers"][0]["image"] = at(*owner, "/spec/template/spec/containers/0/image");
  return pod;
}

bool Machine::create_agent_pod() {
  const auto pod = compose_agent_pod();
  if (!pod) {
    agent_due_ = clock_.elapsed() + kRetry;
    return true;
  }
  auto made = objects_.create(kPods, *pod);
  if (made) {
    writes_.note(pods_, *made);
  } else {
    base::log_debug("cannot make the agent's pod",
                    {{"node", name()}, {"error", made.error().message}});
    agent_due_ = clock_.elapsed() + kRetry;
  }
  return true;
}

bool Machine::start_agent(const json& pod) {
  auto client = ports_.agent_client(
      {agent_key_.ns, agent_key_.name, uid_of(pod), name(), config_.agent_service_account});
  if (!client) {
    base::log_debug("no client for the agent",
                    {{"node", name()}, {"error", client.error().message}});
    agent_due_ = clock_.elapsed() + kRetry;
    return true;
  }
  agent_uplink_ =
      std::make_unique<Uplink>(*std::move(client), clock_, base::Random(random_.next()));
  follow_network();
  auto agent = ports_.agent({.node = name(),
                             .boot_id = boot_id_,
                             .clique = config_.description.clique,
                             .address = config_.description.address,
                             .clock = clock_,
                             .seed = random_.next(),
                             .api = *agent_uplink_,
                             .imex = imex_,
                             .files = files_,
                             .kubelet_claims = [this] { return kubelet_.claims(); },
                             .clique_now = [this] { return clique_now_; },
                             .fabric_error = [this] { return fabric_error(); },
                             .is_fabric_unhealthy = [this] { return is_fabric_unhealthy(); },
                             .cannot_start = [this] { return cannot_start(); }});
  if (!agent) {
    base::log_debug("the agent does not start",
                    {{"node", name()}, {"error", agent.error().message}});
    agent_uplink_.reset();
    agent_due_ = clock_.elapsed() + kRetry;
    return true;
  }
  agent_ = *std::move(agent);
  kubelet_.set_plugin(agent_.get());
  kubelet_.set_ready(agent_key_, true);
  wipe_due_.reset();
  return true;
}

}  // namespace cdom::sandbox
