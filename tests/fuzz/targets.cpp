#include "fuzz/targets.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "compute_domain/base/text.h"
#include "fuzz/laws.h"

namespace cdom::fuzz {

void require(bool holds, const char* law) {
  if (holds) return;
  std::fprintf(stderr, "broken law: %s\n", law);
  std::abort();
}

bool is_json(std::string_view bytes) {
  return bytes.find('\0') == std::string_view::npos && nlohmann::json::accept(bytes);
}

MemoryFile::MemoryFile(std::string_view bytes) : file_(memfd_create("fuzz", MFD_CLOEXEC)) {
  const ssize_t written = write(file_, bytes.data(), bytes.size());
  require(written >= 0 && static_cast<std::size_t>(written) == bytes.size(), "there is memory");
}
MemoryFile::~MemoryFile() { close(file_); }
std::string MemoryFile::path() const { return base::cat("/proc/self/fd/", file_); }

const std::vector<Target>& targets() {
  static const std::vector<Target> all = {
      {"json", read_json},          {"answers", read_answers},       {"domains", read_domains},
      {"reports", read_reports},    {"resources", read_resources},   {"builtins", read_builtins},
      {"informer", follow_server},  {"config", read_config},         {"nodelist", read_node_list},
      {"yaml", read_yaml},          {"kubeconfig", read_kubeconfig}, {"imexlines", read_imex_lines},
      {"imextool", read_imex_tool}, {"state", read_state},           {"nodefiles", read_node_files},
      {"http", take_http},          {"bundles", read_bundles},       {"protobuf", read_protobuf},
  };
  return all;
}

}  // namespace cdom::fuzz
