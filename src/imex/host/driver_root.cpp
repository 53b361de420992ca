#include "compute_domain/imex/driver_root.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "compute_domain/base/files.h"
#include "compute_domain/base/path_below.h"
#include "compute_domain/base/system_error.h"
#include "compute_domain/base/text.h"
#include "compute_domain/nvidia/driver_folders.h"
#include "imex/host/elf.h"

namespace cdom::imex {

namespace fs = std::filesystem;
using base::cat;
using base::Error;
using base::ErrorKind;
using base::Result;

namespace {

std::vector<std::string> joined(std::vector<std::string> folders,
                                const std::vector<std::string>& more) {
  folders.insert(folders.end(), more.begin(), more.end());
  return folders;
}

bool is_file(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

// The first folder that has it wins; "" when none has it.
std::string find(const std::string& root, const std::vector<std::string>& folders,
                 const std::string& name) {
  for (const std::string& folder : folders) {
    std::string path = base::path_below(root, cat(folder, "/", name));
    if (is_file(path)) return path;
  }
  return "";
}

Result<std::string> find_program(const DriverPlace& place, const std::string& root,
                                 const std::string& name) {
  const auto folders = joined(place.program_folders, nvidia::driver_program_folders());
  std::string path = find(root, folders, name);
  if (!path.empty()) return path;
  return Error{ErrorKind::Invalid,
               cat("no ", name, " below the driver root ", place.root, " (looked in ",
                   base::join(folders, ", "),
                   "): install the package nvidia-imex of the driver's version on this node, or "
                   "see --driver-root and --driver-programs")};
}

bool is_nvidia_library(const std::string& name) {
  return name.find(".so") != std::string::npos &&
         (name.starts_with("libnvidia-") || name.starts_with("libcuda"));
}

void add_nvidia_libraries(DriverFiles& files, const std::string& root,
                          const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    std::error_code error;
    for (fs::directory_iterator it(base::path_below(root, folder), error), end; !error && it != end;
         it.increment(error)) {
      const std::string name = it->path().filename();
      if (!is_nvidia_library(name) || files.libraries.contains(name)) continue;
      files.libraries[name] = base::path_below(root, cat(folder, "/", name));
    }
  }
}

// Where the loader looks by default, on every distribution that this may be.
bool is_own(const std::string& own_root, const std::string& name) {
  static const std::vector<std::string> folders{"/lib/x86_64-linux-gnu",
                                                "/lib/aarch64-linux-gnu",
                                                "/usr/lib/x86_64-linux-gnu",
                                                "/usr/lib/aarch64-linux-gnu",
                                                "/lib64",
                                                "/usr/lib64",
                                                "/lib",
                                                "/usr/lib"};
  return !find(own_root, folders, name).empty();
}

// What the programs need, and what that needs, as far as this pod does not have it.
void add_second_choices(DriverFiles& files, const DriverPlace& place, const std::string& root,
                        const std::vector<std::string>& folders) {
  const auto all = joined(folders, {"/usr/lib", "/lib"});
  std::vector<std::string> rest{files.control_tool};
  if (place.needs_daemon) rest.push_back(files.daemon);
  std::set<std::string> seen;
  while (!rest.empty()) {
    const auto needed = needed_libraries(rest.back());
    rest.pop_back();
    if (!needed) continue;  // a script that starts the program, for example
    for (const std::string& name : *needed) {
      if (!seen.insert(name).second) continue;
      if (!files.libraries.contains(name)) {
        if (is_own(place.own_root, name)) continue;
        std::string path = find(root, all, name);
        if (path.empty()) {
          files.missing.push_back(name);
          continue;
        }
        files.libraries[name] = std::move(path);
      }
      rest.push_back(files.libraries[name]);
    }
  }
}

}  // namespace

Result<DriverFiles> find_driver_files(const DriverPlace& place) {
  const std::string root = place.root == "/" ? "" : place.root;
  DriverFiles files;
  if (place.needs_daemon) {
    auto daemon = find_program(place, root, "nvidia-imex");
    if (!daemon) return daemon.error();
    files.daemon = *std::move(daemon);
  }
  auto control_tool = find_program(place, root, "nvidia-imex-ctl");
  if (!control_tool) return control_tool.error();
  files.control_tool = *std::move(control_tool);
  const auto folders = joined(place.library_folders, nvidia::driver_library_folders());
  add_nvidia_libraries(files, root, folders);
  add_second_choices(files, place, root, folders);
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
