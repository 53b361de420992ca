// Base64url without padding (RFC 4648 §5), for continue tokens and bearer tokens. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cdom::sandbox::server {

std::string base64url(std::string_view bytes);
std::optional<std::string> from_base64url(std::string_view text);

}  // namespace cdom::sandbox::server
