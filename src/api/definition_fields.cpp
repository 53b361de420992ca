#include "definition_fields.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"

namespace cdom::api {

namespace {

constexpr char kKeepsUnknown[] = "x-kubernetes-preserve-unknown-fields";

void add_paths(const Json& schema, const std::string& prefix, std::vector<std::string>& paths) {
  if (!schema.is_object()) return;
  const auto keeps = schema.find(kKeepsUnknown);
  if (keeps != schema.end() && *keeps == true) paths.push_back(prefix + kAnyField);
  if (const auto items = schema.find("items"); items != schema.end()) {
    add_paths(*items,
              prefix.empty() ? "[]." : base::cat(prefix.substr(0, prefix.size() - 1), "[]."),
              paths);
  }
  const auto properties = schema.find("properties");
  if (properties == schema.end() || !properties->is_object()) return;
  for (const auto& [name, field] : properties->items()) {
    const std::string path = base::cat(prefix, name);
    paths.push_back(path);
    add_paths(field, path + ".", paths);
  }
}

}  // namespace

void AsSchemaPaths::read(Decoding& /*decoding*/, const Json& json, std::vector<std::string>& out) {
  out.clear();
  add_paths(json, "", out);
  std::ranges::sort(out);
}

void AsSchemaPaths::write(Json& json, const std::vector<std::string>& paths) {
  json = Json::object();
  for (const std::string& path : paths) {
    Json* at = &json;
    for (std::string step : base::split(path, '.')) {
      if (step == kAnyField) {
        (*at)[kKeepsUnknown] = true;
        break;
      }
      const bool is_list = step.ends_with("[]");
      if (is_list) step.resize(step.size() - 2);
      if (!step.empty()) at = &(*at)["properties"][step];
      if (is_list) at = &(*at)["items"];
    }
    if (at->is_null()) *at = Json::object();
  }
}

}  // namespace cdom::api
