#include <algorithm>
#include <filesystem>

#include "compute_domain/base/text.h"
#include "node_check/rules.h"

namespace cdom::node_check {

using base::cat;

namespace {

constexpr char kDisableUnit[] =
    "systemctl disable --now nvidia-imex.service && systemctl mask nvidia-imex.service";
// Both switches of NVIDIA's DRA driver.
constexpr char kLeaveDomains[] =
    "switch its ComputeDomains off: resources.computeDomains.enabled=false of its chart, "
    "draDriver.computeDomains.enabled=false of the GPU Operator";

bool is_program(const Process& process, std::string_view name) {
  return !process.arguments.empty() && base::split(process.arguments.front(), '/').back() == name;
}

std::string all_of(const std::vector<Process>& processes) {
  std::vector<std::string> texts;
  texts.reserve(processes.size());
  for (const Process& process : processes) texts.push_back(base::text_of(process));
  return base::join(texts, ", ");
}

// Where the host's own daemon is what is wanted.
Finding host_daemon(const NodeFacts& facts) {
  const std::string requirement = "the host's nvidia-imex";
  if (!facts.imex_daemons) return {requirement, "out of sight", Verdict::Unknown, kSeenByTheJob};
  if (!facts.imex_daemons->empty()) {
    return {requirement, all_of(*facts.imex_daemons), Verdict::Ok, ""};
  }
  return {requirement, "does not run", Verdict::Fails,
          "systemctl enable --now nvidia-imex.service, or IMEX_MODE=driverManaged"};
}

Finding other_daemons(const NodeFacts& facts) {
  const std::string requirement = "no other nvidia-imex";
  std::vector<Process> foreign;
  for (const Process& daemon : facts.imex_daemons.value_or(std::vector<Process>())) {
    if (!base::has_argument(daemon, facts.own_configuration)) foreign.push_back(daemon);
  }
  if (!foreign.empty()) {
    const bool is_predecessor = std::ranges::any_of(
        foreign, [](const Process& one) { return base::has_argument(one, kPredecessorsCfg); });
    return {
        requirement, cat("runs: ", all_of(foreign)), Verdict::Fails,
        is_predecessor ? cat("a domain of NVIDIA's DRA driver: ", kLeaveDomains) : kDisableUnit};
  }
  if (!facts.imex_daemons) {
    return {requirement, "the node's processes are out of sight", Verdict::Unknown, kSeenByTheJob};
  }
  return {requirement, "none runs", Verdict::Ok, ""};
}

// Looks at the unit, as any pod may run a process with the daemon's name.
Finding host_unit(const NodeFacts& facts) {
  const std::string requirement = "nvidia-imex.service";
  if (!facts.imex_unit) return {requirement, "out of sight", Verdict::Unknown, kSeenByTheJob};
  switch (*facts.imex_unit) {
    case UnitState::Enabled:
      return {requirement, "enabled", Verdict::Fails, kDisableUnit, "HostImexEnabled"};
    case UnitState::Disabled:
      return {requirement, "disabled, not masked", Verdict::Warning,
              "systemctl mask nvidia-imex.service"};
    case UnitState::Masked:
      return {requirement, "masked", Verdict::Ok, ""};
    case UnitState::Absent:
      break;
  }
  return {requirement, "not there", Verdict::Ok, ""};
}

// Any process with a socket in kubelet's folder is a plugin, as the folder is root's. A process of
// any pod may have a plugin's name.
Finding other_plugins(const NodeFacts& facts) {
  const std::string requirement = "no other compute-domain plugin";
  std::vector<std::string> others;
  std::int64_t strangers = 0;  // whose processes are out of sight
  bool is_tried = true;
  for (const RegistrationSocket& one :
       facts.registrations.value_or(std::vector<RegistrationSocket>())) {
    is_tried = is_tried && one.is_listening.has_value();
    if (one.is_listening != true) continue;
    if (!one.listener) {
      ++strangers;
    } else if (!is_program(*one.listener, "compute-domain-agent")) {
      others.push_back(
          cat(base::split(one.listener->arguments.front(), '/').back(), " at ", one.path));
    }
  }
  if (strangers > facts.agents.value_or(strangers)) {
    others.push_back(cat("plugins that listen in kubelet's folder: ", strangers,
                         "; agents that are connected to compute-domain-imex: ", *facts.agents));
  }
  if (!others.empty()) {
    return {requirement, base::join(others, ", "), Verdict::Fails, kLeaveDomains, "OtherPlugin"};
  }
  if (facts.foreign_plugins && !facts.foreign_plugins->empty()) {
    return {requirement, all_of(*facts.foreign_plugins), Verdict::Fails, kLeaveDomains};
  }
  if (!facts.registrations) {
    return {requirement, "kubelet's folders are out of sight", Verdict::Unknown, kSeenByTheJob};
  }
  if (!is_tried) {
    return {requirement, "a socket cannot be tried", Verdict::Unknown, kSeenByTheJob};
  }
  if (strangers > 0 && !facts.agents) {
    return {requirement, "whose sockets are in kubelet's folder is out of sight", Verdict::Unknown,
            kSeenByTheJob};
  }
  return {requirement, "none", Verdict::Ok, ""};
}

Finding registration(const NodeFacts& facts) {
  const std::string requirement = "registration socket";
  if (!facts.registrations) {
    return {requirement, "kubelet's folders are out of sight", Verdict::Unknown, kSeenByTheJob};
  }
  constexpr char kRemedy[] =
      "kubectl get pods -n compute-domain-nodes -o wide: the agent makes it when it runs here";
  std::vector<std::string> live, dead, untried;
  for (const RegistrationSocket& one : *facts.registrations) {
    (!one.is_listening ? untried : *one.is_listening ? live : dead).push_back(one.path);
  }
  if (!live.empty()) return {requirement, base::join(live, ", "), Verdict::Ok, ""};
  if (!untried.empty()) {
    return {requirement, cat("cannot be tried: ", base::join(untried, ", ")), Verdict::Unknown,
            kRemedy};
  }
  if (!dead.empty()) {
    return {requirement, cat("nobody listens: ", base::join(dead, ", ")), Verdict::Warning,
            kRemedy};
  }
  return {requirement, "none yet", Verdict::Warning, kRemedy};
}

Finding kubelet_folders(const NodeFacts& facts) {
  const std::string requirement = "kubelet's folders";
  if (!facts.kubelet_folders) return {requirement, "out of sight", Verdict::Unknown, kSeenByTheJob};
  std::vector<std::string> there, missing;
  for (const KubeletFolder& folder : *facts.kubelet_folders) {
    (folder.is_there ? there : missing).push_back(folder.path);
  }
  if (missing.empty()) return {requirement, base::join(there, ", "), Verdict::Ok, ""};
  return {requirement, cat("missing: ", base::join(missing, ", ")), Verdict::Fails,
          "if kubelet has another --root-dir: KUBELET_PLUGINS_DIRECTORY_PATH, "
          "KUBELET_REGISTRAR_DIRECTORY_PATH and the volume kubelet of the agent"};
}

// CDI folders are compared by what they mean on a node, where /var/run is a link to /run.
std::string meant_by(const std::string& path) {
  std::string folder = std::filesystem::path(path).lexically_normal();
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  return folder.starts_with("/var/run/") ? folder.substr(4) : folder;
}

Finding cdi(const NodeFacts& facts) {
  const std::string requirement = "CDI";
  if (!facts.runtime) {
    return {requirement, "the container runtime's configuration is out of sight", Verdict::Unknown,
            kSeenByTheJob};
  }
  const ContainerRuntime& runtime = *facts.runtime;
  const std::string file = runtime.config_path.empty() ? "its defaults" : runtime.config_path;
  const std::string enable =
      cat("enable_cdi = true in [plugins.\"io.containerd.grpc.v1.cri\"] (containerd 2: "
          "[plugins.'io.containerd.cri.v1.runtime']) of ",
          runtime.config_path.empty() ? "/etc/containerd/config.toml" : runtime.config_path,
          ", and restart containerd");
  if (runtime.name.empty()) {
    return {requirement, "neither containerd nor CRI-O found", Verdict::Unknown,
            cat("see that the container runtime reads CDI files in ", facts.cdi_folder)};
  }
  if (runtime.enable_cdi == false) {
    return {requirement, cat("switched off in ", file), Verdict::Fails, enable, "CdiNotRead"};
  }
  const auto is_ours = [&](const std::string& folder) {
    return meant_by(folder) == meant_by(facts.cdi_folder);
  };
  if (!runtime.cdi_folders.empty() && std::ranges::none_of(runtime.cdi_folders, is_ours)) {
    return {requirement, cat(runtime.name, " reads ", base::join(runtime.cdi_folders, ", ")),
            Verdict::Fails,
            cat("cdi_spec_dirs with ", facts.cdi_folder, " in ", file,
                ", or CDI_ROOT and the volume cdi of the agent"),
            "CdiNotRead"};
  }
  // On by default in CRI-O, and in containerd since 2.0, whose configuration is of version 3.
  constexpr int kVersionOfContainerd2 = 3;
  const bool is_on = runtime.enable_cdi == true || runtime.name == "CRI-O" ||
                     runtime.config_version >= kVersionOfContainerd2;
  if (!is_on) {
    return {requirement, cat("containerd, by ", file), Verdict::Warning,
            cat("none with containerd 2 (kubectl get node -o wide); else ", enable)};
  }
  const std::string later = facts.has_cdi_folder == false ? "; the agent makes it" : "";
  return {requirement, cat(runtime.name, " reads ", facts.cdi_folder, later), Verdict::Ok, ""};
}

Finding port(const NodeFacts& facts, const Port& one) {
  const std::string requirement = cat("port ", one.number);
  const char* network = "";
  if (facts.is_node_network) {
    network = *facts.is_node_network ? " on the node's network" : " on this pod's own network";
  }
  if (facts.program == Program::Agent) {
    return {requirement, "used in the network of compute-domain-imex", Verdict::Unknown,
            "run `compute-domain-imex check`"};
  }
  if (one.error.empty()) return {requirement, cat("free", network), Verdict::Ok, ""};
  if (one.holder && base::has_argument(*one.holder, facts.own_configuration)) {
    return {requirement, "held by this node's own nvidia-imex", Verdict::Ok, ""};
  }
  if (one.holder) {
    return {requirement, cat("held by ", base::text_of(*one.holder)), Verdict::Fails,
            "end it, or --server-port and --command-port on every node", "PortTaken"};
  }
  // No process that holds it is in sight; a daemon that is ending may hold it.
  return {requirement, cat(one.error, network), Verdict::Fails,
          cat("ss -ltnp 'sport = :", one.number, "'")};
}

}  // namespace

void judge_neighbours(const NodeFacts& facts, std::vector<Finding>& findings) {
  if (facts.is_host_managed) {
    findings.push_back(named("HostDaemon", host_daemon(facts)));
  } else {
    findings.push_back(named("OtherDaemon", other_daemons(facts)));
    findings.push_back(named("HostImex", host_unit(facts)));
  }
  findings.push_back(named("OtherPlugin", other_plugins(facts)));
}

void judge_kubelet(const NodeFacts& facts, std::vector<Finding>& findings) {
  for (const Rule& rule : {Rule{"KubeletFolders", kubelet_folders},
                           Rule{"RegistrationSocket", registration}, Rule{"Cdi", cdi}}) {
    findings.push_back(named(rule.check, rule.judge(facts)));
  }
}

void judge_ports(const NodeFacts& facts, std::vector<Finding>& findings) {
  // The host's own daemon has them.
  if (facts.is_host_managed) return;
  for (const Port& one : facts.ports) {
    findings.push_back(named("Port", port(facts, one), cat(one.number)));
  }
}

}  // namespace cdom::node_check
