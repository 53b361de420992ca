#include "sandbox/text/selector.h"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "compute_domain/base/text.h"

namespace cdom::sandbox {

namespace {

using base::invalid;
using nlohmann::json;
using Operator = LabelSelector::Operator;
using Requirement = LabelSelector::Requirement;

// The words and signs of a label selector's query form, one after the other.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {}

  // A sign (one of `, ( ) ! = == != > <`), a word, or "" at the end.
  std::string_view next() {
    const std::string_view token = peek();
    text_.remove_prefix(static_cast<std::size_t>(token.data() - text_.data()) + token.size());
    return token;
  }

  [[nodiscard]] std::string_view peek() const {
    constexpr std::string_view kBlank = " \t\r\n", kSigns = ",()!=><";
    const auto start = text_.find_first_not_of(kBlank);
    if (start == std::string_view::npos) return text_.substr(text_.size());
    const std::string_view rest = text_.substr(start);
    if (rest.starts_with("==") || rest.starts_with("!=")) return rest.substr(0, 2);
    if (kSigns.find(rest.front()) != std::string_view::npos) return rest.substr(0, 1);
    return rest.substr(0, rest.find_first_of(",()!=>< \t\r\n"));
  }

 private:
  std::string_view text_;
};

bool is_word(std::string_view token) {
  return !token.empty() &&
         std::string_view(",()!=><").find(token.front()) == std::string_view::npos;
}

// [prefix/]name: the prefix a DNS subdomain, the name as a label value that is not empty.
bool is_label_key(std::string_view key) {
  const auto slash = key.find('/');
  if (slash != std::string_view::npos && !base::is_dns_subdomain(key.substr(0, slash)))
    return false;
  const std::string_view name = slash == std::string_view::npos ? key : key.substr(slash + 1);
  return !name.empty() && base::is_label_value(name);
}

base::Error unparsable(std::string_view found, std::string_view expected) {
  return invalid(
      base::cat("unable to parse requirement: found '", found, "', expected: ", expected));
}

// What may stand where a requirement is to begin, by what stands before it.
base::Result<void> check_start(std::string_view found, bool is_first) {
  if (is_word(found) || found == "!") return {};
  return invalid(base::cat(
      "found '", found,
      "', expected: ", is_first ? "!, identifier, or 'end of string'" : "identifier after ','"));
}

base::Result<std::vector<std::string>> parse_values(Tokens& tokens) {
  if (const auto token = tokens.next(); token != "(") {
    return invalid(base::cat("unable to parse requirement: found '", token, "' expected: '('"));
  }
  std::vector<std::string> values;
  while (true) {
    // An empty value is legal: "in (,a)".
    values.emplace_back(is_word(tokens.peek()) ? tokens.next() : std::string_view());
    const std::string_view sign = tokens.next();
    if (sign == ")") return values;
    if (sign != ",") return unparsable(sign, "',' or ')'");
  }
}

base::Result<Requirement> parse_requirement(Tokens& tokens) {
  const bool absent = tokens.peek() == "!";
  if (absent) tokens.next();
  const std::string_view key = tokens.next();
  if (!is_word(key)) return unparsable(key, "identifier");
  Requirement requirement{std::string(key), Operator::Exists, {}};
  if (absent) {
    requirement.op = Operator::DoesNotExist;
    return requirement;
  }
  const std::string_view next = tokens.peek();
  if (next.empty() || next == ",") return requirement;

  tokens.next();
  if (next == "in" || next == "notin") {
    requirement.op = next == "in" ? Operator::In : Operator::NotIn;
    auto values = parse_values(tokens);
    if (!values) return values.error();
    requirement.values = *std::move(values);
    return requirement;
  }
  if (next == "=" || next == "==") {
    requirement.op = Operator::In;
  } else if (next == "!=") {
    requirement.op = Operator::NotIn;
  } else if (next == ">" || next == "<") {
    requirement.op = next == ">" ? Operator::GreaterThan : Operator::LessThan;
  } else {
    return unparsable(next, "in, notin, =, ==, !=, gt, lt");
  }
  requirement.values.emplace_back(is_word(tokens.peek()) ? tokens.next() : std::string_view());
  return requirement;
}

std::optional<long long> integer(const std::string& text) {
  if (text.empty()) return std::nullopt;
  char* end = nullptr;
  const long long value = std::strtoll(text.c_str(), &end, 10);
  if (*end != '\0') return std::nullopt;
  return value;
}

constexpr std::string_view kKeyRule =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr std::string_view kValueRule =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or "
    "'12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

base::Result<void> check(const Requirement& requirement) {
  const auto refuse = [](const auto&... what) {
    return invalid(base::cat("unable to parse requirement: ", what...));
  };
  const auto& [key, op, values] = requirement;
  if (!is_label_key(key)) return refuse("<nil>: Invalid value: \"", key, "\": ", kKeyRule);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (base::is_label_value(values[i])) continue;
    return refuse("values[", i, "][", key, "]: Invalid value: \"", values[i], "\": ", kValueRule);
  }
  const bool compares = op == Operator::GreaterThan || op == Operator::LessThan;
  if (compares && !integer(values.at(0))) {
    return refuse("values[0]: Invalid value: \"", values.at(0),
                  "\": for 'Gt', 'Lt' operators, the value must be an integer");
  }
  return {};
}

