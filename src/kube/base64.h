// Base64 of RFC 4648 section 4, as kubeconfig writes its *-data fields.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cdom::kube {

// Line breaks and blanks are skipped; nullopt for anything else that is not base64.
std::optional<std::string> base64_decoded(std::string_view text);
std::string base64_encoded(std::string_view bytes);

}  // namespace cdom::kube
