#include "sandbox/text/jsonpath.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "compute_domain/base/text.h"

namespace cdom::sandbox {

namespace {

using nlohmann::json;

enum class Comparison { Exists, Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual };

bool holds(Comparison comparison, const json& left, const json& right) {
  if (comparison == Comparison::Exists) return true;
  if (comparison == Comparison::Equal) return left == right;
  if (comparison == Comparison::NotEqual) return left != right;
  // Only values of one kind have an order.
  if (left.is_number() != right.is_number() || left.is_string() != right.is_string()) return false;
  switch (comparison) {
    case Comparison::Less:
      return left < right;
    case Comparison::LessOrEqual:
      return left <= right;
    case Comparison::Greater:
      return left > right;
    default:
      return left >= right;
  }
}

}  // namespace

struct JsonPath::Step {
  enum class Kind { Member, Index, Every, Filter, Union };
  Kind kind = Kind::Member;
  std::string name;
  std::ptrdiff_t index = 0;
  // A filter: elements in which `path` finds something that compares so with `operand`.
  std::optional<JsonPath> path;
  Comparison comparison = Comparison::Exists;
  json operand;
  std::vector<JsonPath> paths = {};  // of a union, in its order
};

class JsonPath::Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), rest_(text) {}

  base::Result<JsonPath> run() {
    auto steps = std::make_shared<std::vector<Step>>();
    while (!rest_.empty()) {
      auto step = next();
      if (!step) return step.error();
      steps->push_back(*std::move(step));
    }
    JsonPath path;
    path.steps_ = std::move(steps);
    return path;
  }

 private:
  [[nodiscard]] base::Error error(std::string_view what) const {
    return {base::ErrorKind::Invalid,
            base::cat("JSONPath \"", text_, "\": ", what, " near \"", rest_, "\"")};
  }

  base::Result<Step> next() {
    if (rest_.starts_with("..")) return error("recursive descent is not supported");
    if (rest_.starts_with('[')) return bracket();
    if (rest_.starts_with('.')) rest_.remove_prefix(1);
    if (rest_.starts_with('[')) return bracket();
    if (rest_.starts_with('*')) {
      rest_.remove_prefix(1);
      return Step{.kind = Step::Kind::Every};
    }
    Step step;
    while (!rest_.empty() && rest_.front() != '.' && rest_.front() != '[') {
      // A backslash makes a dot part of the name: .metadata.annotations.example\.com/x
      if (rest_.front() == '\\' && rest_.size() > 1) rest_.remove_prefix(1);
      step.name += rest_.front();
      rest_.remove_prefix(1);
    }
    if (step.name.empty()) return error("a name is missing");
    return step;
  }

  base::Result<Step> bracket() {
    // A bracket or quote within a quoted text does not close.
    std::size_t close = 1;
    for (char quote = '\0'; close < rest_.size() && (quote != '\0' || rest_[close] != ']');
         ++close) {
      if (quote != '\0') {
        if (rest_[close] == quote) quote = '\0';
      } else if (rest_[close] == '\'' || rest_[close] == '"') {
        quote = rest_[close];
      }
    }
    if (close >= rest_.size()) return error("']' is missing");
    const std::string_view inner = base::trim(rest_.substr(1, close - 1));
    auto step = bracket_step(inner);
    if (step) rest_.remove_prefix(close + 1);
    return step;
  }

  [[nodiscard]] base::Result<Step> bracket_step(std::string_view inner) const {
    if (inner == "*") return Step{.kind = Step::Kind::Every};
    if (inner.starts_with('\'')) return union_of(inner);
    if (inner.starts_with("?(") && inner.ends_with(')')) {
      return filter(base::trim(inner.substr(2, inner.size() - 3)));
    }
    const json index = json::parse(inner, nullptr, false);
    if (!index.is_number_integer()) {
      return error("only an index, *, a quoted name or a filter may stand in brackets");
    }
    return Step{.kind = Step::Kind::Index, .index = index.get<std::ptrdiff_t>()};
  }

  // As client-go's parser does, which reads a name in brackets as the path that it is.
  [[nodiscard]] base::Result<Step> union_of(std::string_view inner) const {
    Step step{.kind = Step::Kind::Union};
    for (const std::string& piece : base::split(inner, ',')) {
      const std::string_view name = base::trim(piece);
      const auto text = name.starts_with('\'') ? quoted(name) : std::nullopt;
      if (!text) return error("a union is of quoted names");
      auto path = Parser(*text).run();
      if (!path) return path.error();
      step.paths.push_back(*std::move(path));
    }
    return step;
  }

  static std::optional<std::string> quoted(std::string_view text) {
    const bool is_quoted = text.size() >= 2 && text.front() == text.back() &&
                           (text.front() == '\'' || text.front() == '"');
    if (!is_quoted) return std::nullopt;
    return std::string(text.substr(1, text.size() - 2));
  }

  // @.type=="Ready", or @.type alone.
  [[nodiscard]] base::Result<Step> filter(std::string_view condition) const {
    static constexpr std::pair<std::string_view, Comparison> kComparisons[] = {
        {"==", Comparison::Equal},       {"!=", Comparison::NotEqual},
        {"<=", Comparison::LessOrEqual}, {">=", Comparison::GreaterOrEqual},
        {"<", Comparison::Less},         {">", Comparison::Greater}};
    if (!condition.starts_with('@')) return error("a filter must begin with @");
    Step step{.kind = Step::Kind::Filter};
    std::string_view path = condition.substr(1);
    for (const auto& [sign, comparison] : kComparisons) {
      const auto at = condition.find(sign);
      if (at == std::string_view::npos) continue;
      path = base::trim(condition.substr(1, at - 1));
      const std::string_view operand = base::trim(condition.substr(at + sign.size()));
      const auto text = quoted(operand);
      step.comparison = comparison;
      step.operand = text ? json(*text) : json::parse(operand, nullptr, false);
      if (step.operand.is_discarded()) return error("a filter compares with a literal");
      break;
    }
    auto parsed = Parser(path).run();
    if (!parsed) return parsed.error();
    step.path = *std::move(parsed);
    return step;
  }

  std::string_view text_;
  std::string_view rest_;
};

