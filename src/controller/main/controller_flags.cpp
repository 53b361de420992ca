#include "controller/main/controller_flags.h"

#include "compute_domain/base/random.h"
#include "compute_domain/base/ranges.h"
#include "compute_domain/base/text.h"

namespace cdom::program {

using base::cat;

namespace {

constexpr char kUsage[] =
    "compute-domain-controller [FLAGS]\n"
    "    Runs the controller until SIGTERM.\n"
    "compute-domain-controller plan [FLAGS] DIR|FILE|-…\n"
    "    Prints what the controller would do with the objects of files: plan --help.";
constexpr char kPlanUsage[] =
    "compute-domain-controller plan [FLAGS] DIR|FILE|-…\n"
    "    Reads objects in YAML or JSON (as from `kubectl get … -o yaml`; - is standard input) and\n"
    "    prints what the controller would do with them and why. Exit code 3 when something is "
    "wrong\n"
    "    with them: an object that cannot be read, an unknown field or kind, a template\n"
    "    that nothing makes, fewer pods or seats than a domain wants nodes. Exit code 1 when\n"
    "    a file is not there or has no object. Needs no cluster.";

std::vector<cli::Flag> own_rows(ControllerFlags& f) {
  using namespace cli;  // NOLINT(google-build-using-namespace): the words of a row
  const Rule namespace_name{base::is_dns_label, "a valid name of a namespace"};
  return {
      {"node-namespace", "NODE_NAMESPACE",
       text(f.node_ns, "NAMESPACE",
            {base::is_dns_label, "a valid name of a namespace; name the one of the agents' pods"}),
       "where the agents' pods are"},
      {"workers", "", number(f.workers, 1, 64),
       "reconciles at a time, and as many again of those that take long"},
      {"max-nodes-per-imex-domain", "MAX_NODES_PER_IMEX_DOMAIN",
       number<std::int64_t>(f.max_nodes, 1, 1024), "slots of a new IMEX group's node table",
       "plan"},
      {"imex-mode", "IMEX_MODE", choice(f.imex_mode, "MODE", {"driverManaged", "hostManaged"}),
       "checked, and not used: compute-domain-imex on the nodes reads the same variable, and "
       "decides"},
      {"isolation", "IMEX_ISOLATION", choice(f.isolation, "MODE", {"domain", "channel", ""}),
       "checked, and not used: the agents on the nodes read the same variable, and decide"},
      {"imex-channels", "IMEX_CHANNELS", number(f.channels, 2, base::kRangesEnd),
       "how many IMEX channels each node's driver has (NVreg_ImexChannelCount), for isolation by "
       "channel",
       "plan"},
      {"gpu-clique-label-enabled", "GPU_CLIQUE_LABEL_ENABLED", on_off(f.label_nodes),
       "write each Node's label nvidia.com/gpu.clique; needs the right to patch nodes"},
      {"shared-claims-enabled", "SHARED_CLAIMS_ENABLED", on_off(f.share_claims),
       "publish a ResourceSlice for each clique, whose devices pods of all its nodes may share by "
       "one ResourceClaim; needs the right to write resourceslices"},
      {"compute-domain-cliques-enabled", "COMPUTE_DOMAIN_CLIQUES_ENABLED", on_off(f.fill_cliques),
       "write a ComputeDomainClique for each ComputeDomain and clique, as NVIDIA's DRA driver "
       "does, "
       "for tools that read them; needs the rights of manifests/compute-domain-cliques"},
      {"adopt-from", "ADOPT_FROM", names(f.adopt_from, "NAMESPACE,…", namespace_name),
       "namespaces of NVIDIA's DRA driver, whose ComputeDomains are taken over, separated by "
       "commas; needs the rights of manifests/adopt",
       "plan"},
      {"leader-election-enabled", "LEADER_ELECTION_ENABLED", on_off(f.elect),
       "one of several controllers works, the others wait"},
      {"leader-election-lease-lock-name", "LEADER_ELECTION_LEASE_LOCK_NAME",
       text(f.lease_name, "NAME", {base::is_dns_subdomain, "a valid name"}),
       "the Lease that they share"},
      {"leader-election-lease-lock-namespace", "LEADER_ELECTION_LEASE_LOCK_NAMESPACE",
       text(f.lease_namespace, "NAMESPACE"), "its namespace; --namespace by default"},
      {"leader-election-lease-duration", "LEADER_ELECTION_LEASE_DURATION",
       duration(f.lease_duration), "how long others wait for a leader that is silent"},
      {"leader-election-renew-deadline", "LEADER_ELECTION_RENEW_DEADLINE",
       duration(f.renew_deadline), "how long a leader that cannot renew goes on"},
      {"leader-election-retry-period", "LEADER_ELECTION_RETRY_PERIOD", duration(f.retry_period),
       "how often it renews"},
      {"debug-listen", "DEBUG_LISTEN", text(f.debug_listen, "ADDRESS:PORT"),
       "address of /debug/page, the page of kubectl compute-domain topology --html as the cluster "
       "is now; empty for none. TLS and authentication are those of the metrics; without "
       "authentication only a loopback address, for kubectl port-forward. Needs the rights of "
       "manifests/debug-page"},
      {"output,o", "", choice(f.output, "FORMAT", {"text", "json"}), "how `plan` prints", "plan"},
  };
}

// Whether "ADDRESS:PORT" is on this machine only; true also for "".
bool is_loopback(std::string_view listen) {
  const std::string_view address = listen.substr(0, listen.rfind(':'));
  return listen.empty() || address == "localhost" || address == "[::1]" ||
         (address.starts_with("127.") && base::is_ip_address(address));
}

std::string mistake_in(const ControllerFlags& flags) {
  if (std::string mistake = cli::mistake_in(flags.health); !mistake.empty()) return mistake;
  if (!flags.health.authentication && !is_loopback(flags.debug_listen)) {
    return cat("--debug-listen: everybody could read the page at ", flags.debug_listen,
               ": give a loopback address, as 127.0.0.1:8090, or --metrics-authentication");
  }
  const std::string mistake = kube::mistake_in(election_of(flags, "", 0));
  return mistake.empty() ? "" : cat("--leader-election-lease-duration and the like: ", mistake);
}

}  // namespace

cli::CommandLine command_line_of(ControllerFlags& flags) {
  return {
      .program = kControllerProgram,
      .usage = kUsage,
      .sub_commands = {{"plan", kPlanUsage, true}},
      .flags = cli::rows_of(flags.cluster, "plan") + own_rows(flags) + cli::rows_of(flags.health),
      .mistake = [&flags](const std::string&) { return mistake_in(flags); }};
}

core::Settings settings_of(const ControllerFlags& flags) {
  core::Settings settings;
  settings.operator_namespace = flags.cluster.ns;
  settings.slots_per_group = flags.max_nodes;
  settings.labels_nodes = flags.label_nodes;
  settings.shares_claims = flags.share_claims;
  settings.fills_cliques = flags.fill_cliques;
  settings.channels = flags.channels;
  settings.adopt_from = flags.adopt_from;
  return settings;
}

kube::LeaderElectionOptions election_of(const ControllerFlags& flags, const std::string& pod,
                                        std::uint64_t seed) {
  return {.lease = {flags.lease_namespace.empty() ? flags.cluster.ns : flags.lease_namespace,
                    flags.lease_name},
          .identity = cat(pod.empty() ? kControllerProgram : pod, "-", base::Random(seed).uuid()),
          .lease_duration = flags.lease_duration,
          .renew_deadline = flags.renew_deadline,
          .retry_period = flags.retry_period,
          .seed = seed};
}

}  // namespace cdom::program
