#include <nlohmann/json.hpp>
#include <optional>

#include "compute_domain/api/codec.h"
#include "compute_domain/base/text.h"
#include "yaml_document.h"

namespace cdom::api {

namespace {

bool has_text(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string();
}

// A document may be a List, as `kubectl get -o yaml` writes: its items then, which need not repeat
// their kind in a typed list (ComputeDomainList). "" or what is wrong.
std::string append_objects(Json& json, std::vector<std::string>& objects) {
  if (!json.is_object() || !has_text(json, "apiVersion") || !has_text(json, "kind")) {
    return "apiVersion and kind are required: this is not a Kubernetes object";
  }
  const auto kind = json["kind"].get<std::string>();
  if (!kind.ends_with("List") || !json.contains("items")) {
    objects.push_back(text_of(json));
    return "";
  }
  if (!json["items"].is_array()) return "items: must be a list";
  for (Json& item : json["items"]) {
    if (item.is_object() && kind != "List") {
      item.emplace("apiVersion", json["apiVersion"]);
      item.emplace("kind", kind.substr(0, kind.size() - std::string_view("List").size()));
    }
    if (auto problem = append_objects(item, objects); !problem.empty()) return problem;
  }
  return "";
}

}  // namespace

base::Result<std::vector<std::string>> objects_in_yaml(std::string_view text,
                                                       std::string_view file_name) {
  std::vector<std::string> objects;
  // Much faster than the YAML parser, and what `kubectl get -o json` writes.
  if (base::trim(text).starts_with('{')) {
    if (auto json = parse_json(text)) {
      const auto problem = append_objects(*json, objects);
      if (!problem.empty()) return yaml_error(file_name, 1, problem);
      return objects;
    }
  }
  const auto append = [&](Json& json) { return append_objects(json, objects); };
  if (const auto done = read_yaml(text, file_name, append); !done) return done.error();
  return objects;
}

base::Result<std::string> json_in_yaml(std::string_view text, std::string_view file_name) {
  if (base::trim(text).starts_with('{')) {
    if (const auto json = parse_json(text)) return text_of(*json);
  }
  std::optional<std::string> found;
  const auto take = [&](Json& json) -> std::string {
    if (found) return "one document is expected";
    found = text_of(json);
    return "";
  };
  if (const auto done = read_yaml(text, file_name, take); !done) return done.error();
  if (!found) return yaml_error(file_name, 1, "it is empty");
  return *std::move(found);
}

}  // namespace cdom::api
