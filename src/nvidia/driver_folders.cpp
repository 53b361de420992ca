#include "compute_domain/nvidia/driver_folders.h"

namespace cdom::nvidia {

// As kubernetes-sigs/dra-driver-nvidia-gpu (package root: findFile and the search paths).
const std::vector<std::string>& driver_program_folders() {
  static const std::vector<std::string> folders{
      "/",    "/opt/bin", "/usr/bin",       "/usr/sbin",
      "/bin", "/sbin",    "/usr/local/bin", "/usr/local/glibc/usr/bin"};  // Talos
  return folders;
}

const std::vector<std::string>& driver_library_folders() {
  static const std::vector<std::string> folders{
      "/",
      "/usr/lib64",
      "/usr/lib/x86_64-linux-gnu",
      "/usr/lib/aarch64-linux-gnu",
      "/lib64",
      "/lib/x86_64-linux-gnu",
      "/lib/aarch64-linux-gnu",
      "/usr/local/glibc/usr/lib",    // Talos
      "/usr/local/glibc/usr/lib64",  // Talos 1.13
      "/usr/lib/nvidia/tesla",       // Bottlerocket
  };
  return folders;
}

}  // namespace cdom::nvidia
