#include "fields.h"

#include <nlohmann/json.hpp>

#include "api/json/quick_reader.h"
#include "compute_domain/base/text.h"

namespace cdom::api {

namespace {

using base::cat;

using Type = JsonView::Type;

void fail_type(Decoding& decoding, const JsonView& json, std::string_view wanted) {
  decoding.fail(cat("must be ", wanted, ", is ", json.type_name()));
}

inline bool expect(Decoding& decoding, const JsonView& json, JsonView::Type type,
                   std::string_view wanted) {
  const bool is_right = json.type() == type;
  if (!is_right) fail_type(decoding, json, wanted);
  return is_right;
}

bool is_selected(const JsonView& item, const JsonStep& step) {
  if (!item.is_object()) return false;
  JsonView key = item;
  return item.find(step.key, key) && key.type() == Type::String && key.string() == step.value;
}

// The index of the selected element, or the size of the list.
std::size_t index_of(const Json& list, const JsonStep& step) {
  std::size_t index = 0;
  for (const Json& item : list) {
    if (is_selected(item, step)) break;
    ++index;
  }
  return index;
}

// Goes one step down from `at` and enters the value; false when it is absent. Adds to `entered`.
bool step_into(Decoding& decoding, JsonView& at, const JsonStep& step, std::size_t& entered) {
  JsonView found = at;
  if (!expect_object(decoding, at) || !at.find(step.name, found) || found.type() == Type::Null) {
    return false;
  }
  decoding.enter(step.name.text);
  ++entered;
  if (!step.is_selection()) {
    at = found;
    return true;
  }
  if (!expect(decoding, found, Type::List, "a list")) return false;
  bool is_there = false;
  std::size_t index = 0;
  found.each_item([&](const JsonView& item) {
    is_there = is_selected(item, step);
    if (is_there) {
      at = item;
    } else {
      ++index;
    }
    return !is_there;
  });
  if (!is_there) return false;
  decoding.enter(index);
  ++entered;
  return true;
}

}  // namespace

bool expect_object(Decoding& decoding, const JsonView& json) {
  return expect(decoding, json, Type::Object, "an object");
}

bool visit_field(Decoding& decoding, const JsonView& object, const JsonPath& path, Visit visit) {
  std::size_t entered = 0;
  JsonView at = object;
  bool is_there = true;
  for (const JsonStep& step : path) {
    is_there = step_into(decoding, at, step, entered);
    if (!is_there) break;
  }
  if (is_there) visit(at);
  decoding.leave(entered);
  return is_there;
}

void visit_items(Decoding& decoding, const JsonView& list, Visit visit) {
  if (!expect(decoding, list, Type::List, "a list")) return;
  std::size_t index = 0;
  list.each_item([&](const JsonView& item) {
    decoding.enter(index++);
    visit(item);
    decoding.leave();
    return true;
  });
}

void visit_members(Decoding& decoding, const JsonView& object,
                   FunctionRef<void(std::string_view, const JsonView&)> visit) {
  if (!expect_object(decoding, object)) return;
  object.each_member([&](std::string_view name, const JsonView& value) {
    decoding.enter(name);
    visit(name, value);
    decoding.leave();
  });
}

Json& place_at(Json& object, const JsonPath& path) {
  Json* at = &object;
  for (const JsonStep& step : path) {
    at = &(*at)[std::string(step.name.text)];
    if (!step.is_selection()) continue;
    const std::size_t index = index_of(*at, step);
    if (index == at->size()) at->push_back({{std::string(step.key.text), std::string(step.value)}});
    at = &(*at)[index];
  }
  return *at;
}

Json& append_to(Json& list) { return list.emplace_back(); }
Json& member_of(Json& object, const std::string& name) { return object[name]; }
void make_empty_object(Json& json) { json = Json::object(); }
void make_empty_list(Json& json) { json = Json::array(); }

void read(Decoding& decoding, const JsonView& json, std::string& out) {
  if (expect(decoding, json, Type::String, "a string")) out = json.string();
}

void read(Decoding& decoding, const JsonView& json, bool& out) {
  if (expect(decoding, json, Type::Boolean, "a boolean")) out = json.boolean();
}

void read(Decoding& decoding, const JsonView& json, std::int64_t& out) {
  if (json.type() == Type::LargeInteger) {
    decoding.fail(cat("must fit into 64 bits, is ", json.large_integer()));
  } else if (json.type() == Type::Float) {
    decoding.fail(cat("must be an integer, is ", json.written()));
  } else if (expect(decoding, json, Type::Integer, "an integer")) {
    out = json.integer();
  }
}

void read(Decoding& decoding, const JsonView& json, base::Time& out) {
  if (!expect(decoding, json, Type::String, "a string")) return;
  const std::string_view text = json.string();
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

void AsMicroTime::read(Decoding& decoding, const JsonView& json, std::optional<base::Time>& out) {
  api::read(decoding, json, out.emplace());
}
void AsMicroTime::write(Json& json, const std::optional<base::Time>& value) {
  json = base::to_rfc3339_micro(*value);
}

void want_at(Wanted& wanted, const JsonPath& path, const Wanted& there) {
  static const Wanted everything{.everything = true};
  Wanted* at = &wanted;
  for (const JsonStep& step : path) {
    at = &at->members[std::string(step.name.text)];
    if (step.is_selection()) at->members[std::string(step.key.text)].add(everything);
  }
  at->add(there);
}

base::Result<void> read_document(std::string_view text, const WantedDocument& wanted,
                                 const Decoding& start,
                                 FunctionRef<void(Decoding&, const JsonView&)> read) {
  if (const QuickReader::Lease quick = QuickReader::of_thread()) {
    if (const auto document = quick->read(text, wanted.index)) {
      Decoding decoding = start;
      read(decoding, *document);
      if (!decoding.has_failed()) return {};
    }
  }
  const auto json = parse_json(text, wanted.all);
  if (!json) return json.error();
  Decoding decoding = start;
  read(decoding, *json);
  if (decoding.has_failed()) return decoding.error();
  return {};
}

std::string write_document(FunctionRef<void(Json&)> write) {
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
  for (std::size_t i = 0; i < std::min(depth_, parts_.size()); ++i) {
    const Part& part = parts_[i];
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
