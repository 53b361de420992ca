#include "imex/daemon/awaited_peers.h"

#include <string>

#include "compute_domain/base/text.h"

namespace cdom::imex {

std::set<std::int64_t> awaited_peers(std::string_view table, std::string_view hosts,
                                     std::int64_t own_index) {
  std::set<std::string> names;  // of nodes
  for (const std::string& line : base::split(std::string(hosts), '\n')) {
    const auto words = base::split(line.substr(0, line.find('#')), '\t');
    if (words.size() == 2 && !words[0].starts_with("127.0.")) names.insert(words[1]);
  }
  names.erase("");
  std::set<std::int64_t> awaited;
  std::int64_t index = 0;
  for (const std::string& name : base::split(std::string(table), '\n')) {
    if (index != own_index && names.contains(name)) awaited.insert(index);
    ++index;
  }
  return awaited;
}

}  // namespace cdom::imex
