#include "compute_domain/nvidia/nvml.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "compute_domain/base/path_below.h"
#include "compute_domain/base/text.h"
#include "compute_domain/nvidia/driver_folders.h"
#include "compute_domain/nvidia/nvml_crash.h"
#include "nvidia/nvml_library.h"

namespace cdom::nvidia {

namespace {

using base::cat;

constexpr char kNvmlName[] = "libnvidia-ml.so.1";

base::Result<std::string> find_nvml(const NvmlOptions& options) {
  if (!options.library.empty()) return options.library;
  const std::string root = options.driver_root == "/" ? "" : options.driver_root;
  std::vector<std::string> folders = options.folders;
  std::ranges::copy(nvidia::driver_library_folders(), std::back_inserter(folders));
  for (const std::string& folder : folders) {
    std::string path = base::path_below(root, cat(folder, "/", kNvmlName));
    std::error_code error;
    if (std::filesystem::is_regular_file(path, error)) return path;
  }
  return base::invalid(cat("no ", kNvmlName, " below the driver root ", options.driver_root,
                           " (looked in ", base::join(folders, ", "),
                           "): install the NVIDIA driver on this node, or see --driver-root and "
                           "--driver-libraries of compute-domain-imex"));
}

GpuFacts ask_gpu(const NvmlLibrary& nvml, unsigned index, const BeforeCall& before) {
  GpuFacts facts;
  nvml::Device gpu = nullptr;
  const auto call = [&](const char* name) { before(cat(name, " of GPU ", index)); };
  call("nvmlDeviceGetHandleByIndex");
  if (const auto done = nvml.device(index, &gpu); done != nvml::kSuccess) {
    facts.error = nvml.text_of(done);
    return facts;
  }
  call("nvmlDeviceGetUUID");
  facts.uuid = nvml.uuid_of(gpu);
  call("nvmlDeviceGetName");
  facts.name = nvml.name_of(gpu);
  call("nvmlDeviceGetGpuFabricInfo");
  const auto done = nvml.fabric(gpu, &facts);
  if (done == nvml::kNotSupported) {
    facts.state = FabricState::NotSupported;
  } else if (done != nvml::kSuccess) {
    facts.error = nvml.text_of(done);
  } else if (facts.state == FabricState::Completed && facts.status != nvml::kSuccess) {
    facts.status_text = nvml.text_of(facts.status);
  }
  return facts;
}

}  // namespace

FabricFacts ask_nvml(const NvmlOptions& options, const BeforeCall& tell) {
  FabricFacts facts;
  const BeforeCall before = [&tell](const std::string& call) {
    note_nvml_call(call);
    if (tell) tell(call);
  };
  facts.source = options.library.empty() ? options.driver_root : options.library;
  before("opening the library");
  const auto path = find_nvml(options);
  if (!path) {
    facts.error = path.error().message;
    return facts;
  }
  facts.source = *path;
  const auto nvml = NvmlLibrary::open(*path);
  if (!nvml) {
    facts.error = nvml.error().message;
    return facts;
  }
  before("nvmlInitWithFlags");
  if (const auto done = nvml->init(); done != nvml::kSuccess) {
    note_nvml_call("");
    facts.error = cat("NVML does not start: ", nvml->text_of(done));
    return facts;
  }
  before("nvmlSystemGetDriverVersion");
  facts.driver_version = nvml->driver_version();
  before("nvmlDeviceGetCount");
  unsigned gpus = 0;
  if (const auto done = nvml->count(&gpus); done != nvml::kSuccess) {
    facts.error = cat("NVML does not count the GPUs: ", nvml->text_of(done));
  } else {
    for (unsigned i = 0; i < gpus; ++i) facts.gpus.push_back(ask_gpu(*nvml, i, before));
  }
  before("nvmlShutdown");
  (void)nvml->shut_down();
  note_nvml_call("");
  return facts;
}

}  // namespace cdom::nvidia
