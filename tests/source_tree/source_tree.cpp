#include "source_tree/source_tree.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace cdom {

const std::filesystem::path& source_tree() {
  static const std::filesystem::path root = CDOM_SOURCE_DIR;
  return root;
}

std::string source_text(const std::filesystem::path& path_in_tree) {
  const std::ifstream file(source_tree() / path_in_tree);
  if (!file) throw std::runtime_error((source_tree() / path_in_tree).string() + " cannot be read");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace cdom
