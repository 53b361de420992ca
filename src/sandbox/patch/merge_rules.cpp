#include "sandbox/patch/merge_rules.h"

#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"

namespace cdom::sandbox::patch {

namespace {

using nlohmann::json;
using Kind = MergeRule::Kind;

// A list of a built-in kind that is not atomic, or a map that is: told by its field's name, and by
// the name of the field around it where that is needed.
struct Entry {
  std::string_view parent;  // empty: any
  std::string_view field;
  Kind kind;
  std::string_view keys = {};  // separated by commas
};

// From the Kubernetes API reference: patch merge keys, x-kubernetes-list-type and -map-type.
constexpr Entry kLists[] = {
    {"metadata", "finalizers", Kind::Set},
    {"metadata", "ownerReferences", Kind::Map, "uid"},
    {"", "conditions", Kind::Map, "type"},
    {"", "containers", Kind::Map, "name"},
    {"", "initContainers", Kind::Map, "name"},
    {"", "ephemeralContainers", Kind::Map, "name"},
    {"containers", "ports", Kind::Map, "containerPort,protocol"},
    {"initContainers", "ports", Kind::Map, "containerPort,protocol"},
    {"spec", "ports", Kind::Map, "port,protocol"},
    {"", "env", Kind::Map, "name"},
    {"", "volumeMounts", Kind::Map, "mountPath"},
    {"", "volumeDevices", Kind::Map, "devicePath"},
    {"spec", "volumes", Kind::Map, "name"},
    {"", "imagePullSecrets", Kind::Map, "name"},
    {"", "secrets", Kind::Map, "name"},
    {"", "hostAliases", Kind::Map, "ip"},
    {"", "schedulingGates", Kind::Map, "name"},
    {"", "topologySpreadConstraints", Kind::Map, "topologyKey,whenUnsatisfiable"},
    {"spec", "resourceClaims", Kind::Map, "name"},
    {"resources", "claims", Kind::Map, "name"},
    {"status", "resourceClaimStatuses", Kind::Map, "name"},
    {"status", "podIPs", Kind::Map, "ip"},
    {"status", "addresses", Kind::Map, "type"},
    {"spec", "podCIDRs", Kind::Set},
    {"status", "reservedFor", Kind::Map, "uid"},
    {"status", "devices", Kind::Map, "driver,device,pool,shareID"},
    {"spec", "variables", Kind::Map, "name"},
    {"", "matchConditions", Kind::Map, "name"},
};

constexpr Entry kAtomicMaps[] = {
    {"", "selector", Kind::Atomic},         {"", "labelSelector", Kind::Atomic},
    {"", "nodeSelector", Kind::Atomic},     {"", "roleRef", Kind::Atomic},
    {"", "involvedObject", Kind::Atomic},   {"", "regarding", Kind::Atomic},
    {"", "fieldRef", Kind::Atomic},         {"", "resourceFieldRef", Kind::Atomic},
    {"", "secretKeyRef", Kind::Atomic},     {"", "configMapKeyRef", Kind::Atomic},
    {"opaque", "parameters", Kind::Atomic}, {"devices", "data", Kind::Atomic},
};

template <std::size_t size>
const Entry* find(const Entry (&table)[size], std::string_view parent, std::string_view field) {
  for (const Entry& entry : table) {
    if (entry.field == field && (entry.parent.empty() || entry.parent == parent)) return &entry;
  }
  return nullptr;
}

MergeRule rule_of_entry(const Entry& entry) {
  MergeRule rule{entry.kind, {}, {}};
  if (!entry.keys.empty()) rule.keys = base::split(entry.keys, ',');
  if (!rule.keys.empty() && rule.keys.back() == "protocol") {
    rule.key_defaults.emplace("protocol", std::make_shared<const json>("TCP"));
  }
  return rule;
}

class BuiltInRules : public MergeRules {
 public:
  [[nodiscard]] MergeRule rule_of(const Path& path, bool is_list) const override {
    // The last two fields; what stands in a list of lists has no rule of its own.
    if (path.empty() || path.back() == kItem)
      return {is_list ? Kind::Atomic : Kind::Granular, {}, {}};
    std::string_view parent;
    for (std::size_t i = path.size() - 1; i > 0 && parent.empty(); --i) {
      if (path[i - 1] != kItem) parent = path[i - 1];
    }
    const Entry* entry =
        is_list ? find(kLists, parent, path.back()) : find(kAtomicMaps, parent, path.back());
    if (entry != nullptr) return rule_of_entry(*entry);
    return {is_list ? Kind::Atomic : Kind::Granular, {}, {}};
  }
};

class SchemaRules : public MergeRules {
 public:
  explicit SchemaRules(std::shared_ptr<const schema::Schema> schema) : root_(std::move(schema)) {}

  [[nodiscard]] MergeRule rule_of(const Path& path, bool is_list) const override {
    // apiVersion, kind and metadata are the same in every kind, whatever the schema says of them.
    if (path.empty()) return {};
    if (path[0] == "apiVersion" || path[0] == "kind" || path[0] == "metadata") {
      return built_in_merge_rules().rule_of(path, is_list);
    }
    MergeRule free{is_list ? Kind::Atomic : Kind::Granular, {}, {}};
    const schema::Schema* at = root_.get();
    for (const std::string& step : path) {
      const schema::Schema* next = child_of(*at, step);
      if (next == nullptr)
        return at->preserve_unknown_fields ? free : MergeRule{Kind::Unknown, {}, {}};
      at = next;
    }
    if (!is_list) return {at->atomic_map ? Kind::Atomic : Kind::Granular, {}, {}};
    switch (at->list_type) {
      case schema::ListType::Atomic:
        return {Kind::Atomic, {}, {}};
      case schema::ListType::Set:
        return {Kind::Set, {}, {}};
      case schema::ListType::Map:
        return map_rule(*at);
    }
    return free;
  }

 private:
  static const schema::Schema* child_of(const schema::Schema& schema, const std::string& step) {
    if (step == kItem) return schema.items.get();
    const auto property = schema.properties.find(step);
    return property != schema.properties.end() ? &property->second
                                               : schema.additional_properties.get();
  }

  static MergeRule map_rule(const schema::Schema& list) {
    MergeRule rule{Kind::Map, list.list_map_keys, {}};
    for (const std::string& key : list.list_map_keys) {
      const auto& value = list.items->properties.at(key).default_value;
      if (value != nullptr) rule.key_defaults.emplace(key, value);
    }
    return rule;
  }

  std::shared_ptr<const schema::Schema> root_;
};

}  // namespace

std::unique_ptr<MergeRules> merge_rules_of(std::shared_ptr<const schema::Schema> schema) {
  return std::make_unique<SchemaRules>(std::move(schema));
}

const MergeRules& built_in_merge_rules() {
  static const BuiltInRules kRules;
  return kRules;
}

}  // namespace cdom::sandbox::patch
