#include "plugin/archive.h"

#include <archive.h>
#include <archive_entry.h>

#include <array>
#include <chrono>
#include <memory>

#include "compute_domain/base/text.h"

namespace cdom::plugin {

namespace {

using base::cat;

// A cluster of thousands of nodes has some megabytes; a small file may unpack to anything.
constexpr std::size_t kMostBytes = std::size_t{512} << 20;
constexpr std::size_t kMostFiles = 1000;

struct FreeArchive {
  void operator()(archive* a) const { archive_free(a); }
};
using Archive = std::unique_ptr<archive, FreeArchive>;
struct FreeEntry {
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};
using Entry = std::unique_ptr<archive_entry, FreeEntry>;

base::Error error_of(archive* a) {
  const char* text = archive_error_string(a);
  return base::invalid(text == nullptr ? "it cannot be packed" : text);
}

la_ssize_t append(archive* /*a*/, void* out, const void* bytes, size_t count) {
  static_cast<std::string*>(out)->append(static_cast<const char*>(bytes), count);
  return static_cast<la_ssize_t>(count);
}

bool write_file(archive* a, const ArchivedFile& file, base::Time time) {
  const Entry entry(archive_entry_new());
  archive_entry_set_pathname(entry.get(), file.name.c_str());
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(file.text.size()));
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0644);
  archive_entry_set_mtime(
      entry.get(),
      std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count(), 0);
  return archive_write_header(a, entry.get()) == ARCHIVE_OK &&
         archive_write_data(a, file.text.data(), file.text.size()) ==
             static_cast<la_ssize_t>(file.text.size());
}

// Adds to `left` what may still come.
base::Result<std::string> read_text(archive* a, std::size_t& left) {
  std::string text;
  std::array<char, 65'536> piece{};
  while (true) {
    const la_ssize_t count = archive_read_data(a, piece.data(), piece.size());
    if (count == 0) return text;
    if (count < 0) return error_of(a);
    if (static_cast<std::size_t>(count) > left) {
      return base::invalid(cat("it unpacks to more than ", kMostBytes >> 20, " MiB"));
    }
    left -= static_cast<std::size_t>(count);
    text.append(piece.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

base::Result<std::string> packed(const std::vector<ArchivedFile>& files, base::Time time) {
  const Archive a(archive_write_new());
  std::string out;
  archive_write_add_filter_gzip(a.get());
  archive_write_set_format_pax_restricted(a.get());
  // Without the time of packing in the head of the gzip file.
  archive_write_set_filter_option(a.get(), "gzip", "timestamp", nullptr);
  archive_write_set_bytes_in_last_block(a.get(), 1);
  if (archive_write_open(a.get(), &out, nullptr, append, nullptr) != ARCHIVE_OK) {
    return error_of(a.get());
  }
  for (const ArchivedFile& file : files) {
    if (!write_file(a.get(), file, time)) return error_of(a.get());
  }
  if (archive_write_close(a.get()) != ARCHIVE_OK) return error_of(a.get());
  return out;
}

base::Result<std::vector<ArchivedFile>> unpacked(const std::string& text) {
  const Archive a(archive_read_new());
  archive_read_support_filter_gzip(a.get());
  archive_read_support_format_tar(a.get());
  if (archive_read_open_memory(a.get(), text.data(), text.size()) != ARCHIVE_OK) {
    return error_of(a.get());
  }
  std::vector<ArchivedFile> files;
  std::size_t left = kMostBytes;
  while (true) {
    archive_entry* entry = nullptr;
    const int status = archive_read_next_header(a.get(), &entry);
    if (status == ARCHIVE_EOF) return files;
    if (status != ARCHIVE_OK) return error_of(a.get());
    const char* name = archive_entry_pathname(entry);
    if (archive_entry_filetype(entry) != AE_IFREG || name == nullptr) continue;
    if (files.size() == kMostFiles) return base::invalid("it has too many files");
    auto content = read_text(a.get(), left);
    if (!content) return content.error();
    files.push_back({name, *std::move(content)});
  }
}

}  // namespace cdom::plugin
