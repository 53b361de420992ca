#include "definition_fields.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"

namespace cdom::api {

namespace {

constexpr char kKeepsUnknown[] = "x-kubernetes-preserve-unknown-fields";

void add_paths(const JsonView& schema, const std::string& prefix, std::vector<std::string>& paths) {
  using Type = JsonView::Type;
  if (!schema.is_object()) return;
  const auto keeps = schema.member(kKeepsUnknown);
  if (keeps && keeps->type() == Type::Boolean && keeps->boolean()) {
    paths.push_back(prefix + kAnyField);
  }
  if (const auto items = schema.member("items")) {
    add_paths(*items,
              prefix.empty() ? "[]." : base::cat(prefix.substr(0, prefix.size() - 1), "[]."),
              paths);
  }
  const auto properties = schema.member("properties");
  if (!properties || !properties->is_object()) return;
  properties->each_member([&](std::string_view name, const JsonView& field) {
    const std::string path = base::cat(prefix, name);
    paths.push_back(path);
    add_paths(field, path + ".", paths);
  });
}

}  // namespace

void AsSchemaPaths::read(Decoding& /*decoding*/, const JsonView& json,
                         std::vector<std::string>& out) {
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
