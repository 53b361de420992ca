// printable: text that cannot control a terminal or a page.
//
// Messages come from objects that anybody may write, and a bundle from anywhere: an escape sequence
// among them could hide a line, or type one. Pure.
#pragma once

#include <string>
#include <string_view>

namespace cdom::plugin {

// Whether one character is a control character of ASCII: U+0000 to U+001F, U+007F.
bool is_control(std::string_view character);
// Whether one character would change the direction of the text behind it (U+200E, U+200F, U+202A to
// U+202E, U+2066 to U+2069), or is a control character beyond ASCII (U+0080 to U+009F).
bool is_unseen(std::string_view character);

// A space for each of those, and for each byte that is of no character; newlines stay where
// `lines`.
std::string printable(std::string_view text, bool lines = false);

}  // namespace cdom::plugin
