// Files of the repository, for tests that hold them against the code.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

namespace cdom::api {

// The .yaml files below a folder of the repository, by path, that have objects of Kubernetes;
// without templates of Helm charts.
std::vector<std::filesystem::path> yaml_files(const std::filesystem::path& folder);

// The objects in a file of the repository; a failure of the test when it has none.
std::vector<nlohmann::json> objects_in(const std::filesystem::path& file);

}  // namespace cdom::api
