#include "compute_domain/nvidia/nvml.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "compute_domain/base/path_below.h"
#include "compute_domain/base/text.h"
#include "compute_domain/nvidia/driver_folders.h"
#include "compute_domain/nvidia/kernel_gpus.h"
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
  call("nvmlDeviceGetPersistenceMode");
  facts.is_persistent = nvml.is_persistent(gpu);
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

// NVML is silent about a GPU whose device file it may not open, and counts none of them: seen with
// driver 580.159.04.
void add_unseen(const std::string& proc_driver, std::vector<GpuFacts>& gpus) {
  std::vector<KernelGpu> unseen = kernel_gpus(proc_driver);
  if (unseen.size() <= gpus.size()) return;
  const std::size_t count = unseen.size() - gpus.size();
  std::erase_if(unseen, [&](const KernelGpu& gpu) {
    return !gpu.uuid.empty() && std::ranges::find(gpus, gpu.uuid, &GpuFacts::uuid) != gpus.end();
  });
  // Those that NVML has counted and cannot ask have no UUID there.
  std::vector<std::string> files;
  files.reserve(unseen.size());
  for (const KernelGpu& gpu : unseen) {
    files.push_back(gpu.device_file.empty() ? "its device file" : gpu.device_file);
  }
  const bool is_known = unseen.size() == count;
  for (std::size_t i = 0; i < count; ++i) {
    gpus.push_back(
        {.uuid = is_known ? unseen[i].uuid : "",
         .error = cat("the kernel module has it, and NVML does not see it (is ",
                      is_known ? files[i] : base::join(files, " or "),
                      " in this container, and may it be opened? Or has somebody drained it?)")});
  }
}

std::string start_error(const NvmlLibrary& nvml, nvml::Return code,
                        const std::string& proc_driver) {
  std::error_code error;
  const bool is_loaded =
      !proc_driver.empty() && std::filesystem::exists(cat(proc_driver, "/version"), error);
  if (code != nvml::kDriverNotLoaded || !is_loaded) return nvml.text_of(code);
  return cat("Driver Not Loaded (", code, "): the kernel module is loaded (", proc_driver,
             "/version); is /dev/nvidiactl in this container?");
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
    facts.error = cat("NVML does not start: ", start_error(*nvml, done, options.proc_driver));
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
    before("reading what the kernel module has");
    add_unseen(options.proc_driver, facts.gpus);
  }
  before("nvmlShutdown");
  (void)nvml->shut_down();
  note_nvml_call("");
  return facts;
}

}  // namespace cdom::nvidia
