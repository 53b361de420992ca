#include "sandbox/main/sandbox_agent.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>

#include "compute_domain/agent/fabric_reading.h"
#include "compute_domain/agent/stepped_agent.h"
#include "compute_domain/base/text.h"
#include "compute_domain/kube/client.h"
#include "sandbox/main/simulated_supervisor.h"

namespace cdom::program {
namespace {

// The node's side decides once a second without news.
constexpr base::Duration kLongestQuiet = std::chrono::milliseconds(100);
constexpr char kCheckpointPath[] = "/var/lib/kubelet/plugins/compute-domain.nvidia.com/checkpoint";

class NodeCheckpoint : public agent::CheckpointStore {
 public:
  explicit NodeCheckpoint(sandbox::NodeFiles& files) : files_(files) {}
  base::Result<std::optional<std::string>> load() override {
    const auto file = files_.disk.find(kCheckpointPath);
    if (file == files_.disk.end()) return std::optional<std::string>();
    return std::optional(file->second);
  }
  base::Result<void> save(const std::string& text) override {
    files_.disk[kCheckpointPath] = text;
    return {};
  }
  base::Result<void> clear_away() override {
    files_.disk.erase(kCheckpointPath);
    return {};
  }
  base::Result<std::string> set_aside(const std::string& text) override {
    const std::string path = base::cat(kCheckpointPath, ".unreadable");
    files_.disk[path] = text;
    return path;
  }

 private:
  sandbox::NodeFiles& files_;
};

// CDI files, of which only the channels matter here.
class NodeChannels : public agent::ChannelInjector {
 public:
  explicit NodeChannels(sandbox::NodeFiles& files) : files_(files) {}
  base::Result<void> check() override { return {}; }
  std::optional<std::int64_t> count() override { return std::nullopt; }
  base::Result<void> write(const core::ClaimRef& claim,
                           const core::ChannelRange& channels) override {
    files_.tmpfs[path(claim.uid)] = text_of(channels);
    return {};
  }
  base::Result<void> remove(const std::string& claim_uid) override {
    files_.tmpfs.erase(path(claim_uid));
    return {};
  }
  bool is_written(const std::string& claim_uid) override {
    return files_.tmpfs.contains(path(claim_uid));
  }
  bool is_up_to_date(const std::string& claim_uid, const core::ChannelRange& channels) override {
    return of(claim_uid) == text_of(channels);
  }
  base::Result<agent::WrittenChannels> written() override {
    agent::WrittenChannels written;
    for (auto file = files_.tmpfs.lower_bound(kPrefix);
         file != files_.tmpfs.end() && file->first.starts_with(kPrefix); ++file) {
      written.by_claim[file->first.substr(std::string_view(kPrefix).size())] =
          range_in(file->second);
    }
    return written;
  }
  // "channel-3", "channel-0..2047"; "" for a claim without channels.
  [[nodiscard]] std::string of(const std::string& claim_uid) const {
    const auto file = files_.tmpfs.find(path(claim_uid));
    return file == files_.tmpfs.end() ? "" : file->second;
  }

