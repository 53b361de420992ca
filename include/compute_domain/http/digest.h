// Digest: SHA-256, to know a secret again without keeping it. Pure.
#pragma once

#include <string>
#include <string_view>

namespace cdom::http {

// 32 bytes.
std::string sha256(std::string_view text);

}  // namespace cdom::http
