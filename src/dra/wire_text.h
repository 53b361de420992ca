// Text as protobuf carries it: kubelet refuses a whole answer for one byte that is not UTF-8. Pure.
#pragma once

#include <string>
#include <string_view>

namespace cdom::dra {

// The first `most` characters; bytes that are no UTF-8 become U+FFFD.
std::string wire_text(std::string_view text, std::size_t most = std::string_view::npos);

}  // namespace cdom::dra