base::Result<JsonPath> JsonPath::parse(std::string_view text) {
  std::string_view inner = base::trim(text);
  if (inner.starts_with('{') && inner.ends_with('}')) inner = inner.substr(1, inner.size() - 2);
  if (inner.starts_with('$')) inner.remove_prefix(1);
  return Parser(inner).run();
}

std::vector<const json*> JsonPath::find(const json& document) const {
  std::vector<const json*> found{&document};
  if (steps_ == nullptr) return found;
  for (const Step& step : *steps_) {
    std::vector<const json*> next;
    for (const json* value : found) take(step, *value, next);
    found = std::move(next);
  }
  return found;
}

void JsonPath::take(const Step& step, const json& value, std::vector<const json*>& out) {
  switch (step.kind) {
    case Step::Kind::Member:
      if (value.is_object()) {
        const auto member = value.find(step.name);
        if (member != value.end()) out.push_back(&*member);
      }
      return;
    case Step::Kind::Index: {
      const auto size = static_cast<std::ptrdiff_t>(value.is_array() ? value.size() : 0);
      const std::ptrdiff_t at = step.index < 0 ? step.index + size : step.index;
      if (at >= 0 && at < size) out.push_back(&value[static_cast<std::size_t>(at)]);
      return;
    }
    case Step::Kind::Union:
      for (const JsonPath& path : step.paths) {
        const auto found = path.find(value);
        out.insert(out.end(), found.begin(), found.end());
      }
      return;
    case Step::Kind::Every:
    case Step::Kind::Filter:
      if (!value.is_structured()) return;
      for (const json& element : value) {
        if (step.kind == Step::Kind::Every || passes(step, element)) out.push_back(&element);
      }
      return;
  }
}

bool JsonPath::passes(const Step& filter, const json& element) {
  const auto found = filter.path->find(element);
  return !found.empty() && holds(filter.comparison, *found.front(), filter.operand);
}

}  // namespace cdom::sandbox
