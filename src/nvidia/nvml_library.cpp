#include "nvidia/nvml_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <iterator>

#include "compute_domain/base/text.h"

namespace cdom::nvidia {

namespace {

using base::cat;

// "" when it is zero.
std::string uuid_text(const unsigned char (&bytes)[16]) {
  if (std::ranges::all_of(bytes, [](unsigned char byte) { return byte == 0; })) return {};
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < std::size(bytes); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += kDigits[bytes[i] >> 4U];
    text += kDigits[bytes[i] & 15U];
  }
  return text;
}

// What a person can do about it.
const char* remedy_of(nvml::Return code) {
  switch (code) {
    case nvml::kDriverNotLoaded:
      return ": is the NVIDIA driver loaded on this node?";
    case nvml::kLibraryMismatch:
      return ": the driver was replaced while the old one is loaded; load the new one";
    case nvml::kNoPermission:
      return ": compute-domain-imex needs the GPUs' device files";
    case nvml::kGpuIsLost:
      return ": it has fallen off the bus; see the kernel log";
    case nvml::kResetRequired:
      return ": the GPU has to be reset";
    default:
      return "";
  }
}

}  // namespace

void NvmlLibrary::Closer::operator()(void* library) const { dlclose(library); }

template <class Function>
void NvmlLibrary::find(Function*& function, const char* symbol) const {
  function = reinterpret_cast<Function*>(dlsym(library_.get(), symbol));
}

base::Result<NvmlLibrary> NvmlLibrary::open(const std::string& path) {
  NvmlLibrary nvml;
  nvml.library_.reset(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!nvml.library_) {
    const char* error = dlerror();  // NOLINT(concurrency-mt-unsafe): glibc has one per thread
    return base::invalid(cat("cannot open ", path, ": ", error == nullptr ? "" : error));
  }
  nvml.find(nvml.init_, "nvmlInitWithFlags");
  nvml.find(nvml.shut_down_, "nvmlShutdown");
  nvml.find(nvml.error_, "nvmlErrorString");
  nvml.find(nvml.driver_, "nvmlSystemGetDriverVersion");
  nvml.find(nvml.count_, "nvmlDeviceGetCount_v2");
  nvml.find(nvml.device_, "nvmlDeviceGetHandleByIndex_v2");
  nvml.find(nvml.uuid_, "nvmlDeviceGetUUID");
  nvml.find(nvml.name_, "nvmlDeviceGetName");
  nvml.find(nvml.persistence_, "nvmlDeviceGetPersistenceMode");
  nvml.find(nvml.fabric1_, "nvmlDeviceGetGpuFabricInfo");
  nvml.find(nvml.fabric3_, "nvmlDeviceGetGpuFabricInfoV");
  if (nvml.init_ == nullptr || nvml.shut_down_ == nullptr || nvml.count_ == nullptr ||
      nvml.device_ == nullptr) {
    return base::invalid(cat(path, " is not NVML, or is too old"));
  }
  return nvml;
}

std::string NvmlLibrary::text_of(nvml::Return code) const {
  const char* words = error_ == nullptr ? nullptr : error_(code);
  return cat(words == nullptr ? "NVML error" : words, " (", code, ")", remedy_of(code));
}

std::string NvmlLibrary::driver_version() const {
  char text[nvml::kTextSize] = {};
  if (driver_ == nullptr || driver_(text, sizeof text - 1) != nvml::kSuccess) return {};
  return text;
}

std::string NvmlLibrary::uuid_of(nvml::Device gpu) const {
  char text[nvml::kTextSize] = {};
  if (uuid_ == nullptr || uuid_(gpu, text, sizeof text - 1) != nvml::kSuccess) return {};
  return text;
}

std::string NvmlLibrary::name_of(nvml::Device gpu) const {
  char text[nvml::kTextSize] = {};
  if (name_ == nullptr || name_(gpu, text, sizeof text - 1) != nvml::kSuccess) return {};
  return text;
}

std::optional<bool> NvmlLibrary::is_persistent(nvml::Device gpu) const {
  int mode = nvml::kDisabled;
  if (persistence_ == nullptr || persistence_(gpu, &mode) != nvml::kSuccess) return std::nullopt;
  return mode == nvml::kEnabled;
}

nvml::Return NvmlLibrary::fabric_of_version(nvml::Device gpu, std::uint32_t version,
                                            GpuFacts* facts) const {
  nvml::FabricInfo3 info{};
  info.version = version;
  const nvml::Return done = fabric3_(gpu, &info);
  if (done != nvml::kSuccess) return done;
  facts->state = static_cast<FabricState>(info.state);
  facts->status = info.status;
  facts->cluster_uuid = uuid_text(info.cluster_uuid);
  facts->clique_id = info.clique_id;
  facts->health_mask = info.health_mask;
  facts->health = static_cast<FabricHealth>(info.health);  // zero in version 2: not reported
  return done;
}

nvml::Return NvmlLibrary::fabric(nvml::Device gpu, GpuFacts* facts) const {
  if (fabric3_ != nullptr) {
    for (const std::uint32_t version : {nvml::kVersion3, nvml::kVersion2}) {
      const nvml::Return done = fabric_of_version(gpu, version, facts);
      // The words of drivers that do not know this version.
      if (done != nvml::kVersionMismatch && done != nvml::kInvalidArgument &&
          done != nvml::kFunctionNotFound) {
        return done;
      }
    }
  }
  // A driver from before NVLink fabrics.
  if (fabric1_ == nullptr) return nvml::kNotSupported;
  nvml::FabricInfo1 info{};
  const nvml::Return done = fabric1_(gpu, &info);
  if (done != nvml::kSuccess) return done;
  facts->state = static_cast<FabricState>(info.state);
  facts->status = info.status;
  facts->cluster_uuid = uuid_text(info.cluster_uuid);
  facts->clique_id = info.clique_id;
  return done;
}

}  // namespace cdom::nvidia
