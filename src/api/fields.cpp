#include "fields.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"

namespace cdom::api {

namespace {

using base::cat;

bool expect(Decoding& decoding, const Json& json, Json::value_t type, std::string_view wanted) {
  if (json.type() == type) return true;
  decoding.fail(cat("must be ", wanted, ", is ", type_name_of(json)));
  return false;
}

// The index of the selected element, or the size of the list.
std::size_t index_of(const Json& list, const JsonStep& step) {
  std::size_t index = 0;
  for (const Json& item : list) {
    const auto key = item.is_object() ? item.find(step.key) : item.end();
    if (item.is_object() && key != item.end() && *key == step.value) break;
    ++index;
  }
  return index;
}

// The value of one step down, entered; nullptr when it is absent. Adds to `entered`.
const Json* step_into(Decoding& decoding, const Json& object, const JsonStep& step,
                      std::size_t& entered) {
  if (!expect_object(decoding, object)) return nullptr;
  const auto found = object.find(step.name);
  if (found == object.end() || found->is_null()) return nullptr;
  decoding.enter(step.name);
  ++entered;
  if (!step.is_selection()) return &*found;

  if (!expect(decoding, *found, Json::value_t::array, "a list")) return nullptr;
  const std::size_t index = index_of(*found, step);
  if (index == found->size()) return nullptr;
  decoding.enter(index);
  ++entered;
  return &(*found)[index];
}

}  // namespace

bool expect_object(Decoding& decoding, const Json& json) {
  return expect(decoding, json, Json::value_t::object, "an object");
}

bool visit_field(Decoding& decoding, const Json& object, const JsonPath& path, const Visit& visit) {
  std::size_t entered = 0;
  const Json* at = &object;
  for (const JsonStep& step : path) {
    at = step_into(decoding, *at, step, entered);
    if (at == nullptr) break;
  }
  if (at != nullptr) visit(*at);
  decoding.leave(entered);
  return at != nullptr;
}

void visit_items(Decoding& decoding, const Json& list, const Visit& visit) {
  if (!expect(decoding, list, Json::value_t::array, "a list")) return;
  std::size_t index = 0;
  for (const Json& item : list) {
    decoding.enter(index++);
    visit(item);
    decoding.leave();
  }
}

void visit_members(Decoding& decoding, const Json& object,
                   const std::function<void(const std::string&, const Json&)>& visit) {
  if (!expect_object(decoding, object)) return;
  for (const auto& [name, value] : object.items()) {
    decoding.enter(name);
    visit(name, value);
    decoding.leave();
  }
}

Json& place_at(Json& object, const JsonPath& path) {
  Json* at = &object;
  for (const JsonStep& step : path) {
    at = &(*at)[std::string(step.name)];
    if (!step.is_selection()) continue;
    const std::size_t index = index_of(*at, step);
    if (index == at->size()) at->push_back({{std::string(step.key), std::string(step.value)}});
    at = &(*at)[index];
  }
  return *at;
}

Json& append_to(Json& list) { return list.emplace_back(); }
Json& member_of(Json& object, const std::string& name) { return object[name]; }
void make_empty_object(Json& json) { json = Json::object(); }
void make_empty_list(Json& json) { json = Json::array(); }

void read(Decoding& decoding, const Json& json, std::string& out) {
  if (expect(decoding, json, Json::value_t::string, "a string")) {
    out = json.get_ref<const std::string&>();
  }
}

void read(Decoding& decoding, const Json& json, bool& out) {
  if (expect(decoding, json, Json::value_t::boolean, "a boolean")) out = json.get<bool>();
}

void read(Decoding& decoding, const Json& json, std::int64_t& out) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (json.is_number_unsigned() && json.get<std::uint64_t>() > kMost) {
    decoding.fail(cat("must fit into 64 bits, is ", json.get<std::uint64_t>()));
  } else if (json.is_number_float()) {
    decoding.fail(cat("must be an integer, is ", text_of(json)));
  } else if (!json.is_number_integer()) {
    decoding.fail(cat("must be an integer, is ", type_name_of(json)));
  } else {
    out = json.get<std::int64_t>();
  }
}

void read(Decoding& decoding, const Json& json, base::Time& out) {
  std::string text;
  read(decoding, json, text);
  if (const auto time = base::parse_rfc3339(text)) {
    out = *time;
  } else {
    decoding.fail(cat("must be a time as \"2026-01-02T03:04:05Z\", is \"", text, "\""));
  }
}

void write(Json& json, const std::string& value) { json = value; }
void write(Json& json, std::string_view value) { json = value; }
void write(Json& json, std::int64_t value) { json = value; }
void write(Json& json, bool value) { json = value; }
void write(Json& json, base::Time value) { json = base::to_rfc3339(value); }

void AsMicroTime::read(Decoding& decoding, const Json& json, std::optional<base::Time>& out) {
  api::read(decoding, json, out.emplace());
}
void AsMicroTime::write(Json& json, const std::optional<base::Time>& value) {
  json = base::to_rfc3339_micro(*value);
}

void want_at(Wanted& wanted, const JsonPath& path, const Wanted& there) {
  static const Wanted everything{.everything = true};
  Wanted* at = &wanted;
  for (const JsonStep& step : path) {
    at = &at->members[std::string(step.name)];
    if (step.is_selection()) at->members[std::string(step.key)].add(everything);
  }
  at->add(there);
}

base::Result<void> read_document(std::string_view text, const Wanted& wanted,
                                 const std::function<void(Decoding&, const Json&)>& read) {
  const auto json = parse_json(text, wanted);
  if (!json) return json.error();
  Decoding decoding;
  read(decoding, *json);
  if (decoding.has_failed()) return decoding.error();
  return {};
}

std::string write_document(const std::function<void(Json&)>& write) {
  Json json;
  write(json);
  return text_of(json);
}

void Decoding::fail(std::string_view problem) {
  // It may quote what somebody has written, which may be long.
  constexpr std::size_t kMost = 300;
  if (problem_) return;
  std::string what = base::shortened(std::string(problem), kMost);
  std::string path;
  for (const Part& part : parts_) {
    if (part.name.empty()) {
      path += cat('[', part.index, ']');
    } else {
      path += cat(path.empty() ? "" : ".", part.name);
    }
  }
  path = base::shortened(std::move(path), kMost);
  problem_ = path.empty() ? std::move(what) : cat(path, ": ", what);
}

}  // namespace cdom::api
