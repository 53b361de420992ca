// TextTable: rows of cells in columns, for a terminal. A value.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace cdom::plugin {

class TextTable {
 public:
  explicit TextTable(std::vector<std::string> head) : rows_{std::move(head)} {}

  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] bool has_rows() const { return rows_.size() > 1; }
  // Lines of cells that are as wide as the widest of their column; the last one is not filled up.
  [[nodiscard]] std::string text(const std::string& indent = "") const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// The width of a paragraph that is easy to read.
inline constexpr std::size_t kTextWidth = 100;

// The text in lines of at most `width`, each after `indent` but the first; a longer word stays
// whole. No character that would move a terminal's cursor is left.
std::string wrapped(const std::string& text, std::size_t width, const std::string& indent);

}  // namespace cdom::plugin
