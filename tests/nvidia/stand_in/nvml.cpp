// libnvidia-ml.so.1, a stand-in: says what the JSON file beside it says, "<library>.json"; where
// there is none, the one of the node, /etc/compute-domain-test/nvml.json (tools/cluster).
//
//   {"init": 0,             what nvmlInitWithFlags returns
//    "count": 0,            and nvmlDeviceGetCount_v2
//    "driver": "580.65.06",
//    "newest": 3,           layout that it knows: 3, 2, or 1 for none with a version
//    "hangs": "nvmlDeviceGetCount_v2",   this call reads the named pipe to its end, once
//    "until": "/tmp/pipe",
//    "crashes": "nvmlDeviceGetUUID",     this call ends the process
//    "gpus": [{"uuid": "GPU-0", "name": "NVIDIA GB200", "handle": 0, "fabric": 0,
//              "state": 3, "status": 0, "cluster": "6f0a3c521c7e4b1f9d530c2f6c2b7a10",
//              "clique": 7, "mask": 0, "health": 1, "persistence": 0}]}
//
// Layouts are written here by offsets, so that they are declared twice and not copied.
#include <dlfcn.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#define NVML_CALL extern "C" __attribute__((visibility("default"))) int

namespace {

using nlohmann::json;

constexpr char kOfNode[] = "/etc/compute-domain-test/nvml.json";
constexpr int kInvalid = 2;
constexpr int kNotInitialized = 1;
constexpr int kNotFound = 6;
constexpr int kMismatch = 25;
constexpr unsigned kNoGpus = 1;  // NVML_INIT_FLAG_NO_GPUS

// Of the last nvmlInitWithFlags. Never destroyed: a call that hangs may outlast main().
union State {
  State() : driver() {}
  ~State() {}  // NOLINT(modernize-use-equals-default): it would be deleted
  std::optional<json> driver;
} state;
std::optional<json>& driver = state.driver;

std::string own_path() {
  Dl_info info{};
  dladdr(reinterpret_cast<void*>(&own_path), &info);
  return info.dli_fname;
}

template <class T>
T get(const json& object, const char* key, T otherwise) {
  return object.value(key, std::move(otherwise));
}

void hang_in(const char* call) {
  if (driver && get<std::string>(*driver, "crashes", "") == call) (void)raise(SIGSEGV);
  if (driver && get<std::string>(*driver, "hangs", "") == call) {
    std::ifstream pipe(get<std::string>(*driver, "until", ""));
    while (pipe.get() != std::ifstream::traits_type::eof()) {
    }
    (*driver)["hangs"] = "";  // once
  }
}

const json& gpus() {
  static const json kNone = json::array();
  return driver->contains("gpus") ? (*driver)["gpus"] : kNone;
}

const json& gpu_of(void* device) { return gpus().at(reinterpret_cast<std::uintptr_t>(device) - 1); }

int put_text(const std::string& text, char* out, unsigned length) {
  if (text.size() + 1 > length) return 7;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return 0;
}

void put_number(char* out, std::size_t offset, std::uint32_t value) {
  std::memcpy(out + offset, &value, sizeof value);
}

// Cluster, status, clique and state, which all layouts have in this order.
void put_common(const json& gpu, char* out) {
  const auto cluster = get<std::string>(gpu, "cluster", std::string(32, '0'));
  for (std::size_t i = 0; i < 16; ++i) {
    out[i] = static_cast<char>(std::stoi(cluster.substr(2 * i, 2), nullptr, 16));
  }
  put_number(out, 16, get<std::uint32_t>(gpu, "status", 0));
  put_number(out, 20, get<std::uint32_t>(gpu, "clique", 0));
  out[24] = static_cast<char>(get<int>(gpu, "state", 0));
}

}  // namespace

NVML_CALL nvmlInitWithFlags(unsigned flags) {
  std::string path = own_path() + ".json";
  if (!std::ifstream(path)) path = kOfNode;
  std::ifstream file(path);
  driver = json::parse(file, nullptr, false);
  if (!driver->is_object()) {
    std::fprintf(stderr, "nvml (stand-in): %s is no JSON object\n", path.c_str());
    return 999;
  }
  hang_in("nvmlInitWithFlags");
  int code = get(*driver, "init", 0);
  const bool has_gpus = !gpus().empty();
  if (code == 0 && !has_gpus && (flags & kNoGpus) == 0) code = kNotFound;
  if (code != 0) driver.reset();  // nobody shuts down what has not started
  return code;
}

NVML_CALL nvmlShutdown() {
  if (!driver) return kNotInitialized;
  hang_in("nvmlShutdown");
  driver.reset();
  return 0;
}

extern "C" __attribute__((visibility("default"))) const char* nvmlErrorString(int code) {
  switch (code) {
    case 9:
      return "Driver Not Loaded";
    case 15:
      return "GPU is lost";
    case 18:
      return "Driver/library version mismatch";
    default:
      return "Unknown Error";
  }
}

NVML_CALL nvmlSystemGetDriverVersion(char* out, unsigned length) {
  return put_text(get<std::string>(*driver, "driver", ""), out, length);
}

NVML_CALL nvmlDeviceGetCount_v2(unsigned* count) {
  if (!driver) return kNotInitialized;
  hang_in("nvmlDeviceGetCount_v2");
  *count = static_cast<unsigned>(gpus().size());
  return get(*driver, "count", 0);
}

NVML_CALL nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  if (!driver || index >= gpus().size()) return kInvalid;
  // A number that is no address.  NOLINTNEXTLINE(performance-no-int-to-ptr)
  *device = reinterpret_cast<void*>(std::uintptr_t{index} + 1);
  return get(gpu_of(*device), "handle", 0);
}

NVML_CALL nvmlDeviceGetUUID(void* device, char* out, unsigned length) {
  hang_in("nvmlDeviceGetUUID");
  return put_text(get<std::string>(gpu_of(device), "uuid", ""), out, length);
}

NVML_CALL nvmlDeviceGetName(void* device, char* out, unsigned length) {
  return put_text(get<std::string>(gpu_of(device), "name", ""), out, length);
}

NVML_CALL nvmlDeviceGetPersistenceMode(void* device, int* mode) {
  *mode = get(gpu_of(device), "persistence", 0);
  return 0;
}

NVML_CALL nvmlDeviceGetGpuFabricInfo(void* device, char* out) {
  hang_in("nvmlDeviceGetGpuFabricInfo");
  const json& gpu = gpu_of(device);
  if (const int code = get(gpu, "fabric", 0); code != 0) return code;
  put_common(gpu, out);
  return 0;
}

#ifndef CDOM_STAND_IN_IS_OLD
NVML_CALL nvmlDeviceGetGpuFabricInfoV(void* device, char* out) {
  hang_in("nvmlDeviceGetGpuFabricInfoV");
  const int newest = get(*driver, "newest", 3);
  std::uint32_t version = 0;
  std::memcpy(&version, out, sizeof version);
  const bool is_2 = version == 0x02000024 && newest >= 2;
  const bool is_3 = version == 0x03000028 && newest >= 3;
  if (!is_2 && !is_3) return kMismatch;
  const json& gpu = gpu_of(device);
  if (const int code = get(gpu, "fabric", 0); code != 0) return code;
  put_common(gpu, out + 4);
  put_number(out, 32, get<std::uint32_t>(gpu, "mask", 0));
  if (is_3) out[36] = static_cast<char>(get<int>(gpu, "health", 1));
  return 0;
}
#endif
