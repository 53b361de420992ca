#include "imex/files.h"

#include <fcntl.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "compute_domain/base/text.h"
#include "imex/descriptor.h"
#include "imex/system_error.h"

namespace cdom::imex {

using base::cat;
using base::Result;

namespace {

bool write_all(int fd, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = pwrite(fd, text.data() + done, text.size() - done, done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    done += static_cast<std::size_t>(written);
  }
  return true;
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return system_error(cat("cannot read ", path));
  std::string text;
  char block[4096];
  for (;;) {
    const ssize_t got = read(file.get(), block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error(cat("cannot read ", path));
    if (got == 0) return text;
    text.append(block, static_cast<std::size_t>(got));
  }
}

Result<void> replace_file(const std::string& path, const std::string& text) {
  auto made = make_directories(std::filesystem::path(path).parent_path());
  if (!made) return made;
  const std::string next = path + ".next";
  {
    const Descriptor file(open(next.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (!file || !write_all(file.get(), text)) return system_error(cat("cannot write ", next));
  }
  if (std::rename(next.c_str(), path.c_str()) != 0) return system_error(cat("cannot write ", path));
  return {};
}

Result<void> rewrite_in_place(const std::string& path, const std::string& text) {
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  // Cut only afterwards: at no moment are names gone that were there before and after.
  if (!file || !write_all(file.get(), text) ||
      ftruncate(file.get(), static_cast<off_t>(text.size())) != 0) {
    return system_error(cat("cannot write ", path));
  }
  return {};
}

Result<void> make_directories(const std::string& path) {
  if (path.empty()) return {};
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return system_error(cat("cannot make ", path), error.value());
  return {};
}

}  // namespace cdom::imex
