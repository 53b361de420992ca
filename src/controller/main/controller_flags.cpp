#include "controller/main/controller_flags.h"

#include <boost/program_options/value_semantic.hpp>
#include <utility>

#include "cli/duration_flag.h"
#include "compute_domain/base/random.h"
#include "compute_domain/base/text.h"

namespace cdom::program {

namespace {

namespace po = boost::program_options;
using base::cat;

constexpr int kMostChannels = 1 << 16;

std::set<std::string> adopted_namespaces(const ControllerFlags& flags) {
  std::set<std::string> namespaces;
  for (const std::string& ns : base::split(flags.adopt_from, ','))
    namespaces.emplace(base::trim(ns));
  namespaces.erase("");
  return namespaces;
}

}  // namespace

po::options_description options_of(ControllerFlags& flags) {
  po::options_description options("Flags (and the environment variables that they default to)");
  options.add_options()("kubeconfig", po::value(&flags.kubeconfig),
                        "cluster to work on (KUBECONFIG; else the pod's service account)")(
      "namespace", po::value(&flags.ns)->default_value(flags.ns),
      "the operator's own namespace, where node lists lie (NAMESPACE)")(
      "node-namespace", po::value(&flags.node_ns)->default_value(flags.node_ns),
      "where the agents' pods are (NODE_NAMESPACE)")(
      "workers", po::value(&flags.workers)->default_value(flags.workers),
      "reconciles at a time, 1 to 64")(
      "max-nodes-per-imex-domain", po::value(&flags.max_nodes)->default_value(flags.max_nodes),
      "slots of a new group's node table (MAX_NODES_PER_IMEX_DOMAIN)")(
      "imex-mode", po::value(&flags.imex_mode)->default_value(flags.imex_mode),
      "driverManaged or hostManaged, as in compute-domain-imex on the nodes, which decides "
      "(IMEX_MODE)")(
      "isolation", po::value(&flags.isolation)->default_value(flags.isolation),
      "domain or channel, as the agents are told, whose word counts (IMEX_ISOLATION)")(
      "imex-channels", po::value(&flags.channels)->default_value(flags.channels),
      "how many IMEX channels each node's driver has (NVreg_ImexChannelCount), for isolation by "
      "channel (IMEX_CHANNELS)")(
      "gpu-clique-label-enabled",
      po::value(&flags.label_nodes)->default_value(flags.label_nodes)->implicit_value(true),
      "write each Node's label nvidia.com/gpu.clique; needs the right to patch nodes "
      "(GPU_CLIQUE_LABEL_ENABLED)")(
      "shared-claims-enabled",
      po::value(&flags.share_claims)->default_value(flags.share_claims)->implicit_value(true),
      "publish a ResourceSlice for each clique, whose devices pods of all its nodes may share by "
      "one "
      "ResourceClaim; needs the right to write resourceslices (SHARED_CLAIMS_ENABLED)")(
      "adopt-from", po::value(&flags.adopt_from),
      "namespaces of NVIDIA's DRA driver, whose ComputeDomains are taken over, separated by "
      "commas; "
      "needs the rights of manifests/adopt (ADOPT_FROM)")(
      "leader-election-enabled",
      po::value(&flags.elect)->default_value(flags.elect)->implicit_value(true),
      "one of several controllers works, the others wait (LEADER_ELECTION_ENABLED)")(
      "leader-election-lease-lock-name",
      po::value(&flags.lease_name)->default_value(flags.lease_name),
      "the Lease that they share (LEADER_ELECTION_LEASE_LOCK_NAME)")(
      "leader-election-lease-lock-namespace", po::value(&flags.lease_namespace),
      "its namespace; --namespace by default (LEADER_ELECTION_LEASE_LOCK_NAMESPACE)")(
      "leader-election-lease-duration",
      po::value(&flags.lease_duration)->default_value(flags.lease_duration),
      "how long others wait for a leader that is silent (LEADER_ELECTION_LEASE_DURATION)")(
      "leader-election-renew-deadline",
      po::value(&flags.renew_deadline)->default_value(flags.renew_deadline),
      "how long a leader that cannot renew goes on (LEADER_ELECTION_RENEW_DEADLINE)")(
      "leader-election-retry-period",
      po::value(&flags.retry_period)->default_value(flags.retry_period),
      "how often it renews (LEADER_ELECTION_RETRY_PERIOD)")(
      "output,o", po::value(&flags.output)->default_value(flags.output),
      "how `plan` prints: text or json");
  add_options_of(flags.health, options);
  return options;
}

std::string controller_flag_of_variable(const std::string& name) {
  if (name == "NAMESPACE") return "namespace";
  if (name == "NODE_NAMESPACE") return "node-namespace";
  if (name == "MAX_NODES_PER_IMEX_DOMAIN") return "max-nodes-per-imex-domain";
  if (name == "IMEX_MODE") return "imex-mode";
  if (name == "IMEX_ISOLATION") return "isolation";
  if (name == "IMEX_CHANNELS") return "imex-channels";
  if (name == "GPU_CLIQUE_LABEL_ENABLED") return "gpu-clique-label-enabled";
  if (name == "SHARED_CLAIMS_ENABLED") return "shared-claims-enabled";
  if (name == "ADOPT_FROM") return "adopt-from";
  if (name == "LEADER_ELECTION_ENABLED") return "leader-election-enabled";
  if (name == "LEADER_ELECTION_LEASE_LOCK_NAME") return "leader-election-lease-lock-name";
  if (name == "LEADER_ELECTION_LEASE_LOCK_NAMESPACE") return "leader-election-lease-lock-namespace";
  if (name == "LEADER_ELECTION_LEASE_DURATION") return "leader-election-lease-duration";
  if (name == "LEADER_ELECTION_RENEW_DEADLINE") return "leader-election-renew-deadline";
  if (name == "LEADER_ELECTION_RETRY_PERIOD") return "leader-election-retry-period";
  return cli::health_flag_of_variable(name);
}

std::string mistake_in(const ControllerFlags& flags) {
  if (flags.workers < 1 || flags.workers > 64) return "--workers: must be 1 to 64";
  if (flags.max_nodes < 1 || flags.max_nodes > 1024) {
    return "--max-nodes-per-imex-domain: must be 1 to 1024";
  }
  if (flags.imex_mode != "driverManaged" && flags.imex_mode != "hostManaged") {
    return cat("--imex-mode: \"", flags.imex_mode, "\" is neither driverManaged nor hostManaged");
  }
  if (flags.isolation != "domain" && flags.isolation != "channel" && !flags.isolation.empty()) {
    return cat("--isolation: \"", flags.isolation, "\" is neither domain nor channel");
  }
  if (flags.channels < 2 || flags.channels > kMostChannels) {
    return cat("--imex-channels: must be 2 to ", kMostChannels);
  }
  if (flags.output != "text" && flags.output != "json") {
    return cat("--output: \"", flags.output, "\" is neither text nor json");
  }
  if (std::string mistake = mistake_in(flags.health); !mistake.empty()) return mistake;
  if (!base::is_dns_label(flags.ns)) {
    return cat("--namespace: \"", flags.ns, "\" is not a valid name of a namespace");
  }
  if (!base::is_dns_label(flags.node_ns)) {
    return cat("--node-namespace: \"", flags.node_ns,
               "\" is not a valid name of a namespace; name the one of the agents' pods");
  }
  for (const std::string& ns : adopted_namespaces(flags)) {
    if (!base::is_dns_label(ns)) {
      return cat("--adopt-from: \"", ns, "\" is not a valid name of a namespace");
    }
  }
  if (!base::is_dns_subdomain(flags.lease_name)) {
    return cat("--leader-election-lease-lock-name: \"", flags.lease_name, "\" is not a valid name");
  }
  for (const auto& [flag, text] : {std::pair("lease-duration", flags.lease_duration),
                                   std::pair("renew-deadline", flags.renew_deadline),
                                   std::pair("retry-period", flags.retry_period)}) {
    if (cli::duration_of_flag(text)) continue;
    return cat("--leader-election-", flag, ": \"", text, "\" is not a duration such as 15s");
  }
  if (const std::string mistake = kube::mistake_in(election_of(flags, "", 0)); !mistake.empty()) {
    return cat("--leader-election-lease-duration and the like: ", mistake);
  }
  return "";
}

core::Settings settings_of(const ControllerFlags& flags) {
  core::Settings settings;
  settings.operator_namespace = flags.ns;
  settings.slots_per_group = flags.max_nodes;
  settings.labels_nodes = flags.label_nodes;
  settings.shares_claims = flags.share_claims;
  settings.channels = flags.channels;
  settings.adopt_from = adopted_namespaces(flags);
  return settings;
}

kube::LeaderElectionOptions election_of(const ControllerFlags& flags, const std::string& pod,
                                        std::uint64_t seed) {
  const auto period = [](const std::string& text) {
    return cli::duration_of_flag(text).value_or(base::Duration::zero());
  };
  return {
      .lease = {flags.lease_namespace.empty() ? flags.ns : flags.lease_namespace, flags.lease_name},
      .identity = cat(pod.empty() ? kControllerProgram : pod, "-", base::Random(seed).uuid()),
      .lease_duration = period(flags.lease_duration),
      .renew_deadline = period(flags.renew_deadline),
      .retry_period = period(flags.retry_period),
      .seed = seed};
}

}  // namespace cdom::program
