#include "compute_domain/api/domain_config.h"

#include <nlohmann/json.hpp>

#include "api/domain/compute_domain_fields.h"
#include "api/domain/config_text.h"
#include "api/json/json_scanner.h"
#include "compute_domain/base/text.h"

namespace cdom::api {

namespace {

struct DomainConfigText {
  std::string api_version, kind;
  std::int64_t num_nodes = 0;
  AllocationMode allocation_mode = AllocationMode::Single;
  std::optional<ComputeDomainPlacement> placement;
};

// strict_problem() of the member, where there is one.
std::string placement_problem(const std::string& parameters) {
  const auto members = members_in(parameters);
  if (!members) return "";
  std::string_view placement;
  for (const auto& [name, value] : *members) {
    if (name == "placement") placement = value;
  }
  return strict_problem(placement, field_names<ComputeDomainPlacement>());
}

}  // namespace

template <>
inline constexpr auto kFields<DomainConfigText> =
    std::tuple{field("apiVersion", &DomainConfigText::api_version, Presence::Required),
               field("kind", &DomainConfigText::kind, Presence::Required),
               field("numNodes", &DomainConfigText::num_nodes),
               field("allocationMode", &DomainConfigText::allocation_mode, Presence::Always),
               field("placement", &DomainConfigText::placement)};

std::string encode_domain_config(const DomainConfig& config) {
  return encode_fields(DomainConfigText{config_api_version(), kDomainConfigKind, config.num_nodes,
                                        config.allocation_mode, config.placement});
}

base::Result<DomainConfig> decode_domain_config(const std::string& parameters) {
  const auto text = decode_config<DomainConfigText>(parameters, kDomainConfigKind);
  if (!text) return text.error();
  if (auto problem = placement_problem(parameters); !problem.empty()) {
    return base::invalid(base::cat("placement: ", problem));
  }
  if (text->num_nodes < 0) {
    return base::invalid(base::cat("numNodes: must be 0 or more, is ", text->num_nodes));
  }
  return DomainConfig{text->num_nodes, text->allocation_mode, text->placement};
}

}  // namespace cdom::api
