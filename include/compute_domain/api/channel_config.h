// ComputeDomainChannelConfig: the opaque configuration that ties a claim to its domain.
#pragma once

#include <optional>
#include <string>

#include "compute_domain/api/compute_domain.h"
#include "compute_domain/base/result.h"

namespace cdom::api {

struct ChannelConfig {
  std::string domain_uid;
  AllocationMode allocation_mode = AllocationMode::Single;

  friend bool operator==(const ChannelConfig&, const ChannelConfig&) = default;
};

std::string encode_channel_config(const ChannelConfig& config);

// Strict, as the reference driver's decoder: an unknown or duplicate field, a wrong case or a wrong
// kind is Invalid with its message (`strict decoding error: unknown field "x"`). An empty domainID
// is Invalid too.
base::Result<ChannelConfig> decode_channel_config(const std::string& parameters);

// What the parameters of any config say, read leniently: nullopt where there is no such text.
struct ConfigWords {
  std::optional<std::string> kind, domain_uid;
};
ConfigWords config_words_in(const std::string& parameters);

}  // namespace cdom::api
