// JsonView: a value of a document that has been read, by the library that also writes JSON
// (json_text.h) or by the quick reader. The field tables read through it, so that both readers give
// the same objects.
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
  // The content of a string, or the digits of a number as the document has them. A value that is
  // wanted as text has the type String: the whole value as the document has it.
  std::string_view text;
  std::uint64_t integer = 0;  // of an object: the bits of all names

  [[nodiscard]] const QuickValue* inside() const { return this + 1; }
  [[nodiscard]] const QuickValue* behind() const { return this + size; }
};

class JsonView {
 public:
  using Type = JsonType;

  JsonView(const Json& json)  // NOLINT(google-explicit-constructor)
      : at_(reinterpret_cast<const char*>(&json)) {}
  JsonView(const QuickValue& value)  // NOLINT(google-explicit-constructor)
      : at_(reinterpret_cast<const char*>(&value) + kQuick) {}

  [[nodiscard]] Type type() const { return is_quick() ? quick().type : type_of(json()); }
  // "string", "number", "list", …: as messages call it.
  [[nodiscard]] std::string_view type_name() const;
  [[nodiscard]] bool is_object() const { return type() == Type::Object; }

  // Each of the type that its name says, and of no other.
  [[nodiscard]] std::string_view string() const {
    return is_quick() ? quick().text : string_of(json());
  }
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] std::int64_t integer() const;
  [[nodiscard]] std::uint64_t large_integer() const;
  // A value that is wanted as text (Wanted::as_text) and is not null, as the document has it.
  [[nodiscard]] std::string_view raw_text() const { return string(); }
  // The value as JSON, for messages.
  [[nodiscard]] std::string written() const;

  // Finds a member of an object; when members share the name, the last one. False: there is none,
  // and `found` stays.
  [[nodiscard]] bool find(const JsonName& name, JsonView& found) const {
    if (!is_quick()) return find_in(json(), name.text, found);
    const QuickValue& object = quick();
    if ((object.integer & name.bit()) == 0) return false;
    const QuickValue* last = nullptr;
    for (const QuickValue* it = object.inside(); it != object.behind(); it = it->behind()) {
      if (it->name == name) last = it;
      if (last != nullptr && !object.boolean) break;
    }
    if (last != nullptr) found = *last;
    return last != nullptr;
  }
  // The same; nullopt where there is none.
  [[nodiscard]] std::optional<JsonView> member(std::string_view name) const {
    JsonView found = *this;
    return find(JsonName(name), found) ? std::optional(found) : std::nullopt;
  }
  // Visits the members of an object in the order of their names, each once.
  void each_member(FunctionRef<void(std::string_view name, JsonView value)> visit) const;
  // Visits the items of a list until `visit` gives false.
  void each_item(FunctionRef<bool(JsonView item)> visit) const;

 private:
  static Type type_of(const Json& json);
  static std::string_view string_of(const Json& json);
  static bool find_in(const Json& json, std::string_view name, JsonView& found);

  // At a value of the other library, or one byte into one of the quick reader: a view is one word,
  // which goes through registers.
  static constexpr std::uintptr_t kQuick = 1;
  [[nodiscard]] bool is_quick() const {
    return (reinterpret_cast<std::uintptr_t>(at_) & kQuick) != 0;
  }
  [[nodiscard]] const QuickValue& quick() const {
    return *reinterpret_cast<const QuickValue*>(at_ - kQuick);
  }
  [[nodiscard]] const Json& json() const { return *reinterpret_cast<const Json*>(at_); }

  const char* at_;
};

}  // namespace cdom::api
