// The continue token of a list in pages: the resource version of the first page and the key at
// which the next one starts, as k8s.io/apiserver encodes it (base64url of a small JSON). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cdom::sandbox::server {

struct ContinueToken {
  std::uint64_t resource_version = 0;
  std::string start;
};

std::string encode(const ContinueToken& token);
std::optional<ContinueToken> decode_continue_token(std::string_view text);

}  // namespace cdom::sandbox::server
