#include "plugin/text/text_table.h"

#include <algorithm>

#include "compute_domain/base/text.h"
#include "compute_domain/base/utf8.h"
#include "compute_domain/plugin/printable.h"

namespace cdom::plugin {

using base::cat;
using base::count_characters;

std::string TextTable::text(const std::string& indent) const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], count_characters(row[i]));
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line = indent;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += printable(row[i]);
      if (i + 1 < row.size()) line += std::string(widths[i] - count_characters(row[i]) + 3, ' ');
    }
    text += cat(line.substr(0, line.find_last_not_of(' ') + 1), "\n");
  }
  return text;
}

std::string wrapped(const std::string& text, std::size_t width, const std::string& indent) {
  std::string out, line;
  for (const std::string& word : base::split(printable(text), ' ')) {
    if (!line.empty() && count_characters(line) + 1 + count_characters(word) > width) {
      out += cat(line, "\n", indent);
      line.clear();
    }
    line += cat(line.empty() ? "" : " ", word);
  }
  return out + line;
}

}  // namespace cdom::plugin
