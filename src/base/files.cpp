#include "compute_domain/base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <utility>

#include "compute_domain/base/descriptor.h"
#include "compute_domain/base/system_error.h"
#include "compute_domain/base/text.h"

namespace cdom::base {

namespace {

constexpr char kNext[] = ".next";

bool write_all(int fd, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = pwrite(fd, text.data() + done, text.size() - done, done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    done += static_cast<std::size_t>(written);
  }
  return true;
}

// A new file beside that one, and its name; without a descriptor where none can be made.
std::pair<Descriptor, std::string> file_beside(const std::string& path) {
  constexpr int kMostTries = 100;
  std::string name;
  for (int i = 0; i < kMostTries; ++i) {
    name = cat(path, ".", getpid(), ".", i);
    // What is there, and be it a link, is somebody else's.
    Descriptor file(open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (file || errno != EEXIST) return {std::move(file), std::move(name)};
  }
  return {Descriptor(), std::move(name)};
}

// Otherwise the name may mean the old file again after a loss of power.
Result<void> sync_directory(const std::string& path) {
  const Descriptor directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory || fsync(directory.get()) != 0) return system_error(cat("cannot write ", path));
  return {};
}

Result<void> replace(const std::string& path, const std::string& text, bool is_durable) {
  const std::string folder = std::filesystem::path(path).parent_path();
  if (auto made = make_directories(folder); !made) return made;
  const std::string next = path + kNext;
  const auto fail = [&](const std::string& what) -> Result<void> {
    Error error = system_error(cat("cannot write ", what));
    std::remove(next.c_str());  // a part of it would take the place that may be missing
    return error;
  };
  {
    const Descriptor file(open(next.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (!file || !write_all(file.get(), text)) return fail(path);
    if (is_durable && fsync(file.get()) != 0) return fail(path);
  }
  if (std::rename(next.c_str(), path.c_str()) != 0) return fail(path);
  return is_durable ? sync_directory(folder.empty() ? "." : folder) : Result<void>();
}

// Where a file goes that a person has named.
struct UsersPlace {
  std::string target;          // of a link, what it leads to
  std::optional<mode_t> mode;  // the permissions of the file that is there
};

Result<UsersPlace> users_place(const std::string& path) {
  struct stat there {};
  const bool is_there = stat(path.c_str(), &there) == 0;
  // A file in their place would take devices and pipes away from all who use them.
  if (is_there && !S_ISREG(there.st_mode)) {
    return invalid(cat("cannot write ", path,
                       S_ISDIR(there.st_mode) ? ": it is a folder: name a file in it"
                                              : ": it is not a regular file"));
  }
  std::error_code failed;
  const bool is_link = std::filesystem::is_symlink(path, failed);
  std::string target = is_link ? std::filesystem::canonical(path, failed).string() : path;
  if (is_link && failed) return invalid(cat("cannot write ", path, ": it is a link to nothing"));
  // To make it would hide a slip of the pen.
  const std::string folder = std::filesystem::path(target).parent_path().string();
  struct stat parent {};
  if (!folder.empty() && stat(folder.c_str(), &parent) != 0) {
    if (errno != ENOENT) return system_error(cat("cannot write ", path));
    return invalid(cat("cannot write ", path, ": there is no folder ", folder,
                       ": make it, or name another file"));
  }
  if (!folder.empty() && !S_ISDIR(parent.st_mode)) {
    return invalid(cat("cannot write ", path, ": ", folder, " is a file: name a folder"));
  }
  const auto mode = is_there ? std::optional(there.st_mode & 0777U) : std::nullopt;
  return UsersPlace{std::move(target), mode};
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
  return replace(path, text, /*is_durable=*/false);
}

Result<void> replace_file_durably(const std::string& path, const std::string& text) {
  return replace(path, text, /*is_durable=*/true);
}

Result<void> can_replace_users_file(const std::string& path) {
  const auto place = users_place(path);
  if (!place) return place.error();
  const auto [file, next] = file_beside(place->target);
  if (!file) return system_error(cat("cannot write ", path));
  std::remove(next.c_str());
  return {};
}

Result<void> replace_users_file(const std::string& path, const std::string& text) {
  const auto place = users_place(path);
  if (!place) return place.error();
  const auto [file, next] = file_beside(place->target);
  if (!file) return system_error(cat("cannot write ", path));
  const bool is_done = write_all(file.get(), text) &&
                       (!place->mode || fchmod(file.get(), *place->mode) == 0) &&
                       std::rename(next.c_str(), place->target.c_str()) == 0;
  if (is_done) return {};
  Error error = system_error(cat("cannot write ", path));
  std::remove(next.c_str());
  return error;
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

Result<void> remove_file(const std::string& path) {
  for (const std::string& name : {path + kNext, path}) {
    if (unlink(name.c_str()) != 0 && errno != ENOENT) {
      return system_error(cat("cannot remove ", name));
    }
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

}  // namespace cdom::base
