#include <algorithm>

#include "compute_domain/base/text.h"
#include "sandbox/cel/functions.h"
#include "sandbox/text/pattern.h"

namespace cdom::sandbox::cel {

namespace {

using Evaluated = base::Result<Value>;
using Arguments = std::span<const Value>;

// A function of two strings.
template <Evaluated (*function)(const std::string&, const std::string&)>
Evaluated of_texts(Arguments arguments) {
  const std::string* left = arguments[0].text();
  const std::string* right = arguments[1].text();
  if (left == nullptr || right == nullptr) return no_such_overload("string function", arguments);
  return function(*left, *right);
}

// A function of one string.
template <std::string (*function)(const std::string&)>
Evaluated of_text(Arguments arguments) {
  const std::string* text = arguments[0].text();
  if (text == nullptr) return no_such_overload("string function", arguments);
  return Value(function(*text));
}

Evaluated contains(const std::string& text, const std::string& part) {
  return Value(text.find(part) != std::string::npos);
}
Evaluated starts_with(const std::string& text, const std::string& part) {
  return Value(text.starts_with(part));
}
Evaluated ends_with(const std::string& text, const std::string& part) {
  return Value(text.ends_with(part));
}

Evaluated matches(const std::string& text, const std::string& expression) {
  auto pattern = Pattern::compile(expression);
  if (!pattern) return pattern.error();
  return Value(pattern->is_found_in(text));
}

Value split_at(const std::string& text, const std::string& separator, std::int64_t most) {
  List parts;
  std::size_t start = 0;
  while (most < 0 || static_cast<std::int64_t>(parts.size()) + 1 < most) {
    // An empty separator splits into characters.
    const std::size_t at = separator.empty() ? start + 1 : text.find(separator, start);
    if (at == std::string::npos || (separator.empty() && at >= text.size())) break;
    parts.emplace_back(text.substr(start, at - start));
    start = at + separator.size();
  }
  if (most != 0) parts.emplace_back(text.substr(start));
  return Value(std::move(parts));
}

Evaluated split(const std::string& text, const std::string& separator) {
  return split_at(text, separator, -1);
}

Evaluated split_most(Arguments arguments) {
  const auto* most = arguments[2].get_if<std::int64_t>();
  if (arguments[0].text() == nullptr || arguments[1].text() == nullptr || most == nullptr) {
    return no_such_overload("split", arguments);
  }
  return split_at(*arguments[0].text(), *arguments[1].text(), *most);
}

Evaluated replace(Arguments arguments) {
  const std::string *text = arguments[0].text(), *from = arguments[1].text(),
                    *to = arguments[2].text();
  if (text == nullptr || from == nullptr || to == nullptr || from->empty()) {
    return no_such_overload("replace", arguments);
  }
  std::string out = *text;
  for (auto at = out.find(*from); at != std::string::npos; at = out.find(*from, at + to->size())) {
    out.replace(at, from->size(), *to);
  }
  return Value(std::move(out));
}

Evaluated substring(Arguments arguments) {
  const std::string* text = arguments[0].text();
  const auto* start = arguments[1].get_if<std::int64_t>();
  const auto* end = arguments.size() > 2 ? arguments[2].get_if<std::int64_t>() : nullptr;
  if (text == nullptr || start == nullptr || (arguments.size() > 2 && end == nullptr)) {
    return no_such_overload("substring", arguments);
  }
  const auto size = static_cast<std::int64_t>(text->size());
  const std::int64_t stop = end != nullptr ? *end : size;
  if (*start < 0 || *start > stop || stop > size) {
    return base::Error{base::ErrorKind::Invalid,
                       base::cat("index out of range: ", *start, " to ", stop)};
  }
  return Value(
      text->substr(static_cast<std::size_t>(*start), static_cast<std::size_t>(stop - *start)));
}

Evaluated index_of(const std::string& text, const std::string& part) {
  const auto at = text.find(part);
  return Value(at == std::string::npos ? std::int64_t{-1} : static_cast<std::int64_t>(at));
}

std::string lower(const std::string& text) { return base::to_lower(text); }
std::string upper(const std::string& text) {
  std::string out = text;
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return out;
}
std::string trimmed(const std::string& text) { return std::string(base::trim(text)); }

constexpr Function kTextFunctions[] = {
    {"contains", true, 2, of_texts<contains>},
    {"startsWith", true, 2, of_texts<starts_with>},
    {"endsWith", true, 2, of_texts<ends_with>},
    {"matches", true, 2, of_texts<matches>},
    {"matches", false, 2, of_texts<matches>},
    {"split", true, 2, of_texts<split>},
    {"split", true, 3, split_most},
    {"replace", true, 3, replace},
    {"substring", true, 2, substring},
    {"substring", true, 3, substring},
    {"indexOf", true, 2, of_texts<index_of>},
    {"lowerAscii", true, 1, of_text<lower>},
    {"upperAscii", true, 1, of_text<upper>},
    {"trim", true, 1, of_text<trimmed>},
};

}  // namespace

std::span<const Function> text_functions() { return kTextFunctions; }

}  // namespace cdom::sandbox::cel
