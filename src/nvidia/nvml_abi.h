// NVML's C interface, as far as it is used here.
//
// The layouts are part of NVML's binary interface: version words carry the size, and a driver
// refuses a version that it does not know. Names without the library's prefix.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cdom::nvidia::nvml {

using Device = void*;
using Return = int;

constexpr Return kSuccess = 0;
constexpr Return kInvalidArgument = 2;
constexpr Return kNotSupported = 3;
constexpr Return kNoPermission = 4;
constexpr Return kDriverNotLoaded = 9;
constexpr Return kFunctionNotFound = 13;
constexpr Return kGpuIsLost = 15;
constexpr Return kResetRequired = 16;
constexpr Return kLibraryMismatch = 18;  // with the kernel module: one of the two is newer
constexpr Return kVersionMismatch = 25;  // of a structure

constexpr int kDisabled = 0, kEnabled = 1;

constexpr unsigned kInitWithoutGpus = 1;  // success also when there are none
constexpr unsigned kTextSize = 96;        // enough for each text that is asked for

// "nvmlDeviceGetGpuFabricInfo", which has no version word.
struct FabricInfo1 {
  unsigned char cluster_uuid[16];
  Return status;
  std::uint32_t clique_id;
  std::uint8_t state;
};
static_assert(sizeof(FabricInfo1) == 28 && offsetof(FabricInfo1, state) == 24);

// "nvmlDeviceGetGpuFabricInfoV"; version 2 ends before `health`.
struct FabricInfo3 {
  std::uint32_t version;
  unsigned char cluster_uuid[16];
  Return status;
  std::uint32_t clique_id;
  std::uint8_t state;
  std::uint32_t health_mask;
  std::uint8_t health;
};
static_assert(sizeof(FabricInfo3) == 40 && offsetof(FabricInfo3, state) == 28 &&
              offsetof(FabricInfo3, health_mask) == 32 && offsetof(FabricInfo3, health) == 36);

// The size and the number of the version.
constexpr std::uint32_t kVersion2 = 36U | 2U << 24U;
constexpr std::uint32_t kVersion3 = 40U | 3U << 24U;

}  // namespace cdom::nvidia::nvml
