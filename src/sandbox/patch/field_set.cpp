#include "sandbox/patch/field_set.h"

#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"

namespace cdom::sandbox::patch {

namespace {

using nlohmann::json;

void collect_paths(const FieldSet& set, const std::string& path, std::vector<std::string>& out) {
  if (set.is_member) out.push_back(path);
  for (const auto& [element, child] : set.children) {
    collect_paths(child, path + printed_element(element), out);
  }
}

}  // namespace

std::string printed_element(const std::string& element) {
  const std::string content = element.substr(2);
  if (element.starts_with("f:")) return "." + content;
  if (element.starts_with("v:")) return base::cat("[=", content, "]");
  const json keys = json::parse(content, nullptr, false);
  if (!keys.is_object()) return base::cat("[", content, "]");
  std::vector<std::string> parts;
  for (const auto& [key, value] : keys.items()) parts.push_back(base::cat(key, "=", value.dump()));
  return base::cat("[", base::join(parts, ","), "]");
}

void FieldSet::add(const FieldSet& other) {
  is_member = is_member || other.is_member;
  for (const auto& [element, child] : other.children) children[element].add(child);
}

void FieldSet::subtract(const FieldSet& other) {
  is_member = is_member && !other.is_member;
  for (const auto& [element, child] : other.children) {
    const auto mine = children.find(element);
    if (mine == children.end()) continue;
    mine->second.subtract(child);
    if (mine->second.is_empty()) children.erase(mine);
  }
}

FieldSet FieldSet::intersection(const FieldSet& other) const {
  FieldSet both;
  both.is_member = is_member && other.is_member;
  for (const auto& [element, child] : children) {
    const auto theirs = other.children.find(element);
    if (theirs == other.children.end()) continue;
    FieldSet below = child.intersection(theirs->second);
    if (!below.is_empty()) both.children.emplace(element, std::move(below));
  }
  return both;
}

std::vector<std::string> FieldSet::paths() const {
  std::vector<std::string> out;
  collect_paths(*this, "", out);
  return out;
}

// A member without children is {}; one with children says so by ".".
json to_fields_v1(const FieldSet& set) {
  json out = json::object();
  if (set.is_member && !set.children.empty()) out["."] = json::object();
  for (const auto& [element, child] : set.children) out[element] = to_fields_v1(child);
  return out;
}

FieldSet from_fields_v1(const json& fields) {
  FieldSet set;
  if (!fields.is_object()) return set;
  set.is_member = fields.empty() || fields.contains(".");
  for (const auto& [element, child] : fields.items()) {
    if (element.size() > 2 && element[1] == ':')
      set.children.emplace(element, from_fields_v1(child));
  }
  return set;
}

}  // namespace cdom::sandbox::patch
