// ObjectTypes: which fields the objects of built-in kinds have, and what they are called.
//
// Written as compact text (builtin_fields.cpp), parsed once. Immutable.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace cdom::sandbox::schema {

struct FieldType {
  enum class Shape { Single, List, Map };
  std::string name;  // of an ObjectType, or string, int, bool, quantity, int-or-string, any
  Shape shape = Shape::Single;
  std::string description;
};

struct ObjectType {
  std::string name, description;
  std::map<std::string, FieldType> fields;
};

class ObjectTypes {
 public:
  // Throws std::logic_error where the text is not what builtin_fields.cpp says that it is.
  explicit ObjectTypes(const std::vector<std::string_view>& texts);

  // The type of a kind's objects; null: this kind has none here.
  [[nodiscard]] const ObjectType* of_kind(std::string_view version, std::string_view kind) const;

  // Removes the fields that the type does not declare; gives their paths, in order, as
  // schema::prune() does. apiVersion and kind of the root are left alone.
  std::vector<std::string> prune(nlohmann::json& object, const ObjectType& type) const;

  // Schemas of the type and of all that it names, by name, as OpenAPI v3 has them below
  // components.schemas.
  void describe(const ObjectType& type, nlohmann::json& schemas) const;

 private:
  [[nodiscard]] const ObjectType* find(std::string_view name) const;
  void add(std::string_view paragraph);
  void prune_object(nlohmann::json& object, const ObjectType& type, const std::string& path,
                    std::vector<std::string>& removed) const;
  void prune_field(nlohmann::json& value, const FieldType& field, const std::string& path,
                   std::vector<std::string>& removed) const;

  std::map<std::string, ObjectType, std::less<>> types_;
};

const ObjectTypes& builtin_types();

}  // namespace cdom::sandbox::schema
