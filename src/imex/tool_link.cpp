#include "compute_domain/imex/tool_link.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "compute_domain/base/system_error.h"
#include "compute_domain/base/text.h"

namespace cdom::imex {

using base::cat;

base::Result<void> link_tool(const DriverFiles& files, const std::string& directory) {
  if (auto linked = link_libraries(files, cat(directory, "/lib")); !linked) return linked;
  // By rename: somebody may be starting it.
  const std::string link = cat(directory, "/", kToolName), fresh = cat(link, ".new");
  std::remove(fresh.c_str());
  if (symlink(files.control_tool.c_str(), fresh.c_str()) != 0 ||
      std::rename(fresh.c_str(), link.c_str()) != 0) {
    return base::system_error(cat("cannot make ", link));
  }
  return {};
}

base::Error become_tool(const std::string& directory, char** arguments) {
  const std::string tool = cat(directory, "/", kToolName);
  std::error_code error;
  if (!std::filesystem::exists(tool, error)) {
    return {base::ErrorKind::NotFound,
            cat("compute-domain-imex has found no nvidia-imex-ctl of the GPU driver (", tool,
                "): compute-domain-imex check says what is missing")};
  }
  // NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread
  setenv("LD_LIBRARY_PATH", cat(directory, "/lib").c_str(), 1);
  execv(tool.c_str(), arguments);
  return base::system_error(cat("cannot start ", tool));
}

}  // namespace cdom::imex
