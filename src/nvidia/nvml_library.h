// NvmlLibrary: libnvidia-ml.so.1, opened while this lives. Its calls may take for ever.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "compute_domain/base/result.h"
#include "compute_domain/nvidia/fabric_facts.h"
#include "nvidia/nvml_abi.h"

namespace cdom::nvidia {

class NvmlLibrary {
 public:
  // Invalid: there is none, or it lacks a call.
  static base::Result<NvmlLibrary> open(const std::string& path);

  // "Driver Not Loaded (9)", with the remedy where there is one.
  [[nodiscard]] std::string text_of(nvml::Return code) const;

  [[nodiscard]] nvml::Return init() const { return init_(nvml::kInitWithoutGpus); }
  [[nodiscard]] nvml::Return shut_down() const { return shut_down_(); }
  [[nodiscard]] std::string driver_version() const;
  nvml::Return count(unsigned* gpus) const { return count_(gpus); }
  nvml::Return device(unsigned index, nvml::Device* gpu) const { return device_(index, gpu); }
  [[nodiscard]] std::string uuid_of(nvml::Device gpu) const;
  [[nodiscard]] std::string name_of(nvml::Device gpu) const;
  // "Persistence-M" of nvidia-smi.
  [[nodiscard]] std::optional<bool> is_persistent(nvml::Device gpu) const;
  // With the newest layout that the driver knows.
  nvml::Return fabric(nvml::Device gpu, GpuFacts* facts) const;

 private:
  struct Closer {
    void operator()(void* library) const;
  };
  template <class Function>
  void find(Function*& function, const char* symbol) const;
  nvml::Return fabric_of_version(nvml::Device gpu, std::uint32_t version, GpuFacts* facts) const;
  using Text = nvml::Return(nvml::Device, char*, unsigned);

  std::unique_ptr<void, Closer> library_;
  nvml::Return (*init_)(unsigned) = nullptr;
  nvml::Return (*shut_down_)() = nullptr;
  const char* (*error_)(nvml::Return) = nullptr;
  nvml::Return (*driver_)(char*, unsigned) = nullptr;
  nvml::Return (*count_)(unsigned*) = nullptr;
  nvml::Return (*device_)(unsigned, nvml::Device*) = nullptr;
  Text* uuid_ = nullptr;
  Text* name_ = nullptr;
  nvml::Return (*persistence_)(nvml::Device, int*) = nullptr;
  nvml::Return (*fabric1_)(nvml::Device, nvml::FabricInfo1*) = nullptr;
  nvml::Return (*fabric3_)(nvml::Device, nvml::FabricInfo3*) = nullptr;
};

}  // namespace cdom::nvidia
