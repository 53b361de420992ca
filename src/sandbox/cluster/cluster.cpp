#include "compute_domain/sandbox/cluster.h"

#include <cstdio>
#include <map>
#include <stdexcept>

#include "compute_domain/base/text.h"
#include "sandbox/cluster/control_plane/claim_controller.h"
#include "sandbox/cluster/control_plane/daemon_set_controller.h"
#include "sandbox/cluster/control_plane/garbage_collector.h"
#include "sandbox/cluster/control_plane/job_controller.h"
#include "sandbox/cluster/control_plane/namespace_controller.h"
#include "sandbox/cluster/control_plane/node_lifecycle.h"
#include "sandbox/cluster/faults/fault_board.h"
#include "sandbox/cluster/node/machine.h"
#include "sandbox/cluster/scheduler/scheduler.h"

namespace cdom::sandbox {
namespace {

constexpr std::pair<Fault, std::string_view> kFaultNames[] = {
    {Fault::PowerOff, "power-off"},
    {Fault::ImexKill, "imex-kill"},
    {Fault::ImexHang, "imex-hang"},
    {Fault::AgentCrash, "agent-crash"},
    {Fault::Partition, "partition"},
    {Fault::SlowApi, "slow-api"},
    {Fault::WatchCut, "watch-cut"},
    {Fault::ImexCut, "imex-cut"},
    {Fault::ImexSplit, "imex-split"},
    {Fault::FabricError, "fabric-error"},
    {Fault::FabricUnhealthy, "fabric-unhealthy"},
    {Fault::ImexForeign, "imex-foreign"},
};

constexpr char kManager[] = "kube-controller-manager";
// Where steps are shuffled: what makes a cluster large, and after how many steps of one of its
// parts it is another's turn, on average.
constexpr std::size_t kManyParts = 100;
constexpr std::size_t kChangeOfTurns = 8;

std::string two_digits(int number) {
  return number < 10 ? base::cat("0", number) : std::to_string(number);
}

// Slots of a rack whose addresses differ in one byte only.
constexpr int kPerBlock = 256;

// The nodes of all racks, then those without a fabric.
std::vector<MachineConfig> machine_configs(const ClusterOptions& options,
                                           const std::string& fabric_uuid) {
  std::vector<MachineConfig> configs;
  const auto add = [&](const std::string& name, int rack, int slot, const std::string& clique) {
    const int block = slot / kPerBlock, place = slot % kPerBlock;
    const std::string pod_network = base::cat(10 + block, ".", 100 + rack, ".", place, ".");
    const std::string address = base::cat("10.", 88 + block, ".", rack, ".", place);
    configs.push_back({.description = {.name = name,
                                       .rack = base::cat("r", rack),
                                       .clique = clique,
                                       .address = address,
                                       .pod_cidr = base::cat(pod_network, "0/24")},
                       .pod_network = pod_network,
                       .node_namespace = options.node_namespace,
                       .agent_service_account = options.agent_service_account,
                       .agent_daemon_set = options.agent_daemon_set,
                       .resource_version = options.resource_version});
  };
  for (int rack = 1; rack <= options.racks; ++rack) {
    for (int slot = 1; slot <= options.nodes_per_rack; ++slot) {
      const std::string prefix = options.racks > 1 ? base::cat("r", rack) : "";
      add(base::cat(prefix, "n", two_digits(slot)), rack, slot,
          base::cat(fabric_uuid, ".", rack - 1));
    }
  }
  for (int slot = 1; slot <= options.plain_nodes; ++slot) {
    add(base::cat("plain", two_digits(slot)), 0, slot, "");
  }
  return configs;
}

}  // namespace

std::string_view name_of(Fault fault) {
  for (const auto& [known, name] : kFaultNames) {
    if (known == fault) return name;
  }
  return "";
}

std::optional<Fault> fault_named(std::string_view name) {
  for (const auto& [fault, known] : kFaultNames) {
    if (known == name) return fault;
  }
  return std::nullopt;
}

std::string fault_names() {
  std::vector<std::string> names;
  for (const auto& [fault, name] : kFaultNames) names.emplace_back(name);
  return base::join(names, ", ");
}

// Order is life: what is below uses what is above.
struct Cluster::Parts {
  const ClusterOptions options;
  const ClusterPorts ports;
  base::Random random;
  std::vector<std::unique_ptr<http::Client>> transports;
  std::vector<std::unique_ptr<kube::Client>> clients;
  std::vector<std::unique_ptr<Informers>> informers;
  std::unique_ptr<ImexNetwork> network;
  std::map<std::string, std::unique_ptr<Machine>> machines;
  std::unique_ptr<FaultBoard> faults;
  std::vector<std::unique_ptr<Part>> control_plane;
  std::vector<Part*> turns;
  std::size_t turn = 0;

  Parts(ClusterOptions options_in, ClusterPorts ports_in)
      : options(std::move(options_in)), ports(std::move(ports_in)), random(options.seed) {}

  // Of a component that is called so, and whose user is "system:" and that.
  const kube::Client& client(const base::Clock& clock, const std::string& component) {
    transports.push_back(ports.component_client(base::cat("system:", component)));
    clients.push_back(std::make_unique<kube::Client>(*transports.back(), clock, component));
    return *clients.back();
  }
  base::Random fork() { return base::Random(random.next()); }

