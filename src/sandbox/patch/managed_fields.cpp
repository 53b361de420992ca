#include "sandbox/patch/managed_fields.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "compute_domain/base/text.h"

namespace cdom::sandbox::patch {

namespace {

using nlohmann::json;

std::string text_in(const json& entry, const char* field) {
  const auto found = entry.find(field);
  return found != entry.end() && found->is_string() ? found->get<std::string>() : "";
}

ManagedEntry entry_of(const json& entry) {
  ManagedEntry out;
  out.manager = {text_in(entry, "manager"), text_in(entry, "apiVersion"),
                 text_in(entry, "subresource"), text_in(entry, "time")};
  out.operation = text_in(entry, "operation") == "Apply" ? Operation::Apply : Operation::Update;
  if (entry.contains("fieldsV1")) out.fields = from_fields_v1(entry.at("fieldsV1"));
  // The root of a set is no field, though an empty FieldsV1 reads as a member.
  out.fields.is_member = false;
  return out;
}

json to_json(const ManagedEntry& entry) {
  json out = {{"manager", entry.manager.name},
              {"operation", entry.operation == Operation::Apply ? "Apply" : "Update"},
              {"apiVersion", entry.manager.api_version},
              {"time", entry.manager.time},
              {"fieldsType", "FieldsV1"},
              {"fieldsV1", to_fields_v1(entry.fields)}};
  if (!entry.manager.subresource.empty()) out["subresource"] = entry.manager.subresource;
  return out;
}

auto order_of(const ManagedEntry& entry) {
  return std::tie(entry.operation, entry.manager.time, entry.manager.name,
                  entry.manager.api_version, entry.manager.subresource);
}

void merge_ancient(ManagedFields& entries) {
  constexpr std::ptrdiff_t kMostUpdates = 10;  // of kube-apiserver
  const auto is_update = [](const ManagedEntry& entry) {
    return entry.operation == Operation::Update;
  };
  // Sorted by time, the oldest Update entries come first.
  while (std::ranges::count_if(entries, is_update) > kMostUpdates) {
    const auto oldest = std::ranges::find_if(entries, is_update);
    const auto next = std::find_if(std::next(oldest), entries.end(), is_update);
    next->manager.name = "ancient-changes";
    next->fields.add(oldest->fields);
    entries.erase(oldest);
  }
}

}  // namespace

bool ManagedEntry::is_of(const FieldManager& other, Operation other_operation) const {
  return manager.name == other.name && operation == other_operation &&
         manager.subresource == other.subresource &&
         (operation == Operation::Apply || manager.api_version == other.api_version);
}

ManagedFields managed_fields_of(const json& object) {
  ManagedFields entries;
  const auto metadata = object.find("metadata");
  if (metadata == object.end() || !metadata->is_object()) return entries;
  const auto managed = metadata->find("managedFields");
  if (managed == metadata->end() || !managed->is_array()) return entries;
  for (const json& entry : *managed) {
    if (entry.is_object() && !entry.empty()) entries.push_back(entry_of(entry));
  }
  return entries;
}

void set_managed_fields(json& object, ManagedFields entries) {
  std::erase_if(entries, [](const ManagedEntry& entry) { return entry.fields.is_empty(); });
  const auto by_order = [](const ManagedEntry& left, const ManagedEntry& right) {
    return order_of(left) < order_of(right);
  };
  std::ranges::sort(entries, by_order);
  merge_ancient(entries);
  json& metadata = object["metadata"];
  metadata.erase("managedFields");
  if (entries.empty()) return;
  json list = json::array();
  for (const ManagedEntry& entry : entries) list.push_back(to_json(entry));
  metadata["managedFields"] = std::move(list);
}

std::string conflict_with(const ManagedEntry& entry) {
  std::string text = base::cat("conflict with \"", entry.manager.name, "\"");
  if (!entry.manager.subresource.empty()) {
    text += base::cat(" with subresource \"", entry.manager.subresource, "\"");
  }
  if (entry.operation == Operation::Update) text += base::cat(" using ", entry.manager.api_version);
  return text;
}

}  // namespace cdom::sandbox::patch
