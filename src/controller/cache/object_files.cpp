#include "compute_domain/controller/object_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>

#include "compute_domain/base/text.h"

namespace cdom::controller {

namespace {

namespace fs = std::filesystem;
using base::cat;

constexpr char kStandardInput[] = "-";

bool is_manifest(const fs::path& path) {
  const std::string extension = path.extension();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

void add_folder(const fs::path& folder, FoundFiles& found) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    // A link may lead back up.
    if (it->is_directory(ignored) && !it->is_symlink(ignored)) {
      add_folder(it->path(), found);
    } else if (is_manifest(it->path())) {
      found.files.push_back(it->path());
    }
  }
  if (error) {
    found.problems.push_back(
        cat("cannot read ", folder.string(), ": ", error.message(), "; its objects are left out"));
  }
}

std::optional<std::string> text_in(const std::string& file) {
  std::ostringstream text;
  if (file == kStandardInput) {
    text << std::cin.rdbuf();
    return text.str();
  }
  const std::ifstream in(file);
  if (!in) return std::nullopt;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

FoundFiles files_below(const std::vector<std::string>& paths) {
  FoundFiles found;
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (path != kStandardInput && fs::is_directory(path, ignored)) {
      add_folder(path, found);
    } else {
      found.files.push_back(path);
    }
  }
  std::ranges::sort(found.files);
  return found;
}

base::Result<std::vector<ObjectFile>> read_object_files(const std::vector<std::string>& files) {
  std::vector<ObjectFile> objects;
  objects.reserve(files.size());
  for (const std::string& file : files) {
    std::optional<std::string> text = text_in(file);
    if (!text) return base::invalid(cat("cannot read ", file));
    objects.push_back({file == kStandardInput ? "standard input" : file, *std::move(text)});
  }
  return objects;
}

}  // namespace cdom::controller
