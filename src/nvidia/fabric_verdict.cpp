#include "compute_domain/nvidia/fabric_verdict.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "compute_domain/base/text.h"

namespace cdom::nvidia {

namespace {

using base::cat;

// What one GPU contributes to the node's clique.
struct GpuVerdict {
  enum class Kind { Clique, None, Fault };
  Kind kind = Kind::None;
  std::string text;  // the clique, or a predicate: "is in no NVLink fabric"
};

std::string text_of(FabricState state) {
  switch (state) {
    case FabricState::NotSupported:
      return "not supported";
    case FabricState::NotStarted:
      return "not started";
    case FabricState::InProgress:
      return "in progress";
    case FabricState::Completed:
      return "completed";
  }
  return cat("unknown (", static_cast<int>(state), ")");
}

std::string status_of(const GpuFacts& gpu) {
  if (gpu.status == 0) return "success";
  return gpu.status_text.empty() ? cat(gpu.status) : cat(gpu.status, ", ", gpu.status_text);
}

GpuVerdict verdict_on(const GpuFacts& gpu, FabricMode mode) {
  using Kind = GpuVerdict::Kind;
  const Kind if_not_joined = mode == FabricMode::Strict ? Kind::Fault : Kind::None;
  if (!gpu.error.empty()) {
    return {Kind::Fault,
            cat("cannot be asked: ", gpu.error, ": see nvidia-smi on the node and the kernel log")};
  }
  if (gpu.state == FabricState::NotSupported) {
    return {Kind::None, "is in no NVLink fabric (state not supported)"};
  }
  if (gpu.state != FabricState::Completed) {
    return {if_not_joined, cat("has not joined its NVLink fabric (state ", text_of(gpu.state),
                               "): see the rack's NVLink manager and the kernel log")};
  }
  if (gpu.status != 0) {
    return {if_not_joined, cat("could not join its NVLink fabric (status ", status_of(gpu),
                               "): see the rack's NVLink manager and the kernel log")};
  }
  if (gpu.cluster_uuid.empty()) {
    return {Kind::None, "is in an NVLink fabric of this node alone (cluster UUID zero)"};
  }
  return {Kind::Clique, cat(gpu.cluster_uuid, ".", gpu.clique_id)};
}

std::string name_of(std::size_t index, const GpuFacts& gpu) {
  return gpu.uuid.empty() ? cat("GPU ", index) : cat("GPU ", index, " (", gpu.uuid, ")");
}

std::string first_fault(const FabricFacts& facts, FabricMode mode) {
  std::string first;
  int more = 0;
  for (std::size_t i = 0; i < facts.gpus.size(); ++i) {
    const GpuVerdict verdict = verdict_on(facts.gpus[i], mode);
    if (verdict.kind != GpuVerdict::Kind::Fault) continue;
    if (first.empty()) {
      first = cat(name_of(i, facts.gpus[i]), " ", verdict.text);
    } else {
      ++more;
    }
  }
  if (more > 0)
    first += cat("; ", more, more == 1 ? " more GPU has" : " more GPUs have", " a fault");
  return first;
}

std::map<std::string, std::vector<std::string>> gpus_by_clique(const FabricFacts& facts,
                                                               FabricMode mode) {
  std::map<std::string, std::vector<std::string>> cliques;
  for (std::size_t i = 0; i < facts.gpus.size(); ++i) {
    const GpuVerdict verdict = verdict_on(facts.gpus[i], mode);
    if (verdict.kind == GpuVerdict::Kind::Clique) cliques[verdict.text].push_back(cat(i));
  }
  return cliques;
}

std::string disagreement(const std::map<std::string, std::vector<std::string>>& cliques) {
  std::vector<std::string> sides;
  sides.reserve(cliques.size());
  for (const auto& [clique, gpus] : cliques) {
    sides.push_back(
        cat(gpus.size() == 1 ? "GPU " : "GPUs ", base::list_names(gpus, 16), " in ", clique));
  }
  return cat("the GPUs of this node disagree about their NVLink clique: ", base::join(sides, "; "));
}

// "580.65.06" as numbers; what follows something else is left out.
std::vector<int> version_numbers(const std::string& version) {
  std::vector<int> numbers;
  for (const std::string& piece : base::split(version, '.')) {
    int number = 0;
    const auto [end, error] = std::from_chars(piece.data(), piece.data() + piece.size(), number);
    if (error != std::errc()) break;
    numbers.push_back(number);
  }
  return numbers;
}

std::string health_of(const GpuFacts& gpu) {
  switch (gpu.health) {
    case FabricHealth::NotReported:
      return "not reported";
    case FabricHealth::Healthy:
      return "healthy";
    case FabricHealth::Unhealthy:
      return "unhealthy";
    case FabricHealth::LimitedCapacity:
      return "limited capacity";
  }
  return cat("unknown (", static_cast<int>(gpu.health), ")");
}

// Fields of NVML's mask: two bits wide (1: true, 2: false), that of the configuration four.
constexpr unsigned kRouteUnhealthyShift = 4, kConfigurationShift = 8, kPartitionAssignedShift = 12;
constexpr std::uint32_t kConfigurationIsRight = 1;

std::uint32_t configuration_in(std::uint32_t mask) { return (mask >> kConfigurationShift) & 15U; }

// Whether a GPU of a fabric cannot share memory over it. A driver that sums nothing up has a mask.
bool is_unhealthy(const GpuFacts& gpu) {
  if (gpu.health != FabricHealth::NotReported) return gpu.health == FabricHealth::Unhealthy;
  return ((gpu.health_mask >> kRouteUnhealthyShift) & 1U) == 1 ||
         configuration_in(gpu.health_mask) > kConfigurationIsRight;
}

// What NVML's mask says is wrong.
std::vector<std::string> complaints_of(std::uint32_t mask) {
  std::vector<std::string> complaints;
  const std::pair<unsigned, const char*> conditions[] = {{0, "degraded bandwidth"},
                                                         {2, "route recovery"},
                                                         {4, "route unhealthy"},
                                                         {6, "access timeout recovery"}};
  for (const auto& [shift, name] : conditions) {
    if (((mask >> shift) & 3U) == 1) complaints.emplace_back(name);
  }
  if (((mask >> kRouteUnhealthyShift) & 3U) == 3) {
    complaints.emplace_back("route unhealthy until the GPU is reset");
  }
  const std::uint32_t configuration = configuration_in(mask);
  switch (configuration) {
    case 0:
    case 1:
      break;
    case 2:
      complaints.emplace_back("incorrect system GUID");
      break;
    case 3:
      complaints.emplace_back("incorrect chassis serial number");
      break;
    case 4:
      complaints.emplace_back("no partition");
      break;
    case 5:
      complaints.emplace_back("not enough NVLinks");
      break;
    case 6:
      complaints.emplace_back("incompatible GPU firmware");
      break;
    case 7:
      complaints.emplace_back("invalid location in the rack");
      break;
    case 8:
      complaints.emplace_back("invalid GPU state");
      break;
    default:
      complaints.push_back(cat("incorrect configuration (", configuration, ")"));
  }
  if (((mask >> kPartitionAssignedShift) & 3U) == 2) {
    complaints.emplace_back("no NVLink partition assigned");
  }
  return complaints;
}

// The first unhealthy one among the GPUs that are in a clique; "" when all are well.
std::string first_unhealthy(const FabricFacts& facts, FabricMode mode) {
  std::string first;
  int more = 0;
  for (std::size_t i = 0; i < facts.gpus.size(); ++i) {
    const GpuFacts& gpu = facts.gpus[i];
    if (verdict_on(gpu, mode).kind != GpuVerdict::Kind::Clique || !is_unhealthy(gpu)) continue;
    if (!first.empty()) {
      ++more;
      continue;
    }
    const auto complaints = complaints_of(gpu.health_mask);
    first = cat(name_of(i, gpu), " is unhealthy in its NVLink fabric",
                complaints.empty() ? "" : cat(" (", base::join(complaints, ", "), ")"));
  }
  if (more > 0) first += cat(", and ", more, more == 1 ? " more GPU" : " more GPUs");
  if (!first.empty()) first += ": see the rack's NVLink manager and the kernel log";
  return first;
}

std::string lines_about(std::size_t index, const GpuFacts& gpu, FabricMode mode) {
  std::string lines = cat(name_of(index, gpu), gpu.name.empty() ? "" : ", ", gpu.name, "\n");
  const GpuVerdict verdict = verdict_on(gpu, mode);
  if (gpu.error.empty()) {
    lines += cat("  state: ", text_of(gpu.state));
    if (gpu.state == FabricState::Completed) {
      lines += cat(", status: ", status_of(gpu), ", health: ", health_of(gpu));
      const auto complaints = complaints_of(gpu.health_mask);
      if (!complaints.empty()) lines += cat(" (", base::join(complaints, ", "), ")");
    }
    lines += '\n';
  }
  switch (verdict.kind) {
    case GpuVerdict::Kind::Clique:
      return cat(lines, "  clique: ", verdict.text, "\n");
    case GpuVerdict::Kind::None:
      return cat(lines, "  clique: none: it ", verdict.text, "\n");
    case GpuVerdict::Kind::Fault:
      return cat(lines, "  fault: it ", verdict.text, "\n");
  }
  return lines;
}

}  // namespace

bool is_too_old(const std::string& driver_version) {
  static const std::vector<int> oldest{570, 158, 1};
  return !driver_version.empty() && version_numbers(driver_version) < oldest;
}

FabricVerdict verdict_of(const FabricFacts& facts, FabricMode mode) {
  FabricVerdict verdict;
  verdict.error = facts.error;
  if (verdict.error.empty()) verdict.error = first_fault(facts, mode);
  if (!verdict.error.empty()) return verdict;
  const auto cliques = gpus_by_clique(facts, mode);
  if (cliques.size() > 1) {
    verdict.error = disagreement(cliques);
    return verdict;
  }
  verdict.clique = cliques.empty() ? std::string() : cliques.begin()->first;
  if (is_too_old(facts.driver_version)) {
    verdict.old_driver = cat("the GPU driver ", facts.driver_version,
                             " is too old: ", kOldestDriver, " or later is needed");
  }
  verdict.unhealthy = first_unhealthy(facts, mode);
  return verdict;
}

namespace {

std::string conclusion(const FabricFacts& facts, FabricMode mode) {
  const FabricVerdict verdict = verdict_of(facts, mode);
  if (!verdict.clique) return cat("The clique of this node is unknown: ", verdict.error, "\n");
  if (verdict.clique->empty()) {
    return cat("This node has no clique: ",
               facts.gpus.empty() ? "it has no GPU that the driver sees"
                                  : "none of its GPUs is in a fabric with other nodes",
               "\n");
  }
  const std::size_t in_it = gpus_by_clique(facts, mode).at(*verdict.clique).size();
  return cat("The clique of this node is ", *verdict.clique, ": ", in_it, " of ", facts.gpus.size(),
             facts.gpus.size() == 1 ? " GPU is" : " GPUs are", " in it\n");
}

}  // namespace

std::optional<bool> is_persistent(const FabricFacts& facts) {
  std::optional<bool> all;
  for (const GpuFacts& gpu : facts.gpus) {
    if (gpu.is_persistent) all = all.value_or(true) && *gpu.is_persistent;
  }
  return all;
}

std::string describe_fabric(const FabricFacts& facts, FabricMode mode) {
  std::string text =
      cat("Driver: ", facts.driver_version.empty() ? "unknown" : facts.driver_version,
          ", asked through ", facts.source, ", ", mode == FabricMode::Strict ? "strict" : "legacy",
          " rules\n");
  if (is_too_old(facts.driver_version)) {
    text +=
        cat("This driver is too old for IMEX by names: ", kOldestDriver, " or later is needed\n");
  }
  for (std::size_t i = 0; i < facts.gpus.size(); ++i) {
    text += lines_about(i, facts.gpus[i], mode);
  }
  return text + conclusion(facts, mode);
}

}  // namespace cdom::nvidia
