#include "compute_domain/api/asked_pods.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "api/domain/compute_domain_fields.h"
#include "api/json/json_text.h"
#include "compute_domain/api/kind.h"
#include "compute_domain/base/text.h"

namespace cdom::api {

namespace {

struct AskedDomain {
  ComputeDomainSpec spec;
};

std::string text_at(const Json& object, const char* name) {
  const auto it = object.find(name);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

// Calls `visit` with each object in a list that `object` has under that name.
template <class Visit>
void for_each_in(const Json& object, const char* name, const Visit& visit) {
  const auto list = object.find(name);
  if (list == object.end() || !list->is_array()) return;
  for (const Json& item : *list) {
    if (item.is_object()) visit(item);
  }
}

// More pods than any cluster has count as so many: a product of two such counts does not overflow.
constexpr std::int64_t kMostPods = 1'000'000'000;

std::int64_t count_at(const Json& object, const char* name, std::int64_t otherwise) {
  const auto it = object.find(name);
  if (it == object.end() || !it->is_number_integer()) return otherwise;
  // Only a number that is not negative can be too large for a signed one.
  const auto count = it->get<std::int64_t>();
  return it->is_number_unsigned() && count < 0 ? kMostPods
                                               : std::clamp<std::int64_t>(count, 0, kMostPods);
}

std::string controller_in(const Json& meta) {
  std::string name;
  for_each_in(meta, "ownerReferences", [&](const Json& owner) {
    if (owner.value("controller", Json()) == Json(true)) name = text_at(owner, "name");
  });
  return name;
}

std::int64_t product_of(std::int64_t a, std::int64_t b) { return std::min(a * b, kMostPods); }

// How many of what `object` holds a template for.
std::int64_t copies_of(const Json& object) {
  const std::int64_t at_a_time = count_at(object, "parallelism", 1);
  return product_of(count_at(object, "replicas", 1),
                    std::min(at_a_time, count_at(object, "completions", at_a_time)));
}

// Names in resources.claims of the containers of a pod's spec.
std::set<std::string> used_claims(const Json& pod_spec) {
  std::set<std::string> used;
  for (const char* containers : {"containers", "initContainers"}) {
    for_each_in(pod_spec, containers, [&](const Json& container) {
      const auto resources = container.find("resources");
      if (resources == container.end() || !resources->is_object()) return;
      for_each_in(*resources, "claims",
                  [&](const Json& claim) { used.insert(text_at(claim, "name")); });
    });
  }
  return used;
}

void add_pods(const Json& pod_spec, std::int64_t copies, AskedPods& asked) {
  const std::set<std::string> used = used_claims(pod_spec);
  std::set<std::string> named;
  for_each_in(pod_spec, "resourceClaims", [&](const Json& claim) {
    const std::string name = text_at(claim, "name");
    const std::string from = text_at(claim, "resourceClaimTemplateName");
    if (from.empty()) return;
    named.insert(from);
    if (!used.contains(name)) asked.unused.emplace(name, from);
  });
  for (const std::string& name : named) asked.templates[name] += copies;
}

void add_templates(const Json& json, std::int64_t copies, AskedPods& asked) {
  if (json.is_array()) {
    for (const Json& item : json) add_templates(item, copies, asked);
  }
  if (!json.is_object()) return;
  const auto claims = json.find("resourceClaims");
  if (json.contains("containers") && claims != json.end() && claims->is_array()) {
    add_pods(json, copies, asked);
    return;
  }
  for (const auto& [name, member] : json.items()) {
    if (name != "metadata" && name != "status") {
      add_templates(member, product_of(copies, copies_of(json)), asked);
    }
  }
}

// The leaves of a field table: "spec.channel.resourceClaimTemplate.name", "status.nodes[].name".
template <HasFields T>
void add_paths(const std::string& path, std::set<std::string>& paths);

template <class T>
void add_paths_of(const std::string& path, const T&, std::set<std::string>& paths) {
  if constexpr (HasFields<T>) {
    add_paths<T>(path, paths);
  } else {
    paths.insert(path);
  }
}
template <class T>
void add_paths_of(const std::string& path, const std::optional<T>&, std::set<std::string>& paths) {
  add_paths_of(path, T{}, paths);
}
template <class T>
void add_paths_of(const std::string& path, const std::vector<T>&, std::set<std::string>& paths) {
  add_paths_of(path + "[]", T{}, paths);
}

template <HasFields T>
void add_paths(const std::string& path, std::set<std::string>& paths) {
  const auto add =
      [&]<class Shape, class Owner, class Member>(const Field<Shape, Owner, Member>& field) {
        std::string at = path;
        for (const JsonStep& step : field.path)
          at += base::cat(at.empty() ? "" : ".", step.name.text);
        if (at != "metadata") add_paths_of(at, Member{}, paths);
      };
  std::apply([&](const auto&... field) { (add(field), ...); }, kFields<T>);
}

const std::set<std::string>& domain_paths() {
  static const std::set<std::string> paths = [] {
    std::set<std::string> all;
    add_paths<ComputeDomain>("", all);
    return all;
  }();
  return paths;
}

bool is_known(const std::set<std::string>& paths, const std::string& path) {
  const auto it = paths.lower_bound(path);
  if (it == paths.end() || !it->starts_with(path)) return false;
  return it->size() == path.size() || (*it)[path.size()] == '.' || (*it)[path.size()] == '[';
}

void add_unknown(const Json& json, const std::string& path, const std::set<std::string>& paths,
                 std::vector<std::string>& unknown) {
  if (json.is_array()) {
    for (const Json& item : json) add_unknown(item, path + "[]", paths, unknown);
  }
  if (!json.is_object()) return;
  for (const auto& [name, member] : json.items()) {
    if (path.empty() && (name == "apiVersion" || name == "kind" || name == "metadata")) continue;
    const std::string at = path.empty() ? name : base::cat(path, ".", name);
    if (is_known(paths, at)) {
      add_unknown(member, at, paths, unknown);
    } else {
      unknown.push_back(at);
    }
  }
}

}  // namespace

AskedPods asked_pods_in(std::string_view json) {
  AskedPods asked;
  const auto object = parse_json(json);
  if (!object || !object->is_object()) return asked;
  asked.kind = text_at(*object, "kind");
  if (const auto meta = object->find("metadata"); meta != object->end() && meta->is_object()) {
    asked.name = {text_at(*meta, "namespace"), text_at(*meta, "name")};
    asked.controller = controller_in(*meta);
  }
  if (const auto spec = object->find("spec"); spec != object->end() && spec->is_object()) {
    asked.has_node = asked.kind == "Pod" && !text_at(*spec, "nodeName").empty();
  }
  if (const auto status = object->find("status"); status != object->end() && status->is_object()) {
    const std::string phase = text_at(*status, "phase");
    asked.has_ended = asked.kind == "Pod" && (phase == "Succeeded" || phase == "Failed");
  }
  // By the nodes there are, the time of day, and sizes that have other names.
  asked.is_countable =
      asked.kind != "DaemonSet" && asked.kind != "CronJob" && asked.kind != "LeaderWorkerSet";
  add_templates(*object, 1, asked);
  return asked;
}

std::string in_namespace(std::string json, const std::string& ns) {
  if (ns.empty()) return json;
  auto object = parse_json(json);
  if (!object || !object->is_object()) return json;
  const std::string kind = text_at(*object, "kind");
  const bool has_none = std::ranges::any_of(
      all_kinds(), [&](const Kind* known) { return known->kind == kind && !known->namespaced; });
  const auto meta = object->find("metadata");
  if (has_none || meta == object->end() || !meta->is_object()) return json;
  if (!text_at(*meta, "namespace").empty()) return json;
  (*meta)["namespace"] = ns;
  return text_of(*object);
}

template <>
inline constexpr auto kFields<AskedDomain> = std::tuple{field("spec", &AskedDomain::spec)};

std::string unknown_domain_word(std::string_view json) {
  // What is wrong in any case, decode() says.
  if (!decode_fields<AskedDomain>(json)) return "";
  const auto strictly = decode_fields<AskedDomain>(json, Decoding(Decoding::Strict()));
  return strictly ? "" : strictly.error().message;
}

std::vector<std::string> unknown_domain_fields(std::string_view json) {
  std::vector<std::string> unknown;
  if (const auto object = parse_json(json)) add_unknown(*object, "", domain_paths(), unknown);
  return unknown;
}

std::string domain_field_in_other_case(const std::string& path) {
  const std::string wanted = base::to_lower(path);
  for (const std::string& known : domain_paths()) {
    const std::string at = known.substr(0, path.size());
    const bool is_whole_step =
        known.size() == at.size() || known[at.size()] == '.' || known[at.size()] == '[';
    if (is_whole_step && base::to_lower(at) == wanted) return at.substr(at.rfind('.') + 1);
  }
  return "";
}

}  // namespace cdom::api
