#include "api/domain/text_table.h"

#include <algorithm>
#include <charconv>

#include "compute_domain/base/ranges.h"
#include "compute_domain/base/utf8.h"

namespace cdom::api {

namespace {

constexpr std::string_view kEmptyCell = "-";

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == ':' || c == '/';
}

void append_encoded(std::string& out, char c) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(c);
  out += '%';
  out += kDigits[byte >> 4U];
  out += kDigits[byte & 15U];
}

// The byte that two hex digits mean; nullopt: they are none.
std::optional<char> decoded_byte(std::string_view digits) {
  unsigned byte = 0;
  const char* const end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, byte, 16);
  if (digits.size() != 2 || read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  return static_cast<char>(byte);
}

// What is read goes into JSON elsewhere.
bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = base::character_size(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

}  // namespace

void write_cell(std::string& out, const std::string& text) {
  if (text.empty()) {
    out += kEmptyCell;
  } else if (text == kEmptyCell) {
    append_encoded(out, text.front());
  } else {
    for (const char c : text) {
      if (is_plain(c)) {
        out += c;
      } else {
        append_encoded(out, c);
      }
    }
  }
}

void write_cell(std::string& out, std::int64_t number) { out += std::to_string(number); }
void write_cell(std::string& out, bool flag) { out += flag ? "true" : "false"; }
void write_cell(std::string& out, const std::set<std::int64_t>& numbers) {
  out += numbers.empty() ? std::string(kEmptyCell) : base::ranges_text(numbers);
}

std::string_view read_cell(std::string_view cell, std::string& out) {
  constexpr std::string_view kMust =
      "must be letters, digits and any of -._:/, with other bytes percent-encoded in UTF-8";
  out.clear();
  if (cell == kEmptyCell) return "";
  if (cell.empty()) return kMust;
  for (std::size_t i = 0; i < cell.size(); ++i) {
    if (cell[i] == '%') {
      const auto byte = decoded_byte(cell.substr(i + 1, 2));
      if (!byte) return kMust;
      out += *byte;
      i += 2;
    } else if (is_plain(cell[i])) {
      out += cell[i];
    } else {
      return kMust;
    }
  }
  return is_utf8(out) ? "" : kMust;
}

std::string_view read_cell(std::string_view cell, std::int64_t& out) {
  const char* const end = cell.data() + cell.size();
  const auto read = std::from_chars(cell.data(), end, out);
  return read.ec == std::errc{} && read.ptr == end ? "" : "must be a whole number";
}

std::string_view read_cell(std::string_view cell, bool& out) {
  out = cell == "true";
  return out || cell == "false" ? "" : "must be true or false";
}

std::string_view read_cell(std::string_view cell, std::set<std::int64_t>& out) {
  out.clear();
  if (cell == kEmptyCell) return "";
  out = base::parse_ranges(cell);
  return out.empty() ? "must be ranges of numbers, as 0-3,7" : "";
}

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(' ', begin), line.size());
    cells.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return cells;
}

std::optional<std::string_view> TextLines::next() {
  if (rest_.empty()) return std::nullopt;
  const std::size_t end = rest_.find('\n');
  const std::string_view line = rest_.substr(0, end);
  rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
  ++number_;
  return line;
}

std::string TextLines::problem(std::string_view where, std::string_view what) const {
  return base::cat("line ", number_, ", ", base::shortened(std::string(where), 63), ": ", what);
}

std::string TextLines::wrong(std::string_view where, std::string_view must,
                             std::string_view is) const {
  return problem(where, base::cat(must, ", is \"", base::shortened(std::string(is), 63), "\""));
}

void TextLines::skip_table() {
  for (auto line = next(); line && !line->empty();) line = next();
}

}  // namespace cdom::api
