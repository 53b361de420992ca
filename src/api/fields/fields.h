// The field tables: how the members of a type are called in JSON, said once per type.
//
// kFields<T> lists the fields of T; read() and write() walk it, so that a field is added by adding
// its line. A field reads and writes as its type does, or as a Shape says: a struct with
//   static void read(Decoding&, const JsonView&, Member&);
//   static void write(Json&, const Member&);
// They read from a JsonView, and so from any document; only fields.cpp uses the library that writes
// JSON.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "api/decoding.h"
#include "api/function_ref.h"
#include "api/json/json_path.h"
#include "api/json/json_text.h"
#include "api/json/json_view.h"
#include "api/json/wanted_index.h"
#include "compute_domain/base/clock.h"

namespace cdom::api {

enum class Presence {
  Optional,  // left out when it has its default
  Always,    // written in any case
  Required,  // written in any case, and an error where it is missing
};

struct AsIs;

template <class Shape, class Owner, class Member>
struct Field {
  JsonPath path;
  Member Owner::*member;
  Presence presence;
};

// One line of a table: field("numNodes", &ComputeDomainSpec::num_nodes).
template <class Shape = AsIs, class Owner, class Member>
constexpr Field<Shape, Owner, Member> field(JsonPath path, Member Owner::*member,
                                            Presence presence = Presence::Optional) {
  return {path, member, presence};
}

// The fields of T: a std::tuple of Field.
template <class T>
inline constexpr std::nullptr_t kFields = nullptr;
// The words of the enumeration T: a std::array of Word<T>.
template <class T>
inline constexpr std::nullptr_t kWords = nullptr;
// What a word is read as that a later release has added; none: such a word is a mistake.
template <class T>
inline constexpr std::optional<T> kOtherwise = std::nullopt;

template <class T>
concept HasFields = !std::is_null_pointer_v<std::remove_const_t<decltype(kFields<T>)>>;
template <class T>
concept HasWords = !std::is_null_pointer_v<std::remove_const_t<decltype(kWords<T>)>>;

template <class T>
using Word = std::pair<T, std::string_view>;

template <HasWords T>
constexpr std::string_view word_of(T value) {
  for (const auto& [candidate, word] : kWords<T>) {
    if (candidate == value) return word;
  }
  return {};
}

// --- What a document can be asked. All of them fail through Decoding.

using Visit = FunctionRef<void(const JsonView&)>;

// Calls `visit` with the value at `path`, standing there; not when it is absent or null.
bool visit_field(Decoding& decoding, const JsonView& object, const JsonPath& path, Visit visit);
void visit_items(Decoding& decoding, const JsonView& list, Visit visit);
void visit_members(Decoding& decoding, const JsonView& object,
                   FunctionRef<void(std::string_view, const JsonView&)> visit);
bool expect_object(Decoding& decoding, const JsonView& json);

// The place at `path`, made when it is not there.
Json& place_at(Json& object, const JsonPath& path);
Json& append_to(Json& list);
Json& member_of(Json& object, const std::string& name);
void make_empty_object(Json& json);
void make_empty_list(Json& json);

// --- Plain values.

void read(Decoding& decoding, const JsonView& json, std::string& out);
void read(Decoding& decoding, const JsonView& json, std::int64_t& out);
void read(Decoding& decoding, const JsonView& json, bool& out);
void read(Decoding& decoding, const JsonView& json, base::Time& out);  // RFC 3339
void write(Json& json, const std::string& value);
void write(Json& json, std::string_view value);
void write(Json& json, std::int64_t value);
void write(Json& json, bool value);
void write(Json& json, base::Time value);  // in whole seconds, as metav1.Time

// A time with microseconds, as metav1.MicroTime.
struct AsMicroTime {
  static void read(Decoding& decoding, const JsonView& json, std::optional<base::Time>& out);
  static void write(Json& json, const std::optional<base::Time>& value);
};

// --- Composed values: enumerations, types with a table, and containers of any of these.

template <HasWords T>
void read(Decoding& decoding, const JsonView& json, T& out);
template <HasWords T>
void write(Json& json, T value);
template <HasFields T>
void read(Decoding& decoding, const JsonView& json, T& out);
template <HasFields T>
void write(Json& json, const T& value);
template <class T>
void read(Decoding& decoding, const JsonView& json, std::optional<T>& out);
template <class T>
void write(Json& json, const std::optional<T>& value);
template <class T>
void read(Decoding& decoding, const JsonView& json, std::vector<T>& out);
template <class T>
void write(Json& json, const std::vector<T>& list);
template <class T>
void read(Decoding& decoding, const JsonView& json, std::map<std::string, T>& out);
template <class T>
void write(Json& json, const std::map<std::string, T>& map);

struct AsIs {
  template <class T>
  static void read(Decoding& decoding, const JsonView& json, T& out) {
    api::read(decoding, json, out);
  }
  template <class T>
  static void write(Json& json, const T& value) {
    api::write(json, value);
  }
};

// A list whose elements have a Shape.
template <class Shape>
struct ListOf {
  static Wanted wanted() requires requires { Shape::wanted(); }
  { return Shape::wanted(); }
  template <class T>
  static void read(Decoding& decoding, const JsonView& json, std::vector<T>& out) {
    out.clear();
    visit_items(decoding, json,
                [&](const JsonView& item) { Shape::read(decoding, item, out.emplace_back()); });
  }
  template <class T>
  static void write(Json& json, const std::vector<T>& list) {
    make_empty_list(json);
    for (const T& item : list) Shape::write(append_to(json), item);
  }
};

// A map whose values have a Shape.
template <class Shape>
struct MapOf {
  template <class T>
  static void read(Decoding& decoding, const JsonView& json, std::map<std::string, T>& out) {
    out.clear();
    visit_members(decoding, json, [&](std::string_view name, const JsonView& value) {
      Shape::read(decoding, value, out.try_emplace(out.end(), std::string(name))->second);
    });
  }
  template <class T>
  static void write(Json& json, const std::map<std::string, T>& map) {
    make_empty_object(json);
    for (const auto& [name, value] : map) Shape::write(member_of(json, name), value);
  }
};

template <HasWords T>
void read(Decoding& decoding, const JsonView& json, T& out) {
  std::string text;
  read(decoding, json, text);
  for (const auto& [value, word] : kWords<T>) {
    if (word == text) {
      out = value;
      return;
    }
  }
  if constexpr (kOtherwise<T>.has_value()) {
    out = *kOtherwise<T>;
    if (!decoding.is_strict()) return;
  }
  std::string choices;
  for (const auto& [value, word] : kWords<T>) {
    choices += choices.empty() ? "" : ", ";
    choices += word;
  }
  decoding.fail("must be one of " + choices + ", is \"" + text + "\"");
}

template <HasWords T>
void write(Json& json, T value) {
  write(json, word_of(value));
}

template <class Shape, class Owner, class Member>
void read_field(Decoding& decoding, const JsonView& json, const Field<Shape, Owner, Member>& field,
                Owner& out) {
  const bool found = visit_field(decoding, json, field.path, [&](const JsonView& value) {
    Shape::read(decoding, value, out.*field.member);
  });
  if (!found && field.presence == Presence::Required) {
    for (const JsonStep& step : field.path) decoding.enter(step.name.text);
    decoding.fail("is required");
  }
}

template <HasFields T>
void read(Decoding& decoding, const JsonView& json, T& out) {
  if (!expect_object(decoding, json)) return;
  std::apply([&](const auto&... field) { (read_field(decoding, json, field, out), ...); },
             kFields<T>);
}

// Adds the fields of `value` to the object `json`.
template <HasFields T>
void write_fields(Json& json, const T& value) {
  static const T defaults{};
  const auto write_one = [&]<class Shape, class Member>(const Field<Shape, T, Member>& field) {
    const Member& member = value.*field.member;
    if (field.presence == Presence::Optional && member == defaults.*field.member) return;
    Shape::write(place_at(json, field.path), member);
  };
  std::apply([&](const auto&... field) { (write_one(field), ...); }, kFields<T>);
}

template <HasFields T>
void write(Json& json, const T& value) {
  make_empty_object(json);
  write_fields(json, value);
}

template <class T>
void read(Decoding& decoding, const JsonView& json, std::optional<T>& out) {
  read(decoding, json, out.emplace());
}
template <class T>
void write(Json& json, const std::optional<T>& value) {
  write(json, *value);
}

template <class T>
void read(Decoding& decoding, const JsonView& json, std::vector<T>& out) {
  ListOf<AsIs>::read(decoding, json, out);
}
template <class T>
void write(Json& json, const std::vector<T>& list) {
  ListOf<AsIs>::write(json, list);
}

template <class T>
void read(Decoding& decoding, const JsonView& json, std::map<std::string, T>& out) {
  MapOf<AsIs>::read(decoding, json, out);
}
template <class T>
void write(Json& json, const std::map<std::string, T>& map) {
  MapOf<AsIs>::write(json, map);
}

// What the members of an object with the table of T are called.
template <HasFields T>
const std::set<std::string_view>& field_names() {
  static const std::set<std::string_view> names = std::apply(
      [](const auto&... field) { return std::set{field.path.begin()->name.text...}; }, kFields<T>);
  return names;
}

// --- What of a document is read at all.

// Adds to `wanted` what is read at `path`.
void want_at(Wanted& wanted, const JsonPath& path, const Wanted& there);

template <HasFields T>
Wanted wanted_fields();

// What is read of a T by a Shape: what the Shape says; else what the table of T says; else
// everything.
template <class Shape, class T>
Wanted wanted_by() {
  if constexpr (requires { Shape::wanted(); }) {
    return Shape::wanted();
  } else if constexpr (std::is_same_v<Shape, AsIs> && HasFields<T>) {
    return wanted_fields<T>();
  } else if constexpr (std::is_same_v<Shape, AsIs> &&
                       (
                           requires(T t) { t.emplace_back(); } || requires(T t) { t.emplace(); })) {
    return wanted_by<AsIs, typename T::value_type>();  // a list stands for its elements
  } else {
    return {.everything = true};
  }
}

template <HasFields T>
Wanted wanted_fields() {
  Wanted wanted;
  const auto want = [&]<class Shape, class Member>(const Field<Shape, T, Member>& field) {
    want_at(wanted, field.path, wanted_by<Shape, Member>());
  };
  std::apply([&](const auto&... field) { (want(field), ...); }, kFields<T>);
  return wanted;
}

// --- A document that is not a Kubernetes object.
// `read` starts again from the beginning when it is called a second time.

base::Result<void> read_document(std::string_view text, const WantedDocument& wanted,
                                 const Decoding& start,
                                 FunctionRef<void(Decoding&, const JsonView&)> read);
std::string write_document(FunctionRef<void(Json&)> write);

// `start`: how strictly it is read.
template <HasFields T>
base::Result<T> decode_fields(std::string_view text, const Decoding& start = Decoding()) {
  static const WantedDocument wanted(wanted_fields<T>());
  T value;
  const auto read_it = [&](Decoding& d, const JsonView& json) {
    value = {};
    read(d, json, value);
  };
  if (const auto done = read_document(text, wanted, start, read_it); !done) return done.error();
  return value;
}

template <HasFields T>
std::string encode_fields(const T& value) {
  return write_document([&](Json& json) { write(json, value); });
}

}  // namespace cdom::api
