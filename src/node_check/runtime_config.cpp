#include "node_check/runtime_config.h"

#include <glob.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <vector>

#include "compute_domain/base/files.h"
#include "compute_domain/base/path_below.h"
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

// Files of the host, sorted; the last part of the pattern may have wildcards.
std::vector<std::string> files_like(const std::string& host_root, const fs::path& pattern) {
  glob_t found{};
  std::vector<std::string> files;
  const std::string folder = base::path_below(host_root, pattern.parent_path());
  const std::string here = fs::path(folder) / pattern.filename();
  // NOLINTNEXTLINE(concurrency-mt-unsafe): but for a locale that changes, and nobody changes it
  if (glob(here.c_str(), 0, nullptr, &found) == 0) {
    for (std::size_t i = 0; i < found.gl_pathc; ++i) {
      files.push_back(pattern.parent_path() / fs::path(found.gl_pathv[i]).filename());
    }
  }
  globfree(&found);
  return files;
}

// Patterns of the files that are read after the first.
std::vector<std::string> more_of(const KnownRuntime& known, const ContainerRuntime& runtime) {
  std::vector<std::string> patterns;
  // Only containerd has to be told to read it, or does so by itself since 2.0.
  constexpr int kVersionOfContainerd2 = 3;
  const bool reads_folder =
      known.name != std::string_view("containerd") ||
      (runtime.imports.empty() && runtime.config_version >= kVersionOfContainerd2);
  if (*known.more != 0 && reads_folder) patterns.emplace_back(known.more);
  for (const std::string& import : runtime.imports) {
    // A relative one is beside the file that names it.
    patterns.push_back(fs::path(known.config).parent_path() / import);
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
    const auto array = [&] { return array_from(lines, i, line.substr(equals + 1)); };
    if (name == "cdi_spec_dirs") runtime.cdi_folders = array();
    if (name == "imports") runtime.imports = array();
    if (name == "disabled_plugins") runtime.disabled = array();
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
    ContainerRuntime found{.name = known.name};
    const auto take = [&](const std::string& file) {
      const auto text = base::read_file(at(file));
      if (!text) return;
      if (found.config_path.empty()) found.config_path = file;
      // One of version 3 is for a containerd that reads that.
      const int version = found.config_version;
      read_runtime_config(*text, found);
      found.config_version = std::max(version, found.config_version);
    };
    take(known.config);
    for (const std::string& pattern : more_of(known, found)) {
      for (const std::string& file : files_like(host_root, pattern)) take(file);
    }
    // One without kubelet's part is Docker's.
    if (std::ranges::any_of(found.disabled, [](const std::string& plugin) {
          return plugin == "cri" || plugin.ends_with(".cri");
        })) {
      continue;
    }
    const bool is_configured = !found.config_path.empty();
    if (runtime.name.empty() || is_configured) runtime = std::move(found);
    if (is_configured) break;
  }
  return runtime;
}

}  // namespace cdom::node_check
