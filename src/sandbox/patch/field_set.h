// FieldSet: a set of fields of an object, in the shape of managedFields' FieldsV1.
//
// A tree of path elements: "f:name" a field, `k:{"name":"a"}` an item of a map list, `v:"x"` an
// item of a set. A node that is a member stands for itself, not for what is below it. A value.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace cdom::sandbox::patch {

struct FieldSet {
  bool is_member = false;
  std::map<std::string, FieldSet> children;

  [[nodiscard]] bool is_empty() const { return !is_member && children.empty(); }
  void add(const FieldSet& other);
  void subtract(const FieldSet& other);
  [[nodiscard]] FieldSet intersection(const FieldSet& other) const;

  // The members as Kubernetes prints them: `.spec.containers[name="a"].image`.
  [[nodiscard]] std::vector<std::string> paths() const;

  friend bool operator==(const FieldSet&, const FieldSet&) = default;
};

// `.image` for a field, `[name="a"]` for an item of a map list, `[="x"]` for one of a set.
std::string printed_element(const std::string& element);

nlohmann::json to_fields_v1(const FieldSet& set);
// What is no FieldsV1 is passed over.
FieldSet from_fields_v1(const nlohmann::json& fields);

}  // namespace cdom::sandbox::patch
