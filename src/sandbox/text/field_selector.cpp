#include <algorithm>
#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/text/selector.h"

namespace cdom::sandbox {

namespace {

using base::invalid;
using nlohmann::json;

// The terms between commas that no backslash escapes; the escapes stay in.
std::vector<std::string> terms_of(std::string_view text) {
  std::vector<std::string> terms(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      terms.back() += text.substr(i++, 2);
    } else if (text[i] == ',') {
      terms.emplace_back();
    } else {
      terms.back() += text[i];
    }
  }
  std::erase_if(terms, [](const std::string& term) { return term.empty(); });
  return terms;
}

base::Result<std::string> unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '=') {
      // The API server prints the character as its number.
      return invalid(base::cat("invalid field selector: unescaped character in value: ", int{'='}));
    }
    if (text[i] == '\\') {
      if (++i == text.size() || std::string_view("\\,=").find(text[i]) == std::string_view::npos) {
        return invalid(
            base::cat("invalid field selector: invalid escape sequence: ", text.substr(i - 1, 2)));
      }
    }
    out += text[i];
  }
  return out;
}

base::Result<FieldSelector::Term> term_of(std::string_view text) {
  const auto sign = text.find('=');
  if (sign == std::string_view::npos || sign == 0) {
    return invalid(base::cat("invalid selector: '", text, "'; can't understand '", text, "'"));
  }
  const bool equal = text[sign - 1] != '!';
  const std::size_t value_start = sign + (equal && text.substr(sign).starts_with("==") ? 2 : 1);
  auto value = unescaped(text.substr(value_start));
  if (!value) return value.error();
  return FieldSelector::Term{std::string(base::trim(text.substr(0, equal ? sign : sign - 1))),
                             *std::move(value), equal};
}

// The text of the scalar at a dotted path, "" when there is none.
std::string text_at(const json& object, std::string_view field) {
  const json* at = &object;
  for (const std::string& name : base::split(field, '.')) {
    if (!at->is_object()) return "";
    const auto found = at->find(name);
    if (found == at->end()) return "";
    at = &*found;
  }
  if (at->is_string()) return at->get<std::string>();
  return at->is_primitive() && !at->is_null() ? at->dump() : "";
}

}  // namespace

base::Result<FieldSelector> FieldSelector::parse(std::string_view text,
                                                 const std::vector<std::string>& allowed) {
  FieldSelector selector;
  for (const std::string& piece : terms_of(text)) {
    auto term = term_of(piece);
    if (!term) return term.error();
    if (std::ranges::find(allowed, term->field) == allowed.end()) {
      return invalid(base::cat("field label not supported: ", term->field));
    }
    selector.terms_.push_back(*std::move(term));
  }
  return selector;
}

bool FieldSelector::matches(
    const std::function<std::string(std::string_view field)>& value_of) const {
  return std::ranges::all_of(
      terms_, [&](const Term& term) { return (value_of(term.field) == term.value) == term.equal; });
}

bool FieldSelector::matches(const json& object) const {
  return matches([&](std::string_view field) { return text_at(object, field); });
}

}  // namespace cdom::sandbox
