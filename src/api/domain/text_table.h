// Text tables: values as text that people read with kubectl, a line each, of cells.
//
// A cell is what a column writes of a row: it never has a space, as each byte that could be taken
// for something else is percent-encoded (RFC 3986), and a text that is empty is "-". Cells of which
// a row says nothing more are left out at its end. Readers go by the names of the columns, and pass
// over columns and tables that they do not know. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compute_domain/base/text.h"

namespace cdom::api {

void write_cell(std::string& out, const std::string& text);
void write_cell(std::string& out, std::int64_t number);
void write_cell(std::string& out, bool flag);
void write_cell(std::string& out, const std::set<std::int64_t>& numbers);  // "0-3,7"

// Each returns what the cell must be instead; "": it was read.
std::string_view read_cell(std::string_view cell, std::string& out);
std::string_view read_cell(std::string_view cell, std::int64_t& out);
std::string_view read_cell(std::string_view cell, bool& out);
std::string_view read_cell(std::string_view cell, std::set<std::int64_t>& out);

enum class Cell {
  Optional,  // left out at the end of a row when it is as in a blank one
  Always,    // written in any case
  Required,  // written in any case, and an error where it is missing
};

template <class Row>
struct Column {
  std::string_view name;
  Cell cell;
  void (*write)(std::string& out, const Row& row);
  std::string_view (*read)(std::string_view cell, Row& row);
};

template <class>
struct MemberOf;
template <class Row, class Value>
struct MemberOf<Value Row::*> {
  using type = Row;
};

// The column of a member: column<&NodeListEntry::slot>("slot").
template <auto kMember>
constexpr auto column(std::string_view name, Cell cell = Cell::Optional) {
  using Row = typename MemberOf<decltype(kMember)>::type;
  return Column<Row>{name, cell,
                     [](std::string& out, const Row& row) { write_cell(out, row.*kMember); },
                     [](std::string_view text, Row& row) { return read_cell(text, row.*kMember); }};
}

// The cells between spaces.
std::vector<std::string_view> cells_of(std::string_view line);

// The lines of a text, and where they stand.
class TextLines {
 public:
  explicit TextLines(std::string_view text) : rest_(text) {}

  // The next one; nullopt: there is none.
  std::optional<std::string_view> next();
  // "line 7, slot: must be …" of the line that came last.
  [[nodiscard]] std::string problem(std::string_view where, std::string_view what) const;
  // The same, with what the cell is instead.
  [[nodiscard]] std::string wrong(std::string_view where, std::string_view must,
                                  std::string_view is) const;
  // Goes to the empty line that ends a table.
  void skip_table();

 private:
  std::string_view rest_;
  std::size_t number_ = 0;
};

// --- Tables: the names of the columns in one line, and then a line for each row.

template <class Row, std::size_t N>
void write_table(std::string& out, std::string_view title,
                 const std::array<Column<Row>, N>& columns, const std::vector<Row>& rows,
                 const Row& blank) {
  out += title;
  out += ':';
  std::array<std::string, N> usual;
  for (std::size_t i = 0; i < N; ++i) {
    out += base::cat(" ", columns[i].name);
    columns[i].write(usual[i], blank);
  }
  out += '\n';
  for (const Row& row : rows) {
    std::size_t end = out.size();
    for (std::size_t i = 0; i < N; ++i) {
      if (i > 0) out += ' ';
      const std::size_t begin = out.size();
      columns[i].write(out, row);
      const bool says_more = std::string_view(out).substr(begin) != usual[i];
      if (says_more || columns[i].cell != Cell::Optional) end = out.size();
    }
    out.resize(end);
    out += '\n';
  }
}

// Reads on behind the line with the names of the columns, up to an empty line or the end. Returns
// what is wrong; "": nothing.
template <class Row, std::size_t N>
std::string read_table(TextLines& lines, std::string_view names,
                       const std::array<Column<Row>, N>& columns, std::vector<Row>& rows,
                       const Row& blank) {
  std::vector<const Column<Row>*> order;  // nullptr: of a later version
  std::array<bool, N> is_there{};
  for (const std::string_view name : cells_of(names)) {
    std::size_t i = 0;
    while (i < N && columns[i].name != name) ++i;
    if (i < N && is_there[i]) return lines.problem(name, "is there twice");
    if (i < N) is_there[i] = true;
    order.push_back(i < N ? &columns[i] : nullptr);
  }
  for (std::size_t i = 0; i < N; ++i) {
    if (columns[i].cell == Cell::Required && !is_there[i]) {
      return lines.problem(columns[i].name, "is required");
    }
  }
  while (const auto line = lines.next()) {
    if (line->empty()) break;
    const std::vector<std::string_view> cells = cells_of(*line);
    if (cells.size() > order.size()) {
      return lines.problem("cells",
                           base::cat("must be ", order.size(), " at most, are ", cells.size()));
    }
    Row& row = rows.emplace_back(blank);
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (order[i] == nullptr) continue;
      if (i >= cells.size()) {
        if (order[i]->cell == Cell::Required) return lines.problem(order[i]->name, "is required");
        continue;
      }
      const std::string_view must = order[i]->read(cells[i], row);
      if (!must.empty()) return lines.wrong(order[i]->name, must, cells[i]);
    }
  }
  return "";
}

// --- A head: a line for each column of one row, with its name.

template <class Row, std::size_t N>
void write_head(std::string& out, const std::array<Column<Row>, N>& columns, const Row& row) {
  const Row blank{};
  for (const Column<Row>& column : columns) {
    std::string text, usual;
    column.write(text, row);
    column.write(usual, blank);
    if (text == usual && column.cell == Cell::Optional) continue;
    out += base::cat(column.name, " ", text, "\n");
  }
}

// Reads up to an empty line or the end. Returns what is wrong; "": nothing.
template <class Row, std::size_t N>
std::string read_head(TextLines& lines, const std::array<Column<Row>, N>& columns, Row& row) {
  std::array<bool, N> is_there{};
  while (const auto line = lines.next()) {
    if (line->empty()) break;
    const std::size_t space = line->find(' ');
    const std::string_view name = line->substr(0, space);
    std::size_t i = 0;
    while (i < N && columns[i].name != name) ++i;
    if (i == N) continue;
    if (is_there[i]) return lines.problem(name, "is there twice");
    is_there[i] = true;
    const std::string_view cell =
        space == std::string_view::npos ? std::string_view() : line->substr(space + 1);
    const std::string_view must = columns[i].read(cell, row);
    if (!must.empty()) return lines.wrong(name, must, cell);
  }
  for (std::size_t i = 0; i < N; ++i) {
    if (columns[i].cell == Cell::Required && !is_there[i]) {
      return base::cat(columns[i].name, ": is required");
    }
  }
  return "";
}

}  // namespace cdom::api
