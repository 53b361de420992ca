// JsonView: a value of a document that has been read, wherever the document is kept: in the library
// that is written with (json_text.h), or as the quick reader has kept it. The tables read through
// it, so that both readers give the same objects.
//
// A value; the document has to outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/function_ref.h"
#include "api/json/json_name.h"
#include "api/json/json_text.h"

namespace cdom::api {

// LargeInteger: one that only an unsigned number of 64 bits holds.
enum class JsonType : std::uint8_t {
  Null,
  Boolean,
  Integer,
  LargeInteger,
  Float,
  String,
  List,
  Object
};

// A value of a document of the quick reader, which holds what is wanted and nothing else. A
// document is a row of them: behind a list or an object come its items or members, each with all
// that is inside it. Texts belong to the reader.
struct QuickValue {
  JsonType type = JsonType::Null;
  bool boolean = false;    // of an object: whether a name may have come twice
  std::uint32_t size = 1;  // how many of the row it is, with what is inside it
  JsonName name;           // of a member of an object
  // Of a string what it means, of a number how it stands there; of what is wanted as text, which is
  // of the type String, all of it as it stands there.
  std::string_view text;
  std::uint64_t integer = 0;  // of an object: the bits of all names

  [[nodiscard]] const QuickValue* inside() const { return this + 1; }
  [[nodiscard]] const QuickValue* behind() const { return this + size; }
};

class JsonView {
 public:
  using Type = JsonType;

  JsonView(const Json& json) : json_(&json) {}           // NOLINT(google-explicit-constructor)
  JsonView(const QuickValue& value) : value_(&value) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] Type type() const { return value_ != nullptr ? value_->type : type_of(*json_); }
  // "string", "number", "list", …: as messages call it.
  [[nodiscard]] std::string_view type_name() const;
  [[nodiscard]] bool is_object() const { return type() == Type::Object; }

  // Each of the type that its name says, and of no other.
  [[nodiscard]] std::string_view string() const {
    return value_ != nullptr ? value_->text : string_of(*json_);
  }
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] std::int64_t integer() const;
  [[nodiscard]] std::uint64_t large_integer() const;
  // Of what is wanted as text (Wanted::as_text) and is not null: as it stands in the document.
  [[nodiscard]] std::string_view raw_text() const { return string(); }
  // As JSON, for messages.
  [[nodiscard]] std::string written() const;

  // Of an object, of members with one name the last; nullopt where there is none.
  [[nodiscard]] std::optional<JsonView> member(const JsonName& name) const {
    if (value_ == nullptr) return member_of(*json_, name.text);
    if ((value_->integer & name.bit()) == 0) return std::nullopt;
    const QuickValue* last = nullptr;
    for (const QuickValue* it = value_->inside(); it != value_->behind(); it = it->behind()) {
      if (it->name == name) last = it;
      if (last != nullptr && !value_->boolean) break;
    }
    return last == nullptr ? std::nullopt : std::optional<JsonView>(*last);
  }
  [[nodiscard]] std::optional<JsonView> member(std::string_view name) const {
    return member(JsonName(name));
  }
  // Of an object: in the order of their names, each once.
  void each_member(FunctionRef<void(std::string_view name, JsonView value)> visit) const;
  // Of a list, until `visit` gives false.
  void each_item(FunctionRef<bool(JsonView item)> visit) const;

 private:
  static Type type_of(const Json& json);
  static std::string_view string_of(const Json& json);
  static std::optional<JsonView> member_of(const Json& json, std::string_view name);

  // One of them is there.
  const Json* json_ = nullptr;
  const QuickValue* value_ = nullptr;
};

}  // namespace cdom::api
