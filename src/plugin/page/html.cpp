#include "plugin/page/html.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "compute_domain/base/text.h"

namespace cdom::plugin::page {

namespace {

constexpr std::string_view kUnknown = "\xEF\xBF\xBD";  // U+FFFD

// How many bytes the UTF-8 character at the start has; 0: it is none.
std::size_t character_size(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t size = byte(0) < 0x80   ? 1
                           : byte(0) < 0xC2 ? 0
                           : byte(0) < 0xE0 ? 2
                           : byte(0) < 0xF0 ? 3
                           : byte(0) < 0xF5 ? 4
                                            : 0;
  if (size == 0 || size > text.size()) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // Longer than need be, a surrogate, or beyond Unicode.
  if (byte(0) == 0xE0 && byte(1) < 0xA0) return 0;
  if (byte(0) == 0xED && byte(1) >= 0xA0) return 0;
  if (byte(0) == 0xF0 && byte(1) < 0x90) return 0;
  if (byte(0) == 0xF4 && byte(1) >= 0x90) return 0;
  return size;
}

// Would turn round the order in which what follows is read (U+200E, U+200F, U+202A to U+202E,
// U+2066 to U+2069), or is a control character (U+0080 to U+009F).
bool is_unseen(std::string_view character) {
  if (character.size() == 2) return character[0] == '\xC2' && character[1] < '\xA0';
  if (character.size() != 3 || character[0] != '\xE2') return false;
  const auto last = static_cast<unsigned char>(character[2]);
  if (character[1] == '\x80') return last == 0x8E || last == 0x8F || (last >= 0xAA && last <= 0xAE);
  return character[1] == '\x81' && last >= 0xA6 && last <= 0xA9;
}

std::string_view escaped(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return "";
  }
}

}  // namespace

Html& Html::operator<<(Text text) {
  const std::size_t most = text.most == 0 ? kLongestName : text.most;
  std::string shorter;
  if (text.text.size() > most) {
    shorter = base::shortened(std::string(text.text), most);
    text.text = shorter;
  }
  for (std::string_view rest = text.text; !rest.empty();) {
    const std::size_t size = character_size(rest);
    const std::string_view character = rest.substr(0, std::max<std::size_t>(size, 1));
    rest.remove_prefix(character.size());
    if (size == 0 || is_unseen(character)) {
      html_ += kUnknown;
    } else if (size == 1 && (character[0] < ' ' || character[0] == 0x7F)) {
      html_ += ' ';
    } else if (const std::string_view entity = escaped(character[0]); !entity.empty()) {
      html_ += entity;
    } else {
      html_ += character;
    }
  }
  return *this;
}

Html& Html::decimal(double number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f", number);
  std::string_view digits = text.data();
  digits.remove_suffix(digits.size() - 1 - digits.find_last_not_of('0'));
  if (digits.ends_with('.')) digits.remove_suffix(1);
  html_ += digits;
  return *this;
}

Html& Html::count(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3 + (number < 0 ? 1U : 0U); at -= 3) {
    digits.insert(at - 3, 1, ',');
  }
  html_ += digits;
  return *this;
}

Html names_html(const std::vector<std::string>& names, std::size_t most) {
  Html html;
  std::size_t shown = 0, size = 0;
  for (; shown < std::min(names.size(), most); ++shown) {
    size += std::min(names[shown].size(), kLongestName) + 2;
    if (shown > 0 && size > kLongestMessage) break;
    html << (shown > 0 ? Literal(", ") : Literal("")) << name(names[shown]);
  }
  if (shown == names.size()) return html;
  html << (shown > 0 ? Literal(" and ") : Literal("")) << names.size() - shown << " more";
  return html;
}

}  // namespace cdom::plugin::page
