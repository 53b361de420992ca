#include "imex/process/line.h"

#include <charconv>

#include "compute_domain/base/text.h"

namespace cdom::imex {

namespace {

constexpr char kDigits[] = "0123456789abcdef";

void append_escaped(std::string& out, std::string_view value) {
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > ' ' && byte != '%' && byte != 127) {
      out += c;
    } else {
      out += '%';
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    }
  }
}

std::string unescaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    unsigned char byte = 0;
    if (text[at] == '%' && at + 2 < text.size() &&
        std::from_chars(text.data() + at + 1, text.data() + at + 3, byte, 16).ptr ==
            text.data() + at + 3) {
      out += static_cast<char>(byte);
      at += 2;
    } else {
      out += text[at];
    }
  }
  return out;
}

}  // namespace

Line& Line::with(std::string_view key, std::string_view value) {
  if (!value.empty()) fields.insert_or_assign(std::string(key), std::string(value));
  return *this;
}

Line& Line::with_number(std::string_view key, std::int64_t value) {
  if (value != 0) with(key, std::to_string(value));
  return *this;
}

std::string Line::text(std::string_view key) const {
  const auto found = fields.find(key);
  return found == fields.end() ? std::string{} : found->second;
}

std::int64_t Line::number(std::string_view key, std::int64_t otherwise) const {
  const auto found = fields.find(key);
  if (found == fields.end()) return otherwise;
  const std::string& text = found->second;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : otherwise;
}

std::string encode_line(const Line& line) {
  std::string out = line.verb;
  for (const auto& [key, value] : line.fields) {
    out += ' ';
    out += key;
    out += '=';
    append_escaped(out, value);
  }
  out += '\n';
  return out;
}

Line decode_line(std::string_view text) {
  Line line;
  bool is_verb = true;
  for (const std::string& word : base::split(base::trim(text), ' ')) {
    if (is_verb) {
      line.verb = word;
      is_verb = false;
      continue;
    }
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) continue;
    line.fields.insert_or_assign(word.substr(0, equals),
                                 unescaped(std::string_view(word).substr(equals + 1)));
  }
  return line;
}

}  // namespace cdom::imex
