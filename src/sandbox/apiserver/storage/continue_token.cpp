#include "sandbox/apiserver/storage/continue_token.h"

#include <nlohmann/json.hpp>

#include "sandbox/apiserver/serving/base64.h"

namespace cdom::sandbox::server {

std::string encode(const ContinueToken& token) {
  return base64url(nlohmann::json{
      {"v", "meta.k8s.io/v1"}, {"rv", token.resource_version}, {"start", token.start}}
                       .dump());
}

std::optional<ContinueToken> decode_continue_token(std::string_view text) {
  const auto decoded = from_base64url(text);
  if (!decoded) return std::nullopt;
  const auto value = nlohmann::json::parse(*decoded, nullptr, false);
  if (!value.is_object() || value.value("v", "") != "meta.k8s.io/v1") return std::nullopt;
  if (!value.contains("rv") || !value["rv"].is_number_unsigned()) return std::nullopt;
  if (!value.contains("start") || !value["start"].is_string()) return std::nullopt;
  return ContinueToken{.resource_version = value["rv"], .start = value["start"]};
}

}  // namespace cdom::sandbox::server
