#include "compute_domain/api/channel_config.h"

#include <nlohmann/json.hpp>

#include "api/domain/compute_domain_fields.h"
#include "api/domain/config_text.h"

namespace cdom::api {

namespace {

constexpr std::string_view kConfigKind = "ComputeDomainChannelConfig";

struct ConfigText {
  std::string api_version, kind, domain_uid, allocation_mode;
};

}  // namespace

template <>
inline constexpr auto kFields<ConfigText> =
    std::tuple{field("apiVersion", &ConfigText::api_version, Presence::Required),
               field("kind", &ConfigText::kind, Presence::Required),
               field("domainID", &ConfigText::domain_uid, Presence::Always),
               field("allocationMode", &ConfigText::allocation_mode, Presence::Always)};

std::string encode_channel_config(const ChannelConfig& config) {
  return encode_fields(ConfigText{config_api_version(), std::string(kConfigKind), config.domain_uid,
                                  std::string(to_string(config.allocation_mode))});
}

base::Result<ChannelConfig> decode_channel_config(const std::string& parameters) {
  const auto text = decode_config<ConfigText>(parameters, kConfigKind);
  if (!text) return text.error();
  if (text->domain_uid.empty()) {
    return base::invalid("domainID cannot be empty: use the claim template of a ComputeDomain");
  }
  // Any other word means Single, as in the reference driver.
  const bool all = text->allocation_mode == to_string(AllocationMode::All);
  return ChannelConfig{text->domain_uid, all ? AllocationMode::All : AllocationMode::Single};
}

ConfigWords config_words_in(const std::string& parameters) {
  static const Wanted everything{.everything = true};
  static const Wanted words{.members = {{"kind", everything}, {"domainID", everything}}};
  const auto json = parse_json(parameters, words);
  if (!json || !json->is_object()) return {};
  const auto text_at = [&](const char* name) -> std::optional<std::string> {
    const auto found = json->find(name);
    if (found == json->end() || !found->is_string()) return std::nullopt;
    return found->get<std::string>();
  };
  return {text_at("kind"), text_at("domainID")};
}

}  // namespace cdom::api
