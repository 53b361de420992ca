#include "sandbox/apiserver/discovery/openapi_v2.h"

#include <nlohmann/json.hpp>

namespace cdom::sandbox::server {

namespace {

// A protobuf message while it is being written. The numbers of fields are those of gnostic's
// openapi.v2.Document.
class Message {
 public:
  Message& add(int field, std::string_view bytes) {
    add_number(static_cast<std::uint64_t>(field) << 3 | 2);
    add_number(bytes.size());
    text_ += bytes;
    return *this;
  }
  Message& add(int field, const Message& message) { return add(field, message.text_); }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void add_number(std::uint64_t number) {
    for (; number >= 0x80; number >>= 7) text_ += static_cast<char>(number | 0x80);
    text_ += static_cast<char>(number);
  }
  std::string text_;
};

Message named(const std::string& name, const Message& value) {
  return Message().add(1, name).add(2, value);
}

// JSON is YAML.
Message any_of(const json& value) { return Message().add(2, value.dump()); }

Message schema_message(const json& schema) {
  Message out;
  const auto text = [&](const char* name, int field) {
    const auto found = schema.find(name);
    if (found != schema.end() && found->is_string()) out.add(field, found->get<std::string>());
  };
  text("format", 2);
  text("description", 4);
  for (const json& name : schema.value("required", json::array())) {
    out.add(19, name.get<std::string>());
  }
  for (const json& value : schema.value("enum", json::array())) out.add(20, any_of(value));
  if (const auto type = schema.find("type"); type != schema.end()) {
    out.add(22, Message().add(1, type->get<std::string>()));
  }
  if (const auto more = schema.find("additionalProperties");
      more != schema.end() && more->is_object()) {
    out.add(21, Message().add(1, schema_message(*more)));
  }
  if (const auto items = schema.find("items"); items != schema.end()) {
    out.add(23, Message().add(1, schema_message(*items)));
  }
  if (const auto properties = schema.find("properties"); properties != schema.end()) {
    Message all;
    for (const auto& [name, property] : properties->items()) {
      all.add(1, named(name, schema_message(property)));
    }
    out.add(25, all);
  }
  constexpr const char* kTypes = "x-kubernetes-group-version-kind";
  if (schema.contains(kTypes)) out.add(31, named(kTypes, any_of(schema.at(kTypes))));
  return out;
}

}  // namespace

std::string openapi_v2_document(const json& schemas) {
  Message definitions;
  for (const auto& [name, schema] : schemas.items()) {
    definitions.add(1, named(name, schema_message(schema)));
  }
  return Message()
      .add(1, "2.0")
      .add(2, Message().add(1, "Kubernetes").add(2, "sandbox"))
      .add(9, definitions)
      .text();
}

}  // namespace cdom::sandbox::server
