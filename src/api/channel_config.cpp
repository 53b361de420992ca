#include "compute_domain/api/channel_config.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "compute_domain/api/kind.h"
#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "compute_domain_fields.h"

namespace cdom::api {

namespace {

using base::cat;
using base::invalid;

constexpr std::string_view kConfigKind = "ComputeDomainChannelConfig";
constexpr std::array<std::string_view, 4> kConfigFields = {"apiVersion", "kind", "domainID",
                                                           "allocationMode"};

std::string config_api_version() { return api_version_of(kind_of<ComputeDomain>(), "v1beta1"); }

struct ConfigText {
  std::string api_version, kind, domain_uid, allocation_mode;
};

// The names of an object's own members, in their order in the text. The library's document has
// each once and sorted, so they are collected while it parses.
std::vector<std::string> top_level_names(const std::string& text) {
  std::vector<std::string> names;
  const auto collect = [&](int depth, Json::parse_event_t event, const Json& parsed) {
    if (event == Json::parse_event_t::key && depth == 1) names.push_back(parsed);
    return true;
  };
  // The caller has parsed the text already: it is valid.
  [[maybe_unused]] const Json again = Json::parse(text, collect, /*allow_exceptions=*/false);
  return names;
}

// "" or the message of Kubernetes' strict decoder (sigs.k8s.io/json): every unknown and every
// duplicate field, in the order of the text. Names are compared with their case.
std::string strict_problem(const std::string& text) {
  std::vector<std::string> problems;
  std::set<std::string> seen;
  for (const std::string& name : top_level_names(text)) {
    if (std::ranges::find(kConfigFields, name) == kConfigFields.end()) {
      if (seen.insert(name).second) problems.push_back(cat("unknown field \"", name, '"'));
    } else if (!seen.insert(name).second) {
      problems.push_back(cat("duplicate field \"", name, '"'));
    }
  }
  return problems.empty() ? "" : cat("strict decoding error: ", base::join(problems, ", "));
}

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
  const auto text = decode_fields<ConfigText>(parameters);
  if (!text) return text.error();
  if (text->api_version != config_api_version() || text->kind != kConfigKind) {
    return invalid(cat("no kind \"", text->kind, "\" is registered for version \"",
                       text->api_version, "\": must be ", kConfigKind, " of ",
                       config_api_version()));
  }
  if (auto problem = strict_problem(parameters); !problem.empty()) return invalid(problem);
  if (text->domain_uid.empty()) {
    return invalid("domainID cannot be empty: use the claim template of a ComputeDomain");
  }
  // As in the reference driver any other word means Single.
  const bool all = text->allocation_mode == to_string(AllocationMode::All);
  return ChannelConfig{text->domain_uid, all ? AllocationMode::All : AllocationMode::Single};
}

std::optional<std::string> domain_uid_in(const std::string& parameters) {
  const auto json = parse_json(parameters);
  if (!json || !json->is_object()) return std::nullopt;
  const auto found = json->find("domainID");
  if (found == json->end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

}  // namespace cdom::api
