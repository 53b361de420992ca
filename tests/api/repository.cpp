#include "api/repository.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compute_domain/api/codec.h"
#include "source_tree/source_tree.h"

namespace cdom::api {

std::vector<std::filesystem::path> yaml_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  const auto root = source_tree() / folder;
  for (auto entry = std::filesystem::recursive_directory_iterator(root); entry != end(entry);
       ++entry) {
    if (entry->path().filename() == "helm") entry.disable_recursion_pending();
    const bool is_of_prometheus = entry->path().filename() == "rules.yaml";
    if (entry->path().extension() == ".yaml" && !is_of_prometheus) files.push_back(entry->path());
  }
  std::ranges::sort(files);
  return files;
}

std::vector<nlohmann::json> objects_in(const std::filesystem::path& file) {
  const auto texts = objects_in_yaml(source_text(file), file.string());
  if (!texts) {
    ADD_FAILURE() << texts.error().message;
    return {};
  }
  EXPECT_FALSE(texts->empty()) << file;
  std::vector<nlohmann::json> objects;
  for (const std::string& object : *texts) objects.push_back(nlohmann::json::parse(object));
  return objects;
}

}  // namespace cdom::api
