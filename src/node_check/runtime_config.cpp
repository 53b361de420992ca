#include "node_check/runtime_config.h"

#include <glob.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <vector>

#include "compute_domain/base/driver_root.h"
#include "compute_domain/base/files.h"
#include "compute_domain/base/text.h"

namespace cdom::node_check {

namespace fs = std::filesystem;
using base::cat;

namespace {

struct KnownRuntime {
  const char* name;
  const char* socket;
  const char* config;
  const char* more;  // pattern of files that are read after it
};

// The first whose socket is there.
constexpr KnownRuntime kKnownRuntimes[] = {
    {"containerd", "/run/k3s/containerd/containerd.sock",
     "/var/lib/rancher/k3s/agent/etc/containerd/config.toml", ""},
    {"containerd", "/run/k3s/containerd/containerd.sock",
     "/var/lib/rancher/rke2/agent/etc/containerd/config.toml", ""},
    {"CRI-O", "/run/crio/crio.sock", "/etc/crio/crio.conf", "/etc/crio/crio.conf.d/*"},
    {"containerd", "/run/containerd/containerd.sock", "/etc/containerd/config.toml",
     "/etc/containerd/conf.d/*.toml"},
};

std::string without_comment(const std::string& line) {
  bool is_quoted = false;
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (is_quoted) {
      is_quoted = line[i] != quote;
    } else if (line[i] == '"' || line[i] == '\'') {
      is_quoted = true;
      quote = line[i];
    } else if (line[i] == '#') {
      return line.substr(0, i);
    }
  }
  return line;
}

std::vector<std::string> quoted_in(const std::string& text) {
  std::vector<std::string> found;
  for (std::size_t at = text.find_first_of("\"'"); at != std::string::npos;
       at = text.find_first_of("\"'", at)) {
    const std::size_t end = text.find(text[at], at + 1);
    if (end == std::string::npos) break;
    found.push_back(text.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return found;
}

// Sorted.
std::vector<std::string> files_like(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> files;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  globfree(&found);
  return files;
}

// Patterns of the files that are read after the first.
std::vector<std::string> more_of(const KnownRuntime& known, const ContainerRuntime& runtime) {
  std::vector<std::string> patterns;
  if (*known.more != 0) patterns.emplace_back(known.more);
  for (const std::string& import : runtime.imports) {
    // A relative one is beside the file that names it.
    const std::string path = fs::path(known.config).parent_path() / import;
    if (path != known.more) patterns.push_back(path);
  }
  return patterns;
}

// An array may go over several lines, from `at` on, which is then at its last.
std::vector<std::string> array_from(const std::vector<std::string>& lines, std::size_t& at,
                                    std::string value) {
  while (value.find(']') == std::string::npos && at + 1 < lines.size()) {
    value += without_comment(lines[++at]);
  }
  return quoted_in(value);
}

}  // namespace

void read_runtime_config(const std::string& toml, ContainerRuntime& runtime) {
  const auto lines = base::split(toml, '\n');
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string line = without_comment(lines[i]);
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos) continue;
    const std::string name(base::trim(std::string_view(line).substr(0, equals)));
    if (name == "cdi_spec_dirs" || name == "imports") {
      auto& values = name == "imports" ? runtime.imports : runtime.cdi_folders;
      values = array_from(lines, i, line.substr(equals + 1));
      continue;
    }
    const std::string_view value = base::trim(std::string_view(line).substr(equals + 1));
    if (name == "enable_cdi") runtime.enable_cdi = value == "true";
    if (name == "version") {
      std::from_chars(value.data(), value.data() + value.size(), runtime.config_version);
    }
  }
}

ContainerRuntime container_runtime_of(const std::string& host_root) {
  const auto at = [&](const std::string& path) { return base::path_below(host_root, path); };
  ContainerRuntime runtime;
  for (const KnownRuntime& known : kKnownRuntimes) {
    std::error_code error;
    if (!fs::exists(at(known.socket), error)) continue;
    const auto text = base::read_file(at(known.config));
    if (!runtime.name.empty() && !text) continue;
    runtime = {.name = known.name};
    if (text) {
      runtime.config_path = known.config;
      read_runtime_config(*text, runtime);
    }
    for (const std::string& pattern : more_of(known, runtime)) {
      for (const std::string& file : files_like(cat(host_root, pattern))) {
        // One of version 3 is for a containerd that reads that.
        const int version = runtime.config_version;
        const auto more = base::read_file(at(file.substr(host_root.size())));
        if (more) read_runtime_config(*more, runtime);
        runtime.config_version = std::max(version, runtime.config_version);
      }
    }
    if (text) break;
  }
  return runtime;
}

}  // namespace cdom::node_check
