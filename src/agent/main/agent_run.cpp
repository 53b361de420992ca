#include "agent/main/agent_run.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <stop_token>

#include "agent/main/agent_loop.h"
#include "agent/main/first_contact.h"
#include "agent/main/kubelet_calls.h"
#include "agent/main/node_fabric.h"
#include "agent/main/pod_news.h"
#include "agent/main/wakeup.h"
#include "cli/environment.h"
#include "cli/health/health_server.h"
#include "cli/health/metrics_access.h"
#include "cli/spare_memory.h"
#include "compute_domain/agent/file_checkpoint_store.h"
#include "compute_domain/agent/imex_client.h"
#include "compute_domain/agent/kubelet_state_file.h"
#include "compute_domain/api/names.h"
#include "compute_domain/base/files.h"
#include "compute_domain/base/log.h"
#include "compute_domain/base/pause.h"
#include "compute_domain/base/random.h"
#include "compute_domain/base/text.h"
#include "compute_domain/http/client.h"
#include "compute_domain/kube/kubeconfig.h"

namespace cdom::program {

namespace {

using base::cat;

// A request to the API server that is slower than this only keeps kubelet waiting.
constexpr base::Duration kRequestTimeout = std::chrono::seconds(5);
// Longer than any thread of this program ever has to wait for one thing.
constexpr base::Duration kStuck = std::chrono::minutes(1);
constexpr base::Duration kBetweenContacts = std::chrono::seconds(1);
// Until it is looked whether a call of kubelet's is overdue; one that comes meanwhile is not.
constexpr base::Duration kShortestPause = std::chrono::milliseconds(100),
                         kLongestPause = std::chrono::seconds(5);

std::string boot_id_in(const std::string& file) {
  std::string boot_id;
  std::ifstream(file) >> boot_id;
  return boot_id;
}

// Why kubelet cannot be served; "" when it can.
std::string lack_of_kubelet(const AgentFlags& flags) {
  for (const auto& [flag, directory] :
       {std::pair("--kubelet-plugins-dir", flags.node.plugins_dir),
        std::pair("--kubelet-registrar-dir", flags.node.registrar_dir)}) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(directory, ignored)) {
      return cat(
          flag, ": ", directory,
          " is not a directory here: does the pod mount kubelet's at the same path, and is its "
          "--root-dir /var/lib/kubelet?");
    }
  }
  return "";
}

// What the loop's thread tells the health server's.
class Readiness {
 public:
  void set(std::string lack) {
    const std::lock_guard lock(mutex_);
    if (lack == lack_) return;
    if (lack.empty()) {
      base::log_info("ready");
    } else {
      base::log_info("not ready", {{"reason", lack}});
    }
    lack_ = std::move(lack);
  }
  [[nodiscard]] std::string lack() const {
    const std::lock_guard lock(mutex_);
    return lack_;
  }

 private:
  mutable std::mutex mutex_;
  std::string lack_ = "starting";
};

std::string lack_of(const dra::Plugin& plugin, const agent::NodeAgent& agent) {
  const dra::Registration registration = plugin.registration();
  if (!plugin.is_listening()) return "the sockets for kubelet are not where they should be";
  if (registration.state == dra::Registration::State::Awaited) {
    return "kubelet has not registered the plugin yet";
  }
  if (registration.state == dra::Registration::State::Refused) {
    return cat("kubelet refuses the plugin: ", registration.error);
  }
  return agent.has_published() ? "" : "the node's report is not published yet";
}

std::vector<dra::DeviceHealth> health_of(const agent::NodeAgent& agent) {
  std::vector<dra::DeviceHealth> devices;
  for (const core::DeviceHealth& device : agent.devices()) {
    using State = core::DeviceHealth::State;
    const dra::Health health = device.state == State::Healthy     ? dra::Health::Healthy
                               : device.state == State::Unhealthy ? dra::Health::Unhealthy
                                                                  : dra::Health::Unknown;
    devices.push_back({device.pool, device.device, health, device.message});
  }
  return devices;
}

// The API server as this process works with it.
class Cluster {
 public:
  Cluster(const AgentFlags& flags, kube::Client& client) : flags_(flags), client_(client) {}

