#include "compute_domain/plugin/printable.h"

#include <algorithm>

#include "compute_domain/base/utf8.h"

namespace cdom::plugin {

bool is_control(std::string_view character) {
  return character.size() == 1 && (character[0] < ' ' || character[0] == 0x7F);
}

bool is_unseen(std::string_view character) {
  if (character.size() == 2) return character[0] == '\xC2' && character[1] < '\xA0';
  if (character.size() != 3 || character[0] != '\xE2') return false;
  const auto last = static_cast<unsigned char>(character[2]);
  if (character[1] == '\x80') return last == 0x8E || last == 0x8F || (last >= 0xAA && last <= 0xAE);
  return character[1] == '\x81' && last >= 0xA6 && last <= 0xA9;
}

std::string printable(std::string_view text, bool lines) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t size = base::character_size(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(size, 1));
    text.remove_prefix(character.size());
    const bool stays = lines && character == "\n";
    const bool goes = size == 0 || is_control(character) || is_unseen(character);
    out += goes && !stays ? " " : character;
  }
  return out;
}

}  // namespace cdom::plugin
