#include "compute_domain/controller/object_files.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "compute_domain/base/files.h"
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
      found.of_folders.insert(it->path());
    }
  }
  if (error) {
    found.problems.push_back(
        cat("cannot read ", folder.string(), ": ", error.message(), "; its objects are left out"));
  }
}

base::Result<std::string> text_in(const std::string& file) {
  if (file != kStandardInput) return base::read_file(file);
  std::ostringstream text;
  text << std::cin.rdbuf();
  return text.str();
}

}  // namespace

FoundFiles files_below(const std::vector<std::string>& paths) {
  FoundFiles found;
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (path != kStandardInput && fs::is_directory(path, ignored)) {
      const std::size_t before = found.files.size() + found.problems.size();
      add_folder(path, found);
      if (found.files.size() + found.problems.size() == before) {
        found.problems.push_back(
            cat(path, ": there is no manifest in this folder (*.yaml, *.yml, *.json)"));
      }
    } else {
      found.files.push_back(path);
    }
  }
  std::ranges::sort(found.files);
  return found;
}

base::Result<std::vector<ObjectFile>> read_object_files(const FoundFiles& found) {
  std::vector<ObjectFile> objects;
  objects.reserve(found.files.size());
  for (const std::string& file : found.files) {
    auto text = text_in(file);
    if (!text) return text.error();
    objects.push_back({.name = file == kStandardInput ? "standard input" : file,
                       .text = *std::move(text),
                       .may_be_empty = found.of_folders.contains(file)});
  }
  return objects;
}

}  // namespace cdom::controller
