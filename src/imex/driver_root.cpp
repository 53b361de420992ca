#include "imex/driver_root.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "compute_domain/base/driver_root.h"
#include "compute_domain/base/files.h"
#include "compute_domain/base/system_error.h"
#include "compute_domain/base/text.h"

namespace cdom::imex {

namespace fs = std::filesystem;
using base::cat;
using base::Error;
using base::ErrorKind;
using base::Result;

namespace {

const std::vector<std::string> kProgramFolders{"/usr/bin", "/usr/sbin", "/bin", "/sbin"};
constexpr char kLibrary[] = "libnvidia-imex.so";

Error missing(const std::string& name, const std::string& root,
              const std::vector<std::string>& folders) {
  return {
      ErrorKind::Invalid,
      cat("no ", name, " below the driver root ", root, " (looked in ", base::join(folders, ", "),
          "): install the NVIDIA driver with IMEX on this node, or see --driver-root")};
}

Result<std::string> find_program(const std::string& root, const std::string& name) {
  for (const std::string& folder : kProgramFolders) {
    std::string path = base::path_below(root, cat(folder, "/", name));
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
  for (const std::string& folder : base::driver_library_folders()) {
    std::error_code error;
    for (fs::directory_iterator it(base::path_below(root, folder), error), end; !error && it != end;
         it.increment(error)) {
      const std::string name = it->path().filename();
      // Of two folders with the same name the first wins.
      if (!is_nvidia_library(name) || files.libraries.contains(name)) continue;
      has_imex = has_imex || name.starts_with(kLibrary);
      files.libraries[name] = base::path_below(root, cat(folder, "/", name));
    }
  }
  if (!has_imex) return missing(kLibrary, root, base::driver_library_folders());
  return files;
}

Result<void> link_libraries(const DriverFiles& files, const std::string& directory) {
  std::error_code error;
  fs::remove_all(directory, error);
  if (auto made = base::make_directories(directory); !made) return made;
  for (const auto& [name, path] : files.libraries) {
    const fs::path link = fs::path(directory) / name;
    fs::create_symlink(path, link, error);
    if (error) return base::system_error(cat("cannot make ", link.string()), error.value());
  }
  return {};
}

}  // namespace cdom::imex
