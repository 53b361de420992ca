#include "compute_domain/plugin/printable.h"

#include <algorithm>

namespace cdom::plugin {

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
    const std::size_t size = character_size(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(size, 1));
    text.remove_prefix(character.size());
    const bool stays = lines && character == "\n";
    const bool goes = size == 0 || is_control(character) || is_unseen(character);
    out += goes && !stays ? " " : character;
  }
  return out;
}

}  // namespace cdom::plugin
