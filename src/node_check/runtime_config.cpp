#include "node_check/runtime_config.h"

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
  const char* more;  // folder of files that are read after it
};

// The first whose socket is there.
constexpr KnownRuntime kKnownRuntimes[] = {
    {"containerd", "/run/k3s/containerd/containerd.sock",
     "/var/lib/rancher/k3s/agent/etc/containerd/config.toml", ""},
    {"containerd", "/run/k3s/containerd/containerd.sock",
     "/var/lib/rancher/rke2/agent/etc/containerd/config.toml", ""},
    {"CRI-O", "/run/crio/crio.sock", "/etc/crio/crio.conf", "/etc/crio/crio.conf.d"},
    {"containerd", "/run/containerd/containerd.sock", "/etc/containerd/config.toml",
     "/etc/containerd/conf.d"},
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

std::vector<std::string> toml_files_in(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    files.push_back(it->path());
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

void read_runtime_config(const std::string& toml, ContainerRuntime& runtime) {
  const auto lines = base::split(toml, '\n');
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string line = without_comment(lines[i]);
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos) continue;
    const std::string name(base::trim(std::string_view(line).substr(0, equals)));
    if (name == "cdi_spec_dirs") {
      // An array may go over several lines.
      while (line.find(']') == std::string::npos && i + 1 < lines.size()) {
        line += without_comment(lines[++i]);
      }
      runtime.cdi_folders = quoted_in(line.substr(equals + 1));
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
    if (*known.more != 0) {
      for (const std::string& file : toml_files_in(at(known.more))) {
        // One of version 3 is for a containerd that reads that.
        const int version = runtime.config_version;
        if (const auto more = base::read_file(file)) read_runtime_config(*more, runtime);
        runtime.config_version = std::max(version, runtime.config_version);
      }
    }
    if (text) break;
  }
  return runtime;
}

}  // namespace cdom::node_check
