#include "compute_domain/base/path_below.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "compute_domain/base/text.h"

namespace cdom::base {

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
