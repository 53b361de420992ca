#include "sandbox/apiserver/serving/protobuf_body.h"

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "sandbox/apiserver/serving/status.h"

namespace cdom::sandbox::server {

namespace {

// The fields of a message that kubectl sets, by number (k8s.io/api generated.proto).
struct WireMessage;
struct Field {
  enum class Type { Text, Number, Texts, TextMap, WireMessage };
  const char* name;
  Type type;
  const WireMessage* message = nullptr;
};
struct WireMessage {
  std::map<std::uint64_t, Field> fields;
};
using Type = Field::Type;

const WireMessage kMetadata{{{1, {"name", Type::Text}},
                             {2, {"generateName", Type::Text}},
                             {3, {"namespace", Type::Text}},
                             {5, {"uid", Type::Text}},
                             {6, {"resourceVersion", Type::Text}},
                             {11, {"labels", Type::TextMap}},
                             {12, {"annotations", Type::TextMap}},
                             {14, {"finalizers", Type::Texts}}}};
const WireMessage kMetadataOnly{{{1, {"metadata", Type::WireMessage, &kMetadata}}}};
const WireMessage kConfigMap{
    {{1, {"metadata", Type::WireMessage, &kMetadata}}, {2, {"data", Type::TextMap}}}};
const WireMessage kBoundObject{{{1, {"kind", Type::Text}},
                                {2, {"apiVersion", Type::Text}},
                                {3, {"name", Type::Text}},
                                {4, {"uid", Type::Text}}}};
const WireMessage kTokenSpec{{{1, {"audiences", Type::Texts}},
                              {3, {"boundObjectRef", Type::WireMessage, &kBoundObject}},
                              {4, {"expirationSeconds", Type::Number}}}};
const WireMessage kTokenRequest{{{1, {"metadata", Type::WireMessage, &kMetadata}},
                                 {2, {"spec", Type::WireMessage, &kTokenSpec}}}};
const WireMessage kResourceAttributes{{{1, {"namespace", Type::Text}},
                                       {2, {"verb", Type::Text}},
                                       {3, {"group", Type::Text}},
                                       {4, {"version", Type::Text}},
                                       {5, {"resource", Type::Text}},
                                       {6, {"subresource", Type::Text}},
                                       {7, {"name", Type::Text}}}};
const WireMessage kPathAttributes{{{1, {"path", Type::Text}}, {2, {"verb", Type::Text}}}};
const WireMessage kAccessSpec{
    {{1, {"resourceAttributes", Type::WireMessage, &kResourceAttributes}},
     {2, {"nonResourceAttributes", Type::WireMessage, &kPathAttributes}}}};
const WireMessage kAccessReview{{{1, {"metadata", Type::WireMessage, &kMetadata}},
                                 {2, {"spec", Type::WireMessage, &kAccessSpec}}}};

const std::map<std::string, const WireMessage*>& known_kinds() {
  static const std::map<std::string, const WireMessage*> kKinds = {
      {"Namespace", &kMetadataOnly},         {"ServiceAccount", &kMetadataOnly},
      {"SelfSubjectReview", &kMetadataOnly}, {"ConfigMap", &kConfigMap},
      {"TokenRequest", &kTokenRequest},      {"SelfSubjectAccessReview", &kAccessReview},
  };
  return kKinds;
}

[[noreturn]] void refuse() {
  throw StatusError(bad_request("the body of the request is not the protobuf of its kind"));
}

// Reads the wire format: a sequence of fields, each a number and a varint or a run of bytes.
class Wire {
 public:
  explicit Wire(std::string_view bytes) : bytes_(bytes) {}

  [[nodiscard]] bool at_end() const { return bytes_.empty(); }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (bytes_.empty()) refuse();
      const auto byte = static_cast<unsigned char>(bytes_.front());
      bytes_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    refuse();
  }

  std::string_view bytes(std::uint64_t length) {
    if (length > bytes_.size()) refuse();
    const std::string_view out = bytes_.substr(0, length);
    bytes_.remove_prefix(length);
    return out;
  }

 private:
  std::string_view bytes_;
};

struct WireField {
  std::uint64_t number = 0;
  std::uint64_t value = 0;  // of a varint
  std::string_view bytes;   // of a run of bytes
};

WireField next_field(Wire& wire) {
  const std::uint64_t tag = wire.varint();
  WireField field{.number = tag >> 3};
  switch (tag & 7) {
    case 0:
      field.value = wire.varint();
      break;
    case 1:
      field.bytes = wire.bytes(8);
      break;
    case 2:
      field.bytes = wire.bytes(wire.varint());
      break;
    case 5:
      field.bytes = wire.bytes(4);
      break;
    default:
      refuse();
  }
  return field;
}

json read_message(std::string_view bytes, const WireMessage& message);

void read_map_entry(std::string_view bytes, json& map) {
  std::string key, value;
  for (Wire wire(bytes); !wire.at_end();) {
    const WireField field = next_field(wire);
    (field.number == 1 ? key : value) = std::string(field.bytes);
  }
  map[key] = value;
}

void read_field(const WireField& wire, const Field& field, json& out) {
  switch (field.type) {
    case Type::Text:
      // Go writes empty texts too; in JSON they are absent.
      if (!wire.bytes.empty()) out[field.name] = std::string(wire.bytes);
      break;
    case Type::Number:
      out[field.name] = static_cast<std::int64_t>(wire.value);
      break;
    case Type::Texts:
      out[field.name].push_back(std::string(wire.bytes));
      break;
    case Type::TextMap:
      read_map_entry(wire.bytes, out[field.name]);
      break;
    case Type::WireMessage:
      out[field.name] = read_message(wire.bytes, *field.message);
      break;
  }
}

json read_message(std::string_view bytes, const WireMessage& message) {
  json out = json::object();
  for (Wire wire(bytes); !wire.at_end();) {
    const WireField field = next_field(wire);
    const auto known = message.fields.find(field.number);
    if (known != message.fields.end()) read_field(field, known->second, out);
  }
  return out;
}

}  // namespace

json read_protobuf_body(std::string_view body) {
  static const WireMessage kTypeMeta{{{1, {"apiVersion", Type::Text}}, {2, {"kind", Type::Text}}}};
  constexpr std::string_view kMagic{"k8s\0", 4};
  if (!body.starts_with(kMagic)) refuse();

  json type;
  std::string_view raw;
  for (Wire wire(body.substr(kMagic.size())); !wire.at_end();) {
    const WireField field = next_field(wire);
    if (field.number == 1) type = read_message(field.bytes, kTypeMeta);
    if (field.number == 2) raw = field.bytes;
  }
  const auto known = known_kinds().find(type.value("kind", ""));
  if (known == known_kinds().end()) {
    throw StatusError(unsupported_media_type({"application/json", "application/yaml"}));
  }
  json object = read_message(raw, *known->second);
  object.update(type);
  // Whatever the text held, only UTF-8 may be stored.
  return json::parse(object.dump(-1, ' ', false, json::error_handler_t::replace));
}

}  // namespace cdom::sandbox::server
