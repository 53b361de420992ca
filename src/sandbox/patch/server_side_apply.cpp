#include "sandbox/patch/server_side_apply.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/patch/apply_merge.h"
#include "sandbox/patch/fields_of.h"
#include "sandbox/patch/managed_fields.h"

namespace cdom::sandbox::patch {

namespace {

using base::invalid;
using nlohmann::json;

void erase_fields(FieldSet& set, const std::vector<std::string>& names) {
  for (const std::string& name : names) set.children.erase("f:" + name);
}

// What the server keeps does not come from a configuration.
void drop_server_fields(json& config) {
  json& metadata = config["metadata"];
  for (const char* name : {"uid", "resourceVersion", "generation", "creationTimestamp",
                           "deletionTimestamp", "managedFields", "selfLink"}) {
    metadata.erase(name);
  }
}

const json& member(const json& object, const char* name) {
  static const json kNone;
  const auto found = object.is_object() ? object.find(name) : object.end();
  return found == object.end() ? kNone : *found;
}

// Whether two values are equal, but for members of these names.
bool is_same_but(const json& before, const json& after,
                 std::initializer_list<const char*> different) {
  if (!before.is_object() || !after.is_object()) return before == after;
  const auto counts = [&](const json& object) {
    return object.size() - static_cast<std::size_t>(std::ranges::count_if(
                               different, [&](const char* name) { return object.contains(name); }));
  };
  if (counts(before) != counts(after)) return false;
  const auto items = after.items();
  return std::all_of(items.begin(), items.end(), [&](const auto& item) {
    if (std::ranges::find(different, item.key()) != different.end()) return true;
    const auto old = before.find(item.key());
    return old != before.end() && *old == item.value();
  });
}

json without(json object, std::initializer_list<const char*> metadata_fields) {
  for (const char* name : metadata_fields) {
    if (object.contains("metadata")) object["metadata"].erase(name);
  }
  return object;
}

// Objects from before the tracking belong to nobody in particular.
ManagedFields entries_of(const json& live, const FieldManager& manager, const MergeRules& rules) {
  ManagedFields entries = managed_fields_of(live);
  if (entries.empty() && !live.empty()) {
    entries.push_back({{"before-first-apply", manager.api_version, "", manager.time},
                       Operation::Update,
                       stored_fields_of(live, rules)});
  }
  return entries;
}

std::vector<Cause> conflicts_of(const ManagedFields& others, const FieldSet& changed) {
  std::vector<Cause> conflicts;
  for (const ManagedEntry& other : others) {
    for (const std::string& path : other.fields.intersection(changed).paths()) {
      conflicts.push_back({"FieldManagerConflict", conflict_with(other), path});
    }
  }
  return conflicts;
}

std::string typed_patch_error(const json& config, const std::string& what) {
  const json& metadata = config.at("metadata");
  return base::cat("failed to create typed patch object (", metadata.value("namespace", ""), "/",
                   metadata.value("name", ""), "; ", config.value("apiVersion", ""),
                   ", Kind=", config.value("kind", ""), "): ", what);
}

}  // namespace

base::Result<std::vector<Cause>> apply(json& live, json config, const FieldManager& manager,
                                       bool force, const std::vector<std::string>& reset_fields,
                                       const MergeRules& rules) {
  if (!config.is_object() || !config.contains("metadata") || !config["metadata"].is_object()) {
    return invalid("an applied configuration must be an object with metadata");
  }
  if (config["metadata"].contains("managedFields") &&
      !config["metadata"]["managedFields"].is_null()) {
    return invalid("metadata.managedFields must be nil");
  }
  for (const std::string& name : reset_fields) {
    if (name != "metadata") config.erase(name);
  }
  drop_server_fields(config);
  auto applied = fields_of(config, rules);
  if (!applied) return invalid(typed_patch_error(config, applied.error().message));
  erase_fields(*applied, reset_fields);
  if (std::ranges::find(reset_fields, "metadata") != reset_fields.end()) config.erase("metadata");

  ManagedFields others = entries_of(live, manager, rules);
  const auto mine = std::ranges::find_if(
      others, [&](const ManagedEntry& entry) { return entry.is_of(manager, Operation::Apply); });
  const ManagedEntry before = mine != others.end() ? *mine : ManagedEntry{};
  if (mine != others.end()) others.erase(mine);

  json merged = live;
  merge_config(merged, config, rules);
  const FieldSet changed = changed_fields(live, merged, rules);
  if (!force) {
    auto conflicts = conflicts_of(others, changed);
    if (!conflicts.empty()) return conflicts;
  }

  FieldSet dropped = before.fields;
  dropped.subtract(*applied);
  FieldSet kept = *applied;
  for (ManagedEntry& other : others) {
    other.fields.subtract(changed);
    dropped.subtract(other.fields);
    kept.add(other.fields);
  }
  remove_fields(merged, dropped, kept, rules);

  const bool is_no_op = before.fields == *applied &&
                        without(live, {"managedFields"}) == without(merged, {"managedFields"});
  if (!is_no_op) {
    others.push_back({manager, Operation::Apply, *std::move(applied)});
    set_managed_fields(merged, std::move(others));
  }
  live = std::move(merged);
  return std::vector<Cause>{};
}

std::string conflict_message(const std::vector<Cause>& conflicts) {
  if (conflicts.size() == 1) {
    return base::cat("Apply failed with 1 conflict: ", conflicts[0].message, ": ",
                     conflicts[0].field);
  }
  std::map<std::string, std::vector<std::string>> by_manager;
  for (const Cause& conflict : conflicts) by_manager[conflict.message].push_back(conflict.field);
  std::vector<std::string> lines;
  for (const auto& [message, fields] : by_manager) {
    lines.push_back(
        base::cat("conflicts", message.substr(std::string_view("conflict").size()), ":"));
    for (const std::string& field : fields) lines.push_back("- " + field);
  }
  return base::cat("Apply failed with ", conflicts.size(), " conflicts: ", base::join(lines, "\n"));
}

void track_write(const json& before, json& after, const FieldManager& manager,
                 const std::vector<std::string>& reset_fields, const MergeRules& rules) {
  const json sent = after.value("/metadata/managedFields"_json_pointer, json());
  const bool is_reset =
      sent.is_array() && (sent.empty() || (sent.size() == 1 && sent[0] == json::object()));
  ManagedFields entries = is_reset ? ManagedFields{} : managed_fields_of(before);

  FieldSet changed = changed_fields(before, after, rules);
  erase_fields(changed, reset_fields);
  const FieldSet removed = lost_fields(before, after, rules);
  for (ManagedEntry& entry : entries) {
    const bool is_mine = entry.is_of(manager, Operation::Update);
    if (!is_mine) entry.fields.subtract(changed);
    entry.fields.subtract(removed);
  }
  if (!changed.is_empty()) {
    const auto mine = std::ranges::find_if(entries, [&](const ManagedEntry& entry) {
      return entry.is_of(manager, Operation::Update);
    });
    if (mine == entries.end()) {
      entries.push_back({manager, Operation::Update, std::move(changed)});
    } else {
      mine->fields.add(changed);
      mine->manager.time = manager.time;
    }
  }
  set_managed_fields(after, std::move(entries));
}

bool is_same_but_for_times(const json& before, const json& after) {
  if (!is_same_but(before, after, {"metadata"})) return false;
  const json& old_meta = member(before, "metadata");
  const json& meta = member(after, "metadata");
  if (!is_same_but(old_meta, meta, {"resourceVersion", "managedFields"})) return false;
  const json& old_entries = member(old_meta, "managedFields");
  const json& entries = member(meta, "managedFields");
  if (!old_entries.is_array() || !entries.is_array()) return old_entries == entries;
  return std::ranges::equal(old_entries, entries, [](const json& old_entry, const json& entry) {
    return is_same_but(old_entry, entry, {"time"});
  });
}

}  // namespace cdom::sandbox::patch
