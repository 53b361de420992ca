#include "compute_domain/core/claim_config.h"

#include <algorithm>

#include "compute_domain/api/channel_config.h"
#include "compute_domain/api/domain_config.h"
#include "compute_domain/api/names.h"

namespace cdom::core {

std::string config_mistake(const api::OpaqueConfig& config) {
  if (config.driver != api::kDriver) return "";
  if (api::config_words_in(config.parameters).kind == api::kDomainConfigKind) {
    const auto decoded = api::decode_domain_config(config.parameters);
    return decoded ? "" : decoded.error().message;
  }
  const auto decoded = api::decode_channel_config(config.parameters);
  return decoded ? "" : decoded.error().message;
}

std::string config_mistake(const std::vector<api::OpaqueConfig>& configs) {
  bool names_domain = false, wants_own = false;
  for (const api::OpaqueConfig& config : configs) {
    if (config.driver != api::kDriver) continue;
    if (std::string mistake = config_mistake(config); !mistake.empty()) return mistake;
    const api::ConfigWords words = api::config_words_in(config.parameters);
    (words.kind == api::kDomainConfigKind ? wants_own : names_domain) = true;
  }
  if (!names_domain || !wants_own) return "";
  return "it names a ComputeDomain (domainID) and has a ComputeDomainConfig, which asks for one of "
         "its own: leave one of them out";
}

std::string_view config_remedy(const api::OpaqueConfig& config, const api::ResourceClaim& claim) {
  if (config.from_class) return "correct it in the DeviceClass, and create the claim again";
  const bool is_of_template =
      std::ranges::any_of(claim.meta.owners, [](const auto& owner) { return owner.kind == "Pod"; });
  return is_of_template ? "correct it in its ResourceClaimTemplate, and create the pod again"
                        : "delete the ResourceClaim, and create it again without the mistake";
}

std::string_view config_remedy(const api::ResourceClaim& claim) {
  const auto& configs = claim.allocation ? claim.allocation->configs : claim.spec.configs;
  const auto found = std::ranges::find_if(
      configs, [](const api::OpaqueConfig& config) { return !config_mistake(config).empty(); });
  return config_remedy(found != configs.end() ? *found : api::OpaqueConfig{}, claim);
}

bool asks_for_domain(const api::ResourceClaimSpec& spec) {
  const bool has_request =
      std::ranges::any_of(spec.requests, [](const api::DeviceRequest& request) {
        return request.device_class == api::kChannelClass ||
               request.device_class == api::kSharedClass;
      });
  return has_request || std::ranges::any_of(spec.configs, [](const api::OpaqueConfig& config) {
           return config.driver == api::kDriver;
         });
}

}  // namespace cdom::core