  Informers& follow(const base::Clock& clock, const std::vector<api::Kind>& kinds) {
    informers.push_back(std::make_unique<Informers>(client(clock, kManager), clock, fork(), kinds));
    turns.push_back(informers.back().get());
    return *informers.back();
  }
  void add(std::unique_ptr<Part> part) {
    turns.push_back(part.get());
    control_plane.push_back(std::move(part));
  }
  void add_control_plane(const base::Clock& clock, Informers& shared);
  void add_machines(const base::Clock& clock, Informers& shared);
};

void Cluster::Parts::add_control_plane(const base::Clock& clock, Informers& shared) {
  const kube::Client& manager = client(clock, kManager);
  add(std::make_unique<ClaimController>(manager, shared, clock, fork()));
  add(std::make_unique<Scheduler>(client(clock, "kube-scheduler"), shared, clock, fork(),
                                  SchedulerOptions{options.shuffle_nodes}));
  add(std::make_unique<JobController>(manager, shared, clock, fork()));
  add(std::make_unique<NodeLifecycle>(manager, shared, clock, fork()));
  add(std::make_unique<NamespaceController>(manager, shared, clock));
  if (!options.agent_daemon_set.empty()) {
    JsonInformer& daemon_sets = follow(clock, {kDaemonSets}).of(kDaemonSets);
    add(std::make_unique<DaemonSetController>(manager, daemon_sets, shared.of(kPods), clock));
  }
  Informers& owned_only = follow(clock, {kConfigMaps, kComputeDomains, kComputeDomainCliques});
  std::vector<JsonInformer*> collected;
  for (const Informers* some : {&shared, &owned_only}) {
    for (const auto& one : some->all()) collected.push_back(one.get());
  }
  add(std::make_unique<GarbageCollector>(manager, std::move(collected), clock));
}

void Cluster::Parts::add_machines(const base::Clock& clock, Informers& shared) {
  network = std::make_unique<ImexNetwork>(clock, fork(), options.imex);
  std::map<std::string, Machine*> by_name;
  for (MachineConfig& config : machine_configs(options, random.uuid())) {
    const std::string name = config.description.name;
    auto machine =
        std::make_unique<Machine>(shared, *network, clock, fork(), std::move(config), ports);
    by_name[name] = machine.get();
    turns.push_back(machine.get());
    machines[name] = std::move(machine);
  }
  faults = std::make_unique<FaultBoard>(shared, std::move(by_name), client(clock, kManager), clock,
                                        fork());
  turns.push_back(faults.get());
}

Cluster::Cluster(const base::Clock& clock, ClusterOptions options, ClusterPorts ports)
    : parts_(std::make_unique<Parts>(std::move(options), std::move(ports))) {
  std::vector<api::Kind> kinds{kPods, kNodes};
  if (parts_->options.control_plane) {
    kinds.insert(kinds.end(),
                 {kClaims, kTemplates, kSlices, kClasses, kJobs, kLeases, kNamespaces});
  }
  Informers& shared = parts_->follow(clock, kinds);
  if (parts_->options.control_plane) parts_->add_control_plane(clock, shared);
  parts_->add_machines(clock, shared);
}

Cluster::~Cluster() = default;

bool Cluster::step() {
  Parts& parts = *parts_;
  const std::size_t count = parts.turns.size();
  // Handshakes between daemons and events of watches are many and cheap: looking at every part
  // after each would not be.
  if (!parts.options.shuffle_steps) {
    if (parts.network->step()) return true;
    for (const auto& informers : parts.informers) {
      if (informers->step()) return true;
    }
  }
  // In a large cluster most parts have nothing to do, and a look at each of them would cost more
  // than the step: mostly the part that did something goes on, and daemons meet several at a time.
  const bool is_large = parts.options.shuffle_steps && count >= kManyParts;
  std::size_t next = parts.turn;
  if (is_large && parts.random.below(kChangeOfTurns) > 0) {
    next = (parts.turn + count - 1) % count;
  } else if (parts.options.shuffle_steps) {
    next = parts.random.below(count);
  }
  for (std::size_t i = 0; i < count; ++i, next = (next + 1) % count) {
    if (!parts.turns[next]->step()) continue;
    parts.turn = (next + 1) % count;
    return true;
  }
  if (!parts.network->step()) return false;
  const std::size_t more = is_large ? parts.random.below(count) : 0;
  for (std::size_t i = 0; i < more && parts.network->step(); ++i) continue;
  return true;
}

std::optional<base::Duration> Cluster::next_due() const {
  auto due = parts_->network->next_due();
  for (const Part* part : parts_->turns) due = earlier(due, part->next_due());
  return due;
}

std::vector<std::string> Cluster::nodes() const {
  std::vector<std::string> names;
  for (const auto& [name, machine] : parts_->machines) names.push_back(name);
  return names;
}

bool Cluster::is_up() const {
  for (const auto& [name, machine] : parts_->machines) {
    if (!machine->is_up()) return false;
  }
  return true;
}

void Cluster::inject(const std::string& node, Fault fault) {
  parts_->machines.at(node)->inject(fault);
}

void Cluster::heal(const std::string& node, Fault fault) { parts_->machines.at(node)->heal(fault); }

void Cluster::set_clique(const std::string& node, const std::string& clique) {
  parts_->machines.at(node)->set_clique(clique);
}

const Imex& Cluster::imex(const std::string& node) const {
  return parts_->machines.at(node)->imex();
}

}  // namespace cdom::sandbox
