#include "plugin/page/html.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "compute_domain/base/text.h"
#include "compute_domain/base/utf8.h"
#include "compute_domain/plugin/printable.h"

namespace cdom::plugin::page {

namespace {

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
    const std::size_t size = base::character_size(rest);
    const std::string_view character = rest.substr(0, std::max<std::size_t>(size, 1));
    rest.remove_prefix(character.size());
    if (size == 0 || is_unseen(character)) {
      html_ += base::kReplacementCharacter;
    } else if (is_control(character)) {
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
