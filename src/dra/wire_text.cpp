#include "dra/wire_text.h"

#include "compute_domain/base/utf8.h"

namespace cdom::dra {

std::string wire_text(std::string_view text, std::size_t most) {
  std::string out;
  for (std::size_t count = 0; !text.empty() && count < most; ++count) {
    const std::size_t length = base::character_size(text);
    if (length == 0) {
      out += base::kReplacementCharacter;
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

}  // namespace cdom::dra
