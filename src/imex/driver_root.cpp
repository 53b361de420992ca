#include "imex/driver_root.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "compute_domain/base/text.h"
#include "imex/files.h"
#include "imex/system_error.h"

namespace cdom::imex {

namespace fs = std::filesystem;
using base::cat;
using base::Error;
using base::ErrorKind;
using base::Result;

namespace {

const std::vector<std::string> kProgramFolders{"/usr/bin", "/usr/sbin", "/bin", "/sbin"};
const std::vector<std::string> kLibraryFolders{
    "/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
    "/lib64",     "/lib/x86_64-linux-gnu",     "/lib/aarch64-linux-gnu"};
constexpr char kLibrary[] = "libnvidia-imex.so";

Error missing(const std::string& name, const std::string& root,
              const std::vector<std::string>& folders) {
  return {
      ErrorKind::Invalid,
      cat("no ", name, " below the driver root ", root, " (looked in ", base::join(folders, ", "),
          "): install the NVIDIA driver with IMEX on this node, or see --driver-root")};
}

// What `path` is below the root: an absolute link there means a path of the host, not of this pod.
std::string resolved(const std::string& root, const std::string& path) {
  constexpr int kMostLinks = 40;
  std::vector<std::string> done, rest = base::split(path, '/');
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
    const fs::path target = fs::read_symlink(cat(root, "/", base::join(done, "/")), error);
    if (error) continue;
    ++links;
    done.pop_back();
    if (target.is_absolute()) done.clear();
    std::vector<std::string> more = base::split(target.string(), '/');
    std::ranges::reverse(more);
    rest.insert(rest.end(), more.begin(), more.end());
  }
  return cat(root, "/", base::join(done, "/"));
}

Result<std::string> find_program(const std::string& root, const std::string& name) {
  for (const std::string& folder : kProgramFolders) {
    std::string path = resolved(root, cat(folder, "/", name));
    std::error_code error;
    if (fs::is_regular_file(path, error)) return path;
  }
  return missing(name, root, kProgramFolders);
}

bool is_nvidia_library(const std::string& name) {
  return name.find(".so") != std::string::npos &&
         (name.starts_with("libnvidia-") || name.starts_with("libcuda.so"));
}

}  // namespace

Result<DriverFiles> find_driver_files(const std::string& given) {
  const std::string root = given == "/" ? "" : given;
  DriverFiles files;
  auto daemon = find_program(root, "nvidia-imex");
  if (!daemon) return daemon.error();
  auto control_tool = find_program(root, "nvidia-imex-ctl");
  if (!control_tool) return control_tool.error();
  files.daemon = *std::move(daemon);
  files.control_tool = *std::move(control_tool);

  bool has_imex = false;
  for (const std::string& folder : kLibraryFolders) {
    std::error_code error;
    for (fs::directory_iterator it(resolved(root, folder), error), end; !error && it != end;
         it.increment(error)) {
      const std::string name = it->path().filename();
      // Of two folders with the same name the first wins.
      if (!is_nvidia_library(name) || files.libraries.contains(name)) continue;
      has_imex = has_imex || name.starts_with(kLibrary);
      files.libraries[name] = resolved(root, cat(folder, "/", name));
    }
  }
  if (!has_imex) return missing(kLibrary, root, kLibraryFolders);
  return files;
}

Result<void> link_libraries(const DriverFiles& files, const std::string& directory) {
  std::error_code error;
  fs::remove_all(directory, error);
  if (auto made = make_directories(directory); !made) return made;
  for (const auto& [name, path] : files.libraries) {
    const fs::path link = fs::path(directory) / name;
    fs::create_symlink(path, link, error);
    if (error) return system_error(cat("cannot make ", link.string()), error.value());
  }
  return {};
}

}  // namespace cdom::imex
