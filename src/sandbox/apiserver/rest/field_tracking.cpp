#include "sandbox/apiserver/rest/field_tracking.h"

#include <nlohmann/json.hpp>

#include "sandbox/apiserver/kinds/custom_version.h"
#include "sandbox/apiserver/rest/strategy.h"
#include "sandbox/apiserver/serving/body.h"
#include "sandbox/patch/server_side_apply.h"

namespace cdom::sandbox::server {

const patch::MergeRules& merge_rules_of(const Kind& kind) {
  return kind.is_custom() ? *kind.custom->merge_rules : patch::built_in_merge_rules();
}

std::string field_manager_of(const http::Request& request, const RequestInfo& info) {
  if (const std::string& named = info.option("fieldManager"); !named.empty()) return named;
  const auto agent = request.headers.find("User-Agent");
  if (agent == request.headers.end() || agent->second.empty()) return "unknown";
  return agent->second.substr(0, agent->second.find('/'));
}

void track_fields(const Call& call, const json& before, json& after) {
  if (content_type_of(call.request) == "application/apply-patch+yaml") return;
  patch::track_write(before, after,
                     {.name = call.field_manager,
                      .api_version = call.kind->api_version(),
                      .subresource = call.info.subresource,
                      .time = base::to_rfc3339(call.state.clock.now())},
                     reset_fields(call), merge_rules_of(*call.kind));
}

bool is_unchanged(const json& before, const json& after) {
  return patch::is_same_but_for_times(before, after);
}

}  // namespace cdom::sandbox::server
