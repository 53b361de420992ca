#include "compute_domain/base/driver_root.h"

#include <algorithm>
#include <filesystem>

#include "compute_domain/base/text.h"

namespace cdom::base {

// The same folders as in kubernetes-sigs/dra-driver-nvidia-gpu (package root: findFile and the
// search paths).
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

std::string path_below(const std::string& root, const std::string& path) {
  constexpr int kMostLinks = 40;
  std::vector<std::string> done, rest = split(path, '/');
  std::ranges::reverse(rest);
  for (int links = 0; !rest.empty() && links < kMostLinks;) {
    const std::string name = std::move(rest.back());
    rest.pop_back();
    if (name.empty() || name == ".") continue;
    if (name == "..") {
      if (!done.empty()) done.pop_back();
      continue;
    }
    done.push_back(name);
    std::error_code error;
    const std::filesystem::path target =
        std::filesystem::read_symlink(cat(root, "/", join(done, "/")), error);
    if (error) continue;
    ++links;
    done.pop_back();
    if (target.is_absolute()) done.clear();
    std::vector<std::string> more = split(target.string(), '/');
    std::ranges::reverse(more);
    rest.insert(rest.end(), more.begin(), more.end());
  }
  return cat(root, "/", join(done, "/"));
}

}  // namespace cdom::base
