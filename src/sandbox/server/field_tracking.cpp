#include "sandbox/server/field_tracking.h"

#include <nlohmann/json.hpp>

namespace cdom::sandbox::server {

std::string field_manager_of(const http::Request& request, const RequestInfo& info) {
  if (const std::string& named = info.option("fieldManager"); !named.empty()) return named;
  const auto agent = request.headers.find("User-Agent");
  if (agent == request.headers.end() || agent->second.empty()) return "unknown";
  return agent->second.substr(0, agent->second.find('/'));
}

bool is_unchanged(const json& before, const json& after) { return before == after; }

}  // namespace cdom::sandbox::server