 private:
  static constexpr char kPrefix[] = "/var/run/cdi/claim_";
  static std::string path(const std::string& claim_uid) { return base::cat(kPrefix, claim_uid); }
  static std::string text_of(const core::ChannelRange& channels) {
    return channels.count > 1
               ? base::cat("channel-", channels.first, "..", channels.first + channels.count - 1)
               : base::cat("channel-", channels.first);
  }
  static core::ChannelRange range_in(const std::string& channels) {
    std::int64_t first = 0, last = 0;
    const int read = std::sscanf(channels.c_str(), "channel-%ld..%ld", &first, &last);
    return {first, read == 2 ? last - first + 1 : 1};
  }
  sandbox::NodeFiles& files_;
};

// What an agent makes of a GPU of a clique to which the fabric has no healthy route.
std::vector<core::NodeFault> faults_of_unhealthy_gpu() {
  constexpr std::uint32_t kRouteUnhealthy = 1U << 4U;  // in NVML's mask
  const agent::GpuFacts gpu{.state = agent::FabricState::Completed,
                            .cluster_uuid = "of-any-cluster",
                            .health = agent::FabricHealth::Unhealthy,
                            .health_mask = kRouteUnhealthy};
  return agent::reading_of({.gpus = {gpu}}, agent::FabricMode::Strict).faults;
}

class NodeFabric : public agent::Fabric {
 public:
  explicit NodeFabric(const sandbox::NodeEnvironment& node)
      : clique_(node.clique_now),
        error_(node.fabric_error),
        is_unhealthy_(node.is_fabric_unhealthy) {}
  core::FabricReading read() override {
    // As ImexFabric has it: what was wrong before still is.
    if (std::string error = error_(); !error.empty()) {
      return {.clique = std::nullopt, .error = std::move(error), .faults = faults_};
    }
    core::FabricReading reading{.clique = clique_(), .error = {}};
    // A GPU that is in no clique has no fabric that could be ill.
    const bool is_unhealthy = !reading.clique->empty() && is_unhealthy_();
    if (is_unhealthy == faults_.empty()) {
      faults_ = is_unhealthy ? faults_of_unhealthy_gpu() : std::vector<core::NodeFault>();
    }
    reading.faults = faults_;
    return reading;
  }

 private:
  const std::function<std::string()> clique_, error_;
  const std::function<bool()> is_unhealthy_;
  std::vector<core::NodeFault> faults_;  // of the last answer
};

class NodeKubelet : public agent::KubeletState {
 public:
  explicit NodeKubelet(std::function<std::vector<sandbox::ClaimRef>()> claims)
      : claims_(std::move(claims)) {}
  bool knows(const std::string& claim_uid) override {
    return std::ranges::any_of(claims(), [&](const auto& claim) { return claim.uid == claim_uid; });
  }
  std::vector<core::ClaimRef> claims() override {
    std::vector<core::ClaimRef> all;
    for (const sandbox::ClaimRef& claim : claims_())
      all.push_back({claim.ns, claim.name, claim.uid});
    return all;
  }

 private:
  const std::function<std::vector<sandbox::ClaimRef>()> claims_;
};

class SandboxAgent : public sandbox::NodePlugin {
 public:
  // `pages` may be null.
  SandboxAgent(const sandbox::NodeEnvironment& node, SimulatedSupervisor& supervisor,
               const std::string& operator_namespace, const core::NodeSettings& settings,
               std::shared_ptr<AgentPages> pages)
      : node_(node.node),
        pages_(std::move(pages)),
        client_(node.api, node.clock, "compute-domain-agent", metrics()),
        checkpoints_(node.files),
        channels_(node.files),
        fabric_(node),
        kubelet_(node.kubelet_claims),
        supervisor_(supervisor),
        clock_(node.clock),
        cannot_start_(node.cannot_start),
        agent_(client_,
               {.fabric = fabric_,
                .imex = supervisor,
                .checkpoints = checkpoints_,
                .channels = channels_,
                .kubelet = kubelet_},
               node.clock,
               {.self = {.name = node.node, .boot_id = node.boot_id, .address = node.address},
                .times = {},
                .settings = settings,
                .operator_namespace = operator_namespace,
                .seed = node.seed},
               metrics()) {
    supervisor.ask_of_obstacles(node.cannot_start);
    if (pages_) pages_->add(node_, metrics_);
  }
  ~SandboxAgent() override {
    if (pages_) pages_->remove(node_);
  }
  SandboxAgent(const SandboxAgent&) = delete;
  SandboxAgent& operator=(const SandboxAgent&) = delete;

  // Which versions the API server serves: before anything else.
  base::Result<void> discover() { return client_.discover(); }

