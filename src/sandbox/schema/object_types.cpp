#include "sandbox/schema/object_types.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "compute_domain/base/text.h"

namespace cdom::sandbox::schema {

namespace {

using base::cat;
using nlohmann::json;

constexpr std::array<std::string_view, 6> kPlainTypes = {"string",   "int",           "bool",
                                                         "quantity", "int-or-string", "any"};

bool is_plain(std::string_view name) {
  return std::ranges::find(kPlainTypes, name) != kPlainTypes.end();
}

FieldType type_in(std::string word) {
  FieldType type;
  for (const auto& [suffix, shape] :
       {std::pair{"[]", FieldType::Shape::List}, std::pair{"{}", FieldType::Shape::Map}}) {
    if (!word.ends_with(suffix)) continue;
    word.resize(word.size() - 2);
    type.shape = shape;
  }
  type.name = std::move(word);
  return type;
}

void describe_field(ObjectType& type, const std::vector<std::string>& words) {
  const auto field = words.size() < 3 ? type.fields.end() : type.fields.find(words[1]);
  if (field == type.fields.end()) {
    throw std::logic_error(cat(type.name, ": what is described is not a field"));
  }
  std::string& text = field->second.description;
  for (std::size_t i = 2; i < words.size(); ++i) text += cat(text.empty() ? "" : " ", words[i]);
}

json value_schema(const FieldType& field) {
  if (field.name == "int") return {{"type", "integer"}};
  if (field.name == "bool") return {{"type", "boolean"}};
  if (field.name == "any") return {{"type", "object"}};
  if (field.name == "int-or-string") return {{"type", "string"}, {"format", "int-or-string"}};
  if (is_plain(field.name)) return {{"type", "string"}};
  return {{"allOf", json::array({{{"$ref", cat("#/components/schemas/", field.name)}}})}};
}

json field_schema(const FieldType& field) {
  json schema = value_schema(field);
  if (field.shape == FieldType::Shape::List) {
    schema = {{"type", "array"}, {"items", std::move(schema)}};
  } else if (field.shape == FieldType::Shape::Map) {
    schema = {{"type", "object"}, {"additionalProperties", std::move(schema)}};
  }
  if (!field.description.empty()) schema["description"] = field.description;
  return schema;
}

}  // namespace

ObjectTypes::ObjectTypes(const std::vector<std::string_view>& texts) {
  for (const std::string_view text : texts) {
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find("\n\n", begin), text.size());
      add(text.substr(begin, end - begin));
      begin = end + 2;
    }
  }
  for (const auto& [name, type] : types_) {
    for (const auto& [field, of] : type.fields) {
      if (is_plain(of.name) || find(of.name) != nullptr) continue;
      throw std::logic_error(cat(name, ".", field, ": there is no type ", of.name));
    }
  }
}

void ObjectTypes::add(std::string_view paragraph) {
  ObjectType type;
  for (const std::string& line : base::split(paragraph, '\n')) {
    if (line.empty()) continue;
    if (type.name.empty()) {
      const std::size_t colon = line.find(": ");
      if (colon == std::string::npos)
        throw std::logic_error(cat(line, ": is not the head of a type"));
      type.name = line.substr(0, colon);
      type.description = line.substr(colon + 2);
      continue;
    }
    const std::vector<std::string> words = base::split(line, ' ');
    if (words.front() == ".") {
      describe_field(type, words);
      continue;
    }
    for (std::size_t i = 1; i < words.size(); ++i) type.fields[words[i]] = type_in(words.front());
  }
  std::string name = type.name;
  types_.emplace(std::move(name), std::move(type));
}

const ObjectType* ObjectTypes::find(std::string_view name) const {
  const auto found = types_.find(name);
  return found == types_.end() ? nullptr : &found->second;
}

const ObjectType* ObjectTypes::of_kind(std::string_view version, std::string_view kind) const {
  const ObjectType* of_version = find(cat(version, ".", kind));
  return of_version != nullptr ? of_version : find(kind);
}

std::vector<std::string> ObjectTypes::prune(json& object, const ObjectType& type) const {
  std::vector<std::string> removed;
  json about = json::object();
  for (const char* name : {"apiVersion", "kind"}) {
    if (const auto found = object.find(name); found != object.end()) {
      about[name] = std::move(*found);
      object.erase(found);
    }
  }
  prune_object(object, type, "", removed);
  object.update(about);
  return removed;
}

void ObjectTypes::prune_object(json& object, const ObjectType& type, const std::string& path,
                               std::vector<std::string>& removed) const {
  if (!object.is_object()) return;
  for (auto member = object.begin(); member != object.end();) {
    const auto field = type.fields.find(member.key());
    const std::string member_path = path.empty() ? member.key() : cat(path, ".", member.key());
    if (field == type.fields.end()) {
      removed.push_back(member_path);
      member = object.erase(member);
      continue;
    }
    prune_field(*member, field->second, member_path, removed);
    ++member;
  }
}

void ObjectTypes::prune_field(json& value, const FieldType& field, const std::string& path,
                              std::vector<std::string>& removed) const {
  const ObjectType* type = find(field.name);
  if (type == nullptr) return;
  if (field.shape == FieldType::Shape::Single) return prune_object(value, *type, path, removed);
  if (!value.is_array()) return;
  for (std::size_t i = 0; i < value.size(); ++i) {
    prune_object(value[i], *type, cat(path, "[", i, "]"), removed);
  }
}

void ObjectTypes::describe(const ObjectType& type, json& schemas) const {
  if (schemas.contains(type.name)) return;
  json& schema = schemas[type.name];
  schema = {{"type", "object"}, {"description", type.description}};
  for (const auto& [name, field] : type.fields) {
    schema["properties"][name] = field_schema(field);
  }
  for (const auto& [name, field] : type.fields) {
    if (const ObjectType* of = find(field.name)) describe(*of, schemas);
  }
}

}  // namespace cdom::sandbox::schema
