#include "cli/flag.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

namespace cdom::cli {

using base::cat;

namespace {

constexpr std::pair<const char*, base::Duration> kUnits[] = {{"h", std::chrono::hours(1)},
                                                             {"m", std::chrono::minutes(1)},
                                                             {"s", std::chrono::seconds(1)},
                                                             {"ms", std::chrono::milliseconds(1)}};
constexpr std::int64_t kMostOfAUnit = 1'000'000;

// "250ms", "30s", "5m", "2h", "0".
std::optional<base::Duration> duration_in(const std::string& text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  std::int64_t amount = 0;
  if (!read_number<std::int64_t>(text.substr(0, digits), 0, kMostOfAUnit, amount).empty()) {
    return std::nullopt;
  }
  for (const auto& [name, unit] : kUnits) {
    if (text.substr(digits) == name) return amount * unit;
  }
  return text == "0" ? std::optional(base::Duration::zero()) : std::nullopt;
}

// In the largest unit that gives it exactly.
std::string text_of(base::Duration duration) {
  if (duration == base::Duration::zero()) return "0s";
  for (const auto& [name, unit] : kUnits) {
    if (duration % unit == base::Duration::zero()) return cat(duration / unit, name);
  }
  return "";
}

std::string complaint(const std::string& text, const std::string& what) {
  return cat("\"", text, "\" is not ", what);
}

// "a, b or c", without those that are empty.
std::string listed(std::vector<std::string> words, const char* separator, const char* last) {
  std::erase(words, "");
  const std::string end = words.back();
  words.pop_back();
  return words.empty() ? end : cat(base::join(words, separator), last, end);
}

std::string complaint(const std::string& text, const std::vector<std::string>& choices) {
  const std::string what = choices.size() - std::ranges::count(choices, "") == 2
                               ? cat("neither ", listed(choices, "", " nor "))
                               : cat("none of ", listed(choices, ", ", ", "));
  return cat("\"", text, "\" is ", what);
}

std::string take_bool(const std::string& text, bool& field) {
  const auto is_in = [word = base::to_lower(text)](std::initializer_list<const char*> words) {
    return std::ranges::find(words, word) != words.end();
  };
  const bool is_yes = is_in({"true", "1", "yes", "on"});
  if (!is_yes && !is_in({"false", "0", "no", "off"})) {
    return complaint(text, std::vector<std::string>{"true", "false"});
  }
  field = is_yes;
  return "";
}

}  // namespace

Rule absolute_path() {
  return {[](const std::string& text) { return text.starts_with('/'); }, "an absolute path"};
}

Value text(std::string& field, std::string placeholder, const Rule& rule) {
  const bool may_be_empty = field.empty();
  return {.placeholder = std::move(placeholder),
          .by_default = field,
          .take = [=, &field](const std::string& text) {
            if (!rule.holds(text) && !(may_be_empty && text.empty())) {
              return complaint(text, rule.what);
            }
            field = text;
            return std::string();
          }};
}

Value path(std::string& field, std::string placeholder) {
  return text(field, std::move(placeholder), absolute_path());
}

Value choice(std::string& field, std::string placeholder, const std::vector<std::string>& choices) {
  return {.placeholder = std::move(placeholder),
          .range = listed(choices, ", ", " or "),
          .by_default = field,
          .take = [=, &field](const std::string& text) {
            if (std::ranges::find(choices, text) == choices.end()) return complaint(text, choices);
            field = text;
            return std::string();
          }};
}

Value boolean(bool& field) {
  return {.placeholder = "true|false",
          .by_default = cat(field),
          .take = [&field](const std::string& text) { return take_bool(text, field); }};
}

Value on_off(bool& field) {
  Value value = boolean(field);
  value.form = Value::Form::Switch;
  return value;
}

Value duration(base::Duration& field) {
  return {.placeholder = "DURATION",
          .by_default = text_of(field),
          .take = [&field](const std::string& text) {
            const auto read = duration_in(text);
            if (!read) return complaint(text, "a duration such as 30s or 500ms");
            field = *read;
            return std::string();
          }};
}

Value texts(std::vector<std::string>& field, std::string placeholder, const Rule& rule) {
  return {.placeholder = std::move(placeholder),
          .take =
              [=, &field](const std::string& text) {
                if (!rule.holds(text)) return complaint(text, rule.what);
                field.push_back(text);
                return std::string();
              },
          .form = Value::Form::List};
}

Value names(std::set<std::string>& field, std::string placeholder, const Rule& rule) {
  return {.placeholder = std::move(placeholder), .take = [=, &field](const std::string& text) {
            for (const std::string& piece : base::split(text, ',')) {
              const std::string name(base::trim(piece));
              if (name.empty()) continue;
              if (!rule.holds(name)) return complaint(name, rule.what);
              field.insert(name);
            }
            return std::string();
          }};
}

std::vector<Flag> operator+(std::vector<Flag> rows, const std::vector<Flag>& more) {
  rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

}  // namespace cdom::cli
