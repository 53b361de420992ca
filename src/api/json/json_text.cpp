#include "json_text.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "compute_domain/base/text.h"
#include "json_scanner.h"

namespace cdom::api {

namespace {

// How deep a kept value may be, as those who walk it recurse. What is left out may be of any depth.
constexpr std::size_t kDeepest = 1'000;

// nullopt: it is too large for a double.
std::optional<Json> number_of(std::string_view text) {
  const char* end = text.data() + text.size();
  if (text.find_first_of(".eE") == std::string_view::npos) {
    std::uint64_t positive = 0;
    if (const auto [at, error] = std::from_chars(text.data(), end, positive);
        error == std::errc{}) {
      return Json(positive);
    }
    std::int64_t negative = 0;
    if (const auto [at, error] = std::from_chars(text.data(), end, negative);
        error == std::errc{}) {
      return Json(negative);
    }
  }
  // Unlike std::from_chars it makes 0 of a number that is too small, as Go does.
  const double value = std::strtod(std::string(text).c_str(), nullptr);
  if (!std::isfinite(value)) return std::nullopt;
  return Json(value);
}

Json literal_of(std::string_view text) {
  if (text == "null") return {};
  return text == "true";
}

// Builds the document of what is wanted, and allocates nothing for the rest.
class Builder {
 public:
  // Both outlive it.
  Builder(std::string_view text, const Wanted& wanted) : scanner_(text), wanted_(&wanted) {}

  base::Result<Json> build() {
    using Token = JsonScanner::Token;
    for (;;) {
      switch (const Token token = scanner_.next()) {
        case Token::End:
          return std::move(document_);
        case Token::Broken:
          return scanner_.error();
        case Token::Key:
          enter_member(text_of_string(scanner_.token_text()));
          break;
        case Token::EndObject:
        case Token::EndList:
          open_.pop_back();
          break;
        default:
          if (auto problem = add(token); !problem.empty()) return base::invalid(std::move(problem));
      }
    }
  }

 private:
  // An object or list whose end has not come yet.
  struct Open {
    Json* json;
    const Wanted* wanted;
    bool is_metadata;
  };

  void enter_member(std::string name) {
    const Open& object = open_.back();
    const Wanted* wanted = object.wanted->of(name);
    if (wanted == nullptr || (object.is_metadata && name == "managedFields")) {
      (void)scanner_.next();
      (void)scanner_.rest_of_value();
      return;
    }
    wanted_ = wanted;
    is_metadata_ = name == "metadata";
    member_ = &object.json->get_ref<Json::object_t&>()[std::move(name)];
  }

  // A value, of which `token` is the first or all; "" or what is wrong.
  std::string add(JsonScanner::Token token) {
    using Token = JsonScanner::Token;
    if (!open_.empty() && open_.back().json->is_array()) wanted_ = open_.back().wanted;
    if (wanted_->as_text && scanner_.token_text() != "null") {
      place(Json(std::string(scanner_.rest_of_value())));
    } else if (token == Token::BeginObject) {
      return open(Json::object());
    } else if (token == Token::BeginList) {
      return open(Json::array());
    } else if (token == Token::String) {
      place(Json(text_of_string(scanner_.token_text())));
    } else if (token == Token::Word) {
      place(literal_of(scanner_.token_text()));
    } else {
      auto number = number_of(scanner_.token_text());
      if (!number) {
        return base::cat("the number ", scanner_.token_text().substr(0, 40), " is too large");
      }
      place(*std::move(number));
    }
    return "";
  }

  std::string open(Json empty) {
    if (open_.size() == kDeepest) {
      return base::cat("JSON is nested more than ", kDeepest, " levels deep");
    }
    const bool is_metadata = empty.is_object() && is_metadata_;
    Json& opened = place(std::move(empty));
    open_.push_back({&opened, wanted_, is_metadata});
    return "";
  }

  Json& place(Json value) {
    is_metadata_ = false;
    if (open_.empty()) return document_ = std::move(value);
    Json& whole = *open_.back().json;
    if (!whole.is_array()) return *member_ = std::move(value);
    return whole.get_ref<Json::array_t&>().emplace_back(std::move(value));
  }

  JsonScanner scanner_;
  Json document_;
  std::vector<Open> open_;    // from the document inwards
  Json* member_ = nullptr;    // of the last of them, whose value is next
  const Wanted* wanted_;      // of the value that is next
  bool is_metadata_ = false;  // that value is a member "metadata"
};

}  // namespace

const Wanted* Wanted::of(const std::string& name) const {
  static const Wanted all{.everything = true};
  const auto it = members.find(name);
  if (it != members.end()) return &it->second;
  return everything ? &all : nullptr;
}

void Wanted::add(const Wanted& other) {
  everything |= other.everything;
  as_text |= other.as_text;
  for (const auto& [name, wanted] : other.members) members[name].add(wanted);
}

base::Result<Json> parse_json(std::string_view text, const Wanted& wanted) {
  return Builder(text, wanted).build();
}

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace cdom::api
