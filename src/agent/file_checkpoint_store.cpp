#include "compute_domain/agent/file_checkpoint_store.h"

#include <cstdio>

#include "compute_domain/base/files.h"
#include "compute_domain/base/log.h"
#include "compute_domain/base/system_error.h"
#include "compute_domain/base/text.h"

namespace cdom::agent {

using base::cat;
using base::ErrorKind;
using base::Result;

namespace {

constexpr int kMostAside = 9;

}  // namespace

Result<std::optional<std::string>> FileCheckpointStore::load() {
  auto text = base::read_file(path_);
  if (text) return std::optional(*std::move(text));
  if (text.error().kind == ErrorKind::NotFound) return std::optional<std::string>();
  return text.error();
}

Result<void> FileCheckpointStore::save(const std::string& text) {
  return base::replace_file_durably(path_, text);
}

Result<void> FileCheckpointStore::set_aside(const std::string& text) {
  std::string aside;
  for (int i = 1; i <= kMostAside; ++i) {
    aside = cat(path_, ".unreadable-", i);
    const auto there = base::read_file(aside);
    if (!there || *there == text) break;
  }
  const auto now = base::read_file(path_);
  if (now && *now == text) {
    if (std::rename(path_.c_str(), aside.c_str()) != 0) {
      return base::system_error(cat("cannot move ", path_, " to ", aside));
    }
  } else if (auto kept = base::replace_file_durably(aside, text); !kept) {
    return kept;
  }
  base::log_warning("a checkpoint that cannot be read is kept", {{"path", aside}});
  return {};
}

}  // namespace cdom::agent
