// Digest: SHA-256, to know a secret again without keeping it, and for names that nobody can aim at.
// Pure.
#pragma once

#include <string>
#include <string_view>

namespace cdom::base {

// 32 bytes.
std::string sha256(std::string_view text);

// Its first 128 bits as 32 hexadecimal digits. Unlike hex64(fnv1a64(text)) it is for texts that
// tenants or nodes choose: nobody finds another text for any of the names that there are.
std::string digest128(std::string_view text);

}  // namespace cdom::base
