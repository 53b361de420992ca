// JsonView: a value of a document that has been read, wherever the document is kept: in the library
// that is written with (json_text.h), or in the one that reads several times as fast
// (quick_reader.h). The tables read through it, so that both readers give the same objects.
//
// A value; the document has to outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/function_ref.h"
#include "api/json/json_text.h"

namespace cdom::api {

class JsonView {
 public:
  enum class Type { Null, Boolean, Integer, LargeInteger, Float, String, List, Object };

  // Where it stands, as the quick reader's library has it.
  struct Place {
    const void* document;
    std::size_t index;
  };

  JsonView(const Json& json) : json_(&json) {}  // NOLINT(google-explicit-constructor)

  // LargeInteger: one that only an unsigned number of 64 bits holds.
  [[nodiscard]] Type type() const;
  // "string", "number", "list", …: as messages call it.
  [[nodiscard]] std::string_view type_name() const;
  [[nodiscard]] bool is_object() const { return type() == Type::Object; }

  // Each of the type that its name says, and of no other.
  [[nodiscard]] std::string_view string() const;
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] std::int64_t integer() const;
  [[nodiscard]] std::uint64_t large_integer() const;
  // Of what is wanted as text (Wanted::as_text) and is not null: as it stands in the document.
  [[nodiscard]] std::string_view raw_text() const;
  // As JSON, for messages.
  [[nodiscard]] std::string written() const;

  // Of an object, of members with one name the last; nullopt where there is none.
  [[nodiscard]] std::optional<JsonView> member(std::string_view name) const;
  // Of an object: in the order of their names, each once.
  void each_member(FunctionRef<void(std::string_view name, JsonView value)> visit) const;
  // Of a list, until `visit` gives false.
  void each_item(FunctionRef<bool(JsonView item)> visit) const;

 private:
  friend class QuickReader;

  // The places of what is wanted as text, in rising order, and the texts.
  using RawTexts = std::vector<std::pair<std::size_t, std::string_view>>;
  JsonView(Place place, const RawTexts& raw_texts) : place_(place), raw_texts_(&raw_texts) {}

  const Json* json_ = nullptr;  // nullptr: it is of the quick reader, at place_
  Place place_{};
  const RawTexts* raw_texts_ = nullptr;
};

}  // namespace cdom::api
