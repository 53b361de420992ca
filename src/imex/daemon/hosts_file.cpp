#include "imex/daemon/hosts_file.h"

#include "compute_domain/base/files.h"
#include "compute_domain/base/text.h"

namespace cdom::imex {

namespace {

constexpr std::string_view kBegin = "# compute-domain-imex: begin ";
constexpr std::string_view kEnd = "# compute-domain-imex: end ";

// `text` without our blocks, whole ones and torn ones.
std::string without_block(const std::string& text) {
  std::string rest;
  bool is_inside = false;
  for (const std::string& line : base::split(text, '\n')) {
    if (line.starts_with(kBegin)) is_inside = true;
    if (!is_inside) rest += line + '\n';
    if (line.starts_with(kEnd)) is_inside = false;
  }
  while (rest.ends_with("\n\n")) rest.pop_back();
  return rest == "\n" ? std::string{} : rest;
}

std::string block_of(const Hosts& hosts) {
  std::string block = base::cat(kBegin, hosts.revision, "\n", hosts.text);
  if (!block.ends_with('\n')) block += '\n';
  return block += base::cat(kEnd, hosts.revision, "\n");
}

}  // namespace

base::Result<void> HostsFile::write(const Hosts& hosts) const {
  const auto now = base::read_file(path_);
  if (!now && now.error().kind != base::ErrorKind::NotFound) return now.error();
  const std::string text = without_block(now ? *now : "") + block_of(hosts);
  if (now && *now == text) return {};
  return base::rewrite_in_place(path_, text);
}

bool HostsFile::has(const Hosts& hosts) const {
  const auto text = base::read_file(path_);
  return text && text->find(block_of(hosts)) != std::string::npos;
}

std::string HostsFile::revision() const {
  const auto text = base::read_file(path_);
  if (!text) return {};
  std::string begun;
  for (const std::string& line : base::split(*text, '\n')) {
    if (line.starts_with(kBegin)) begun = line.substr(kBegin.size());
    if (line.starts_with(kEnd)) return line.substr(kEnd.size()) == begun ? begun : std::string{};
  }
  return {};
}

}  // namespace cdom::imex