bool satisfies(const Requirement& requirement, const json& labels) {
  const auto label = labels.is_object() ? labels.find(requirement.key) : labels.end();
  const bool exists = labels.is_object() && label != labels.end() && label->is_string();
  const std::string value = exists ? label->get<std::string>() : "";
  const bool listed = std::ranges::find(requirement.values, value) != requirement.values.end();
  switch (requirement.op) {
    case Operator::Exists:
      return exists;
    case Operator::DoesNotExist:
      return !exists;
    case Operator::In:
      return exists && listed;
    case Operator::NotIn:
      return !exists || !listed;
    case Operator::GreaterThan:
    case Operator::LessThan: {
      const auto have = exists ? integer(value) : std::nullopt;
      const auto bound = integer(requirement.values.at(0));
      if (!have || !bound) return false;
      return requirement.op == Operator::GreaterThan ? *have > *bound : *have < *bound;
    }
  }
  return false;
}

std::optional<Operator> operator_of(std::string_view name) {
  if (name == "In") return Operator::In;
  if (name == "NotIn") return Operator::NotIn;
  if (name == "Exists") return Operator::Exists;
  if (name == "DoesNotExist") return Operator::DoesNotExist;
  return std::nullopt;
}

base::Result<Requirement> requirement_of(const json& expression) {
  const std::string name = expression.value("operator", "");
  const std::optional<Operator> op = operator_of(name);
  if (!op) return invalid(base::cat("\"", name, "\" is not a valid label selector operator"));
  Requirement requirement{expression.value("key", ""), *op,
                          expression.value("values", std::vector<std::string>{})};
  const bool wants_values = *op == Operator::In || *op == Operator::NotIn;
  if (wants_values == requirement.values.empty()) {
    return invalid(base::cat("values: Invalid value: for '", name, "' operator, values set ",
                             wants_values ? "can't be empty" : "must be empty"));
  }
  return requirement;
}

}  // namespace

base::Result<LabelSelector> LabelSelector::parse(std::string_view text) {
  LabelSelector selector;
  Tokens tokens(text);
  if (tokens.peek().empty()) return selector;
  while (true) {
    const bool is_first = selector.requirements_.empty();
    if (auto start = check_start(tokens.peek(), is_first); !start) return start.error();
    auto requirement = parse_requirement(tokens);
    if (!requirement) return requirement.error();
    if (auto checked = check(*requirement); !checked) return checked.error();
    selector.requirements_.push_back(*std::move(requirement));
    const std::string_view sign = tokens.next();
    if (sign.empty()) return selector;
    if (sign != ",") {
      return invalid(base::cat("found '", sign, "', expected: ',' or 'end of string'"));
    }
  }
}

base::Result<LabelSelector> LabelSelector::from_object(const json& object) {
  LabelSelector selector;
  if (!object.is_object()) return selector;
  try {
    const json match_labels = object.value("matchLabels", json::object());
    for (const auto& [key, value] : match_labels.items()) {
      selector.requirements_.push_back({key, Operator::In, {value.get<std::string>()}});
    }
    for (const json& expression : object.value("matchExpressions", json::array())) {
      auto requirement = requirement_of(expression);
      if (!requirement) return requirement.error();
      selector.requirements_.push_back(*std::move(requirement));
    }
  } catch (const json::exception& error) {
    return invalid(base::cat("label selector: ", error.what()));
  }
  for (const Requirement& requirement : selector.requirements_) {
    if (auto checked = check(requirement); !checked) return checked.error();
  }
  return selector;
}

bool LabelSelector::matches(const json& labels) const {
  return std::ranges::all_of(requirements_, [&](const Requirement& requirement) {
    return satisfies(requirement, labels);
  });
}

}  // namespace cdom::sandbox