  // Asks once.
  base::Result<api::Node> meet() {
    auto node = first_contact(client_, flags_.node.name, flags_.cluster.ns);
    if (is_away(node) && node.error().message != logged_) {
      logged_ = node.error().message;
      base::log_warning("the API server does not answer; trying again", {{"error", logged_}});
    }
    return node;
  }
  // Until there is another answer than that it is away.
  base::Result<api::Node> meet(const std::stop_token& stop) {
    auto node = meet();
    while (is_away(node) && base::pause(stop, kBetweenContacts)) node = meet();
    return node;
  }
  static bool is_away(const base::Result<api::Node>& node) {
    return !node && node.error().kind == base::ErrorKind::Unavailable;
  }

 private:
  const AgentFlags& flags_;
  kube::Client& client_;
  std::string logged_;
};

void compare_boot_ids(const api::Node& node, const std::string& boot_id, const std::string& file) {
  if (node.boot_id.empty() || node.boot_id == boot_id) return;
  base::log_warning(
      "kubelet reports another boot id than this program sees: soon after a boot that is so for a "
      "moment; else mount the node's and name it with --boot-id-file",
      {{"kubelet", node.boot_id}, {"here", boot_id}, {"file", file}});
}

}  // namespace

int run_agent(const AgentFlags& flags, cli::Signals& signals) {
  const base::SystemClock clock;
  const std::string boot_id = boot_id_in(flags.node.boot_id_file);
  if (boot_id.empty()) {
    return cli::failure(kAgentProgram,
                        cat("--boot-id-file: cannot read a boot id in ", flags.node.boot_id_file));
  }
  if (const std::string lack = lack_of_kubelet(flags); !lack.empty()) {
    return cli::failure(kAgentProgram, lack);
  }
  base::Registry metrics;
  auto access = kube::find_cluster(flags.cluster.kubeconfig, cli::variable);
  if (!access) return cli::usage_error(kAgentProgram, access.error().message);
  const auto wakeup = std::make_shared<Wakeup>(), server_wakeup = std::make_shared<Wakeup>();
  access->http.user_agent = cat(kAgentProgram, "/", CDOM_VERSION);
  access->http.request_timeout = kRequestTimeout;
  access->http.on_stream_news = [server_wakeup] { server_wakeup->wake(); };
  const std::string server = http::without_user(access->http.base_url);
  const auto transport = http::make_client(access->http, clock);
  kube::Client client(*transport, clock, kAgentProgram, &metrics);

  std::stop_source leave;
  std::atomic<int> code = 0;
  const std::stop_callback on_signal(signals.token(), [&leave] { leave.request_stop(); });
  const std::stop_callback on_leave(leave.get_token(), [&transport] { transport->shut_down(); });
  Readiness readiness;
  base::Pulses pulses(clock, kStuck);
  std::unique_ptr<http::Server> health;
  if (!flags.health.listen.empty()) {
    auto served = cli::serve_health(
        flags.health,
        {.metrics = metrics,
         .pulses = pulses,
         .not_ready = [&readiness] { return readiness.lack(); },
         .readers = cli::readers_of(flags.health.metrics_path, flags.health, client, clock),
         .clock = clock});
    if (!served) return cli::usage_error(kAgentProgram, served.error().message);
    health = std::move(*served);
  }

  Cluster cluster(flags, client);
  // A server that is away is not waited for: claims are unprepared without it, too.
  auto node = cluster.meet();
  if (leave.stop_requested()) return code;
  if (!node && !Cluster::is_away(node)) {
    return cli::failure(kAgentProgram, cat(node.error().message, " (", access->source, ")"));
  }
  if (node) compare_boot_ids(*node, boot_id, flags.node.boot_id_file);

  const dra::PluginOptions plugin_options = plugin_of(flags);
  const std::string directory = cat(flags.node.plugins_dir, "/", api::kDriver);
  if (const auto made = base::make_directories(directory); !made) {
    return cli::failure(kAgentProgram, made.error().message);
  }
  agent::FileCheckpointStore checkpoints(directory + "/checkpoint");
  agent::CdiChannelInjector channels(cdi_of(flags));
  agent::ImexClient imex(flags.imex_socket, cat(kAgentProgram, "/", CDOM_VERSION), clock,
                         {.cdi_root = flags.node.cdi_root});
  agent::KubeletStateFile kubelet =
      flags.kubelet_state_file.empty()
          ? agent::KubeletStateFile("compute-domain-imex", [&] { return imex.kubelet_state(); })
          : agent::KubeletStateFile(flags.kubelet_state_file);
  const auto fabric = make_node_fabric(flags, imex, clock);
  agent::RunningPods pods(clock, [wakeup] { wakeup->wake(); });
  const std::uint64_t seed = base::entropy_seed();
  // The queues, each by its two ends: kubelet's calls from the plugin's threads to the node's; what
  // the node's asks of the API server to the server's; what came of that, and of the watches, back.
  agent::Mailbox mailbox(clock, [wakeup] { wakeup->wake(); });
  agent::ServerMail mail{
      .orders = agent::Queue<agent::ServerOrder>([server_wakeup] { server_wakeup->wake(); }),
      .results = agent::Queue<agent::ServerResult>([wakeup] { wakeup->wake(); })};
  const agent::NodeAgentOptions options{.self = {.name = flags.node.name,
                                                 .boot_id = boot_id,
                                                 .address = flags.node_address,
                                                 .agent = base::hex64(seed)},
                                        .times = {},
                                        .settings = settings_of(flags),
                                        .operator_namespace = flags.cluster.ns,
                                        .seed = seed};
  PodNews pod_news(pods);
  dra::PodWatch pod_watch(flags.pods_socket, pod_news);
  agent::NodeAgent node_agent({.fabric = *fabric,
                               .imex = imex,
                               .checkpoints = checkpoints,
                               .channels = channels,
                               .kubelet = kubelet,
                               .pods = &pods,
                               .renew_pods = [&pod_watch] { pod_watch.renew(); }},
                              mailbox, mail, clock, options, &metrics);
  agent::ServerAgent server_agent(client, mail, clock, options, &metrics);

  // From here on kubelet may call; what it asks waits for the loop.
  KubeletCalls calls(mailbox);
  auto plugin = dra::Plugin::start(plugin_options, calls, clock);
  if (!plugin) return cli::failure(kAgentProgram, plugin.error().message);
  base::log_info("starting", {{"node", flags.node.name},
                              {"server", server},
                              {"from", access->source},
                              {"namespace", flags.cluster.ns},
                              {"boot", boot_id},
                              {"imex", flags.imex_socket},
                              {"health", health ? health->address() : "off"}});
  {
    cli::SpareMemory spare_memory(clock);
    const AgentLoop loop(
        {.node = node_agent,
         .server = server_agent,
         .mailbox = mailbox,
         .descriptor = [&] { return imex.descriptor(); },
         .wakeup = *wakeup,
         .server_wakeup = *server_wakeup,
         .clock = clock,
         .pulses = pulses,
         .after_round =
             [&] {
               (*plugin)->set_health(health_of(node_agent));
               readiness.set(lack_of(**plugin, node_agent));
               spare_memory.look();
             },
         .broken =
             [&](const std::string& what) {
               base::log_error("the agent has broken an invariant and ends", {{"what", what}});
               code = 1;
               leave.request_stop();
             }});
    const std::stop_token over = leave.get_token();
    if (!node) node = cluster.meet(over);
    if (!node && !over.stop_requested()) {
      base::log_error(node.error().message, {{"from", access->source}});
      code = 1;
      leave.request_stop();
    }
    // Neither a disk that hangs nor an API server that is silent keeps a reason from kubelet.
    const auto pause = [&] {
      const base::Duration now = clock.elapsed();
      const base::Duration end = mailbox.next_end().value_or(now + kLongestPause);
      return base::pause(over, std::clamp(end - now, kShortestPause, kLongestPause));
    };
    while (pause()) mailbox.end_overdue();
    base::log_info("stopping");
  }
  // The sockets go, the registration first; then the calls in progress are answered.
  plugin->reset();
  if (code == 0) node_agent.leave();
  base::log_info("stopped");
  return code;
}

}  // namespace cdom::program
