#include "compute_domain/base/text.h"
#include "compute_domain/nvidia/fabric_verdict.h"
#include "node_check/rules.h"

namespace cdom::node_check {

using base::cat;
using nvidia::kOldestDriver;

namespace {

bool is_loaded(const NodeFacts& facts) { return !facts.kernel_driver_version.empty(); }

// The finding on what the kernel has only with the driver.
Finding without_driver(const std::string& requirement) {
  return {requirement, "no NVIDIA driver is loaded", Verdict::Unknown, "see \"driver\""};
}

// Without the folders that were looked into.
std::string in_brief(const std::string& error) {
  return error.substr(0, error.find(" (looked in"));
}

Finding driver(const NodeFacts& facts) {
  const std::string requirement = cat("driver ", kOldestDriver, " or later");
  const std::string install =
      cat("install the NVIDIA driver ", kOldestDriver, " or later on this node and reboot it");
  if (!is_loaded(facts)) {
    return {requirement, "no NVIDIA driver is loaded", Verdict::Fails,
            cat(install,
                "; with the GPU Operator: kubectl get pods -A -l app=nvidia-driver-daemonset")};
  }
  const std::string& version = facts.kernel_driver_version;
  if (nvidia::is_too_old(version)) {
    // The host's own daemon has addresses in its table.
    if (facts.is_host_managed) return {requirement, version, Verdict::Warning, install};
    return {requirement, version, Verdict::Fails, install};
  }
  if (facts.fabric && !facts.fabric->driver_version.empty() &&
      facts.fabric->driver_version != version) {
    return {requirement,
            cat("kernel module ", version, ", libraries ", facts.fabric->driver_version),
            Verdict::Fails, "reboot the node: the kernel still has the driver of before an update"};
  }
  return {requirement, version, Verdict::Ok, ""};
}

Finding gpus(const NodeFacts& facts) {
  if (!is_loaded(facts)) return without_driver("GPUs");
  if (facts.gpus > 0) return {"GPUs", cat(facts.gpus), Verdict::Ok, ""};
  return {"GPUs", "the driver sees none", Verdict::Fails, "dmesg | grep -iE 'nvrm|xid'"};
}

Finding channels(const NodeFacts& facts) {
  const std::string requirement = "IMEX channels";
  if (facts.channel_major) {
    return {requirement, cat("major ", *facts.channel_major, " in ", facts.proc_devices),
            Verdict::Ok, ""};
  }
  if (!is_loaded(facts)) return without_driver(requirement);
  return {requirement, cat(facts.proc_devices, " has no nvidia-caps-imex-channels"), Verdict::Fails,
          cat("load the driver with NVreg_ImexChannelCount=", facts.wanted_channels,
              " (modprobe.d, module nvidia), not 0")};
}

Finding channel_count(const NodeFacts& facts) {
  const std::string requirement = "number of IMEX channels";
  if (!is_loaded(facts)) return without_driver(requirement);
  const std::string setting =
      cat("NVreg_ImexChannelCount=", facts.wanted_channels,
          " on every node, or IMEX_CHANNELS of controller, agents and supervisors to what all of "
          "them have");
  if (!facts.channel_count) {
    return {requirement, "the driver does not say", Verdict::Unknown,
            cat("expect ", facts.wanted_channels, "; grep -r ImexChannelCount /etc/modprobe.d")};
  }
  const std::string found =
      cat(*facts.channel_count, " (IMEX_CHANNELS is ", facts.wanted_channels, ")");
  if (*facts.channel_count == facts.wanted_channels) return {requirement, found, Verdict::Ok, ""};
  return {requirement, found,
          *facts.channel_count < facts.wanted_channels ? Verdict::Fails : Verdict::Warning,
          setting};
}

Finding capability(const NodeFacts& facts) {
  const std::string requirement = "capability fabric-imex-mgmt";
  if (!is_loaded(facts)) return without_driver(requirement);
  if (facts.imex_capability && facts.capabilities_major) {
    return {requirement,
            cat("/dev/nvidia-caps/nvidia-cap", *facts.imex_capability, ", major ",
                *facts.capabilities_major),
            Verdict::Ok, ""};
  }
  return {requirement,
          facts.imex_capability ? cat(facts.proc_devices, " has no nvidia-caps")
                                : "the driver has none",
          Verdict::Fails, "ls /proc/driver/nvidia/capabilities; reload the driver, or update it"};
}

Finding page_size(const NodeFacts& facts) {
  const std::string found = cat(facts.page_size / 1024, " KiB");
  constexpr std::int64_t kRecommended = 65536;
  if (facts.machine != "aarch64" || facts.page_size == kRecommended) {
    return {"page size", found, Verdict::Ok, ""};
  }
  return {"page size", found, Verdict::Warning,
          "a kernel with 64 KiB pages, which NVIDIA recommends for Grace, the same on every node",
          "SmallPages"};
}

Finding persistence(const NodeFacts& facts) {
  const std::string requirement = "persistence mode";
  if (facts.is_persistent || (facts.fabric && facts.fabric->is_persistent)) {
    return {requirement, "on", Verdict::Ok, ""};
  }
  if (!facts.keeps_gpus_initialised) {
    return {requirement, "out of sight", Verdict::Unknown, kSeenByTheJob};
  }
  if (*facts.keeps_gpus_initialised) {
    return {requirement, "nvidia-persistenced runs", Verdict::Ok, ""};
  }
  return {requirement, "off, and no nvidia-persistenced runs", Verdict::Warning,
          "systemctl enable --now nvidia-persistenced: else the driver lets "
          "go of a GPU that nobody uses",
          "NoPersistence"};
}

}  // namespace

void judge_kernel(const NodeFacts& facts, std::vector<Finding>& findings) {
  for (const Rule& rule :
       {Rule{"Driver", driver}, Rule{"Gpus", gpus}, Rule{"ImexChannels", channels},
        Rule{"ImexChannelCount", channel_count}, Rule{"ImexCapability", capability},
        Rule{"PageSize", page_size}, Rule{"Persistence", persistence}}) {
    findings.push_back(named(rule.check, rule.judge(facts)));
  }
}

void judge_imex_programs(const NodeFacts& facts, std::vector<Finding>& findings) {
  const std::string programs = "nvidia-imex and -ctl", libraries = "libraries of nvidia-imex";
  const auto add_programs = [&](const std::string& found, Verdict verdict,
                                const std::string& remedy) {
    findings.push_back(named("ImexPrograms", {programs, found, verdict, remedy}));
  };
  const auto add_libraries = [&](const std::string& found, Verdict verdict,
                                 const std::string& remedy) {
    findings.push_back(named("ImexLibraries", {libraries, found, verdict, remedy}));
  };
  if (!facts.imex_programs) {
    const std::string remedy =
        facts.driver_root.empty()
            ? "run `compute-domain-imex check`"
            : "mount the node's driver there (--driver-root); with the GPU Operator wait for its "
              "driver container";
    const std::string found = facts.driver_root.empty()
                                  ? "this program has no driver root"
                                  : cat("there is no driver root ", facts.driver_root);
    add_programs(found, Verdict::Unknown, remedy);
    add_libraries(found, Verdict::Unknown, remedy);
    return;
  }
  const ImexPrograms& found = *facts.imex_programs;
  if (!found.error.empty()) {
    add_programs(in_brief(found.error), Verdict::Fails,
                 "install the package nvidia-imex of the driver's version on this node, or "
                 "name its folder by --driver-programs");
    add_libraries("no programs", Verdict::Unknown, cat("see \"", programs, "\""));
    return;
  }
  if (!found.not_executable.empty()) {
    add_programs(cat("not executable: ", base::join(found.not_executable, ", ")), Verdict::Fails,
                 "reinstall the package nvidia-imex");
  } else {
    add_programs(
        found.daemon.empty() ? found.control_tool : cat(found.daemon, ", ", found.control_tool),
        Verdict::Ok, "");
  }
  if (!found.missing_libraries.empty()) {
    add_libraries(
        cat("missing: ", base::list_names(found.missing_libraries)), Verdict::Fails,
        cat("install them on the node, or name their folder by --driver-libraries (neither this "
            "image nor ",
            facts.driver_root, " has them)"));
  } else if (facts.program == Program::Agent) {
    // It runs them in its own image, which has others than this one.
    add_libraries("all are in this image or the driver root", Verdict::Unknown,
                  "run `compute-domain-imex check`, in whose image they run");
  } else {
    add_libraries("all found", Verdict::Ok, "");
  }
}

namespace {

Finding fabric_of_gpu(const GpuFabric& gpu) {
  Finding finding{cat("fabric of ", gpu.name),
                  gpu.clique.empty() ? "in no fabric with other nodes" : cat("clique ", gpu.clique),
                  Verdict::Ok, ""};
  if (!gpu.warning.empty()) {
    finding.found += cat(", ", gpu.warning);
    finding.verdict = Verdict::Warning;
    finding.remedy = "nvidia-smi -q; see the rack's NVLink manager";
  }
  if (!gpu.fault.empty()) {
    finding.found = gpu.fault;
    finding.verdict = Verdict::Fails;
    finding.remedy = "nvidia-smi -q, dmesg; see the rack's NVLink manager";
  }
  return finding;
}

// What all of them come to.
Finding fabric(const NodeFacts& facts) {
  const std::string requirement = "NVLink fabric";
  if (!facts.fabric) {
    return {requirement, "NVML was not asked", Verdict::Unknown,
            "run `compute-domain-imex check` on this node"};
  }
  if (!is_loaded(facts)) return without_driver(requirement);
  const Fabric& all = *facts.fabric;
  if (!all.error.empty()) {
    return {requirement, in_brief(all.error), Verdict::Fails, "nvidia-smi -q, dmesg"};
  }
  if (all.clique.empty()) {
    return {requirement, "no GPU is in a fabric with other nodes", Verdict::Warning,
            "nothing, where that is meant: pods get no channel, and share no memory "
            "with other nodes; else see the rack's NVLink manager"};
  }
  return {requirement, cat("clique ", all.clique), Verdict::Ok, ""};
}

}  // namespace

void judge_fabric(const NodeFacts& facts, std::vector<Finding>& findings) {
  if (facts.fabric && is_loaded(facts)) {
    for (const GpuFabric& gpu : facts.fabric->gpus) {
      findings.push_back(named("GpuFabric", fabric_of_gpu(gpu), cat(gpu.index)));
    }
  }
  findings.push_back(named("NvlinkFabric", fabric(facts)));
}

}  // namespace cdom::node_check
