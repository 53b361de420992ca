#include "imex/host/elf.h"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>

#include "compute_domain/base/text.h"

namespace cdom::imex {

using base::cat;
using base::Error;
using base::ErrorKind;
using base::Result;

namespace {

// The longest table: no loader takes a file with a longer one.
constexpr std::uint64_t kMostBytes = std::uint64_t{8} << 20;

class File {
 public:
  explicit File(const std::string& path) : in_(path, std::ios::binary) {}

  template <class T>
  std::optional<T> value_at(std::uint64_t offset) {
    T value{};
    in_.clear();
    in_.seekg(static_cast<std::streamoff>(offset));
    if (!in_.read(reinterpret_cast<char*>(&value), sizeof value)) return std::nullopt;
    return value;
  }
  // As many of these bytes as the file has.
  std::string bytes_at(std::uint64_t offset, std::uint64_t size) {
    std::string bytes(std::min(size, kMostBytes), '\0');
    in_.clear();
    in_.seekg(static_cast<std::streamoff>(offset));
    in_.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(in_.gcount(), 0)));
    return bytes;
  }

 private:
  std::ifstream in_;
};

struct Segments {
  std::vector<Elf64_Phdr> loaded;
  std::optional<Elf64_Phdr> dynamic;
};

std::optional<Segments> segments_of(File& file) {
  const auto header = file.value_at<Elf64_Ehdr>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
      header->e_phentsize != sizeof(Elf64_Phdr)) {
    return std::nullopt;
  }
  Segments segments;
  for (std::uint64_t i = 0; i < header->e_phnum; ++i) {
    const auto one = file.value_at<Elf64_Phdr>(header->e_phoff + i * sizeof(Elf64_Phdr));
    if (!one) return std::nullopt;
    if (one->p_type == PT_LOAD) segments.loaded.push_back(*one);
    if (one->p_type == PT_DYNAMIC) segments.dynamic = *one;
  }
  return segments;
}

std::optional<std::uint64_t> offset_of(const Segments& segments, std::uint64_t address) {
  for (const Elf64_Phdr& one : segments.loaded) {
    if (address >= one.p_vaddr && address - one.p_vaddr < one.p_filesz) {
      return one.p_offset + (address - one.p_vaddr);
    }
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<std::string>> needed_libraries(const std::string& path) {
  File file(path);
  const auto segments = segments_of(file);
  if (!segments) return Error{ErrorKind::Invalid, cat(path, " is not an ELF file of this machine")};
  std::vector<std::string> needed;
  if (!segments->dynamic) return needed;
  std::vector<std::uint64_t> names;  // offsets in the string table
  std::uint64_t strings = 0, strings_size = 0;
  const std::string table = file.bytes_at(segments->dynamic->p_offset, segments->dynamic->p_filesz);
  for (std::size_t at = 0; at + sizeof(Elf64_Dyn) <= table.size(); at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry;
    std::memcpy(&entry, table.data() + at, sizeof entry);
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_NEEDED) names.push_back(entry.d_un.d_val);
    if (entry.d_tag == DT_STRTAB) strings = entry.d_un.d_ptr;
    if (entry.d_tag == DT_STRSZ) strings_size = entry.d_un.d_val;
  }
  const auto offset = offset_of(*segments, strings);
  const std::string text = offset ? file.bytes_at(*offset, strings_size) : "";
  for (const std::uint64_t name : names) {
    if (name < text.size()) needed.emplace_back(text.c_str() + name);
  }
  return needed;
}

}  // namespace cdom::imex