  sandbox::PrepareStep prepare(const sandbox::ClaimRef& claim) override {
    auto step = step_of(agent_.prepare({claim.ns, claim.name, claim.uid}));
    if (step.state == sandbox::PrepareStep::State::Done) {
      const std::string channels = channels_.of(claim.uid);
      if (!channels.empty()) step.devices.push_back(channels);
    }
    return step;
  }
  sandbox::PrepareStep unprepare(const sandbox::ClaimRef& claim) override {
    return step_of(agent_.unprepare({claim.ns, claim.name, claim.uid}));
  }
  // As SteppedAgent's. Its node's side asks all its ports at each step, each for all that it knows
  // of every peer; nearly always nobody has touched them.
  bool step() override {
    const bool did = agent_.step_server() || step_node();
    if (did) is_quiet_ = false;
    return did;
  }
  std::optional<base::Duration> next_due() override {
    const auto of_agent = agent_.next_due(), of_supervisor = supervisor_.next_due();
    if (!of_agent || !of_supervisor) return of_agent ? of_agent : of_supervisor;
    return std::min(*of_agent, *of_supervisor);
  }

 private:
  static sandbox::PrepareStep step_of(const agent::ClaimStep& step) {
    using From = agent::ClaimStep::State;
    using To = sandbox::PrepareStep::State;
    const To state = step.state == From::Done      ? To::Done
                     : step.state == From::Waiting ? To::Waiting
                                                   : To::Failed;
    return {state, step.reason, {}};
  }

  // What the node's side would see now.
  struct Ports {
    std::uint64_t calls = 0;
    core::FabricReading fabric;
    std::string cannot_start;
    friend bool operator==(const Ports&, const Ports&) = default;
  };

  bool step_node() {
    const base::Duration now = clock_.elapsed();
    Ports ports{agent_.mailbox().revision(), fabric_.read(), cannot_start_()};
    const bool is_same = !supervisor_.has_news() && ports == seen_;
    if (is_quiet_ && is_same && now < quiet_until_) return false;
    if (agent_.step_node()) return true;
    is_quiet_ = true;
    seen_ = std::move(ports);
    const base::Duration latest = now + kLongestQuiet;
    quiet_until_ = std::min(latest, next_due().value_or(latest));
    return false;
  }

  // Where nobody reads them nothing is counted.
  base::Registry* metrics() { return pages_ ? &metrics_ : nullptr; }

  const std::string node_;
  const std::shared_ptr<AgentPages> pages_;
  base::Registry metrics_;
  kube::Client client_;
  NodeCheckpoint checkpoints_;
  NodeChannels channels_;
  NodeFabric fabric_;
  NodeKubelet kubelet_;
  SimulatedSupervisor& supervisor_;
  const base::Clock& clock_;
  const std::function<std::string()> cannot_start_;
  agent::SteppedAgent agent_;
  bool is_quiet_ = false;  // it found nothing to do when it saw these ports
  Ports seen_;
  base::Duration quiet_until_{};
};

// What outlives the agents: one owner per node and boot.
struct Supervisors {
  struct Supervisor {
    std::string boot_id;
    std::unique_ptr<SimulatedSupervisor> supervisor;
  };
  std::map<std::string, Supervisor> by_node;

  SimulatedSupervisor& of(const sandbox::NodeEnvironment& node) {
    Supervisor& supervisor = by_node[node.node];
    if (!supervisor.supervisor || supervisor.boot_id != node.boot_id) {
      supervisor = {node.boot_id, std::make_unique<SimulatedSupervisor>(node.imex, node.clock)};
    }
    return *supervisor.supervisor;
  }
};

}  // namespace

sandbox::NodePluginFactory agent_factory(std::string operator_namespace, SettingsOfNode settings,
                                         std::shared_ptr<AgentPages> pages) {
  auto supervisors = std::make_shared<Supervisors>();
  return [supervisors, ns = std::move(operator_namespace), settings = std::move(settings),
          pages = std::move(pages)](const sandbox::NodeEnvironment& node)
             -> base::Result<std::unique_ptr<sandbox::NodePlugin>> {
    auto agent = std::make_unique<SandboxAgent>(
        node, supervisors->of(node), ns, settings ? settings(node.node) : core::NodeSettings{},
        pages);
    if (const auto done = agent->discover(); !done) return done.error();
    return std::unique_ptr<sandbox::NodePlugin>(std::move(agent));
  };
}

std::map<std::string, core::ChannelRange> injected_channels(sandbox::NodeFiles& files) {
  return NodeChannels(files).written()->by_claim;
}

}  // namespace cdom::program
