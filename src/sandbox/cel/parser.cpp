#include "sandbox/cel/parser.h"

#include <algorithm>

#include "compute_domain/base/text.h"
#include "sandbox/cel/token_reader.h"

namespace cdom::sandbox::cel {

namespace {

using Kind = Expression::Kind;
using Parse = base::Result<Node>;

Node node(Kind kind, std::string name = "") {
  auto expression = std::make_unique<Expression>();
  expression->kind = kind;
  expression->name = std::move(name);
  return expression;
}

template <class... Operand>
Node node_of(Kind kind, std::string name, Operand... operand) {
  Node expression = node(kind, std::move(name));
  (expression->operands.push_back(std::move(operand)), ...);
  return expression;
}

template <class... Operand>
Node operation(std::string_view sign, Operand... operand) {
  Node expression = node_of(Kind::Call, std::string(sign), std::move(operand)...);
  expression->function = find_function(sign, false, sizeof...(operand));
  return expression;
}

Node literal_node(Value value) {
  Node expression = node(Kind::Literal);
  expression->literal = std::move(value);
  return expression;
}

// Calls on a receiver whose first argument names a variable; the other arguments are read with it.
struct Macro {
  std::string_view name;
  std::size_t arguments;
  Kind kind;
};
constexpr Macro kMacros[] = {
    {"all", 2, Kind::All},
    {"exists", 2, Kind::Exists},
    {"exists_one", 2, Kind::ExistsOne},
    {"filter", 2, Kind::Filter},
    {"map", 2, Kind::Transform},
    {"map", 3, Kind::Transform},
    {"optMap", 2, Kind::OptionalMap},
    {"optFlatMap", 2, Kind::OptionalFlatMap},
};

class Parser {
 public:
  Parser(std::vector<Token> tokens, const std::vector<std::string>& variables)
      : reader_(std::move(tokens)), variables_(variables) {}

  base::Result<Parsed> run() {
    auto root = conditional();
    if (!root) return root.error();
    if (reader_.peek().kind != Token::Kind::End) {
      return reader_.unexpected("an operator or the end");
    }
    return Parsed{*std::move(root), std::move(reads_)};
  }

 private:
  // The text of the expression decides how deep the parser recurses: bounded here.
  template <class Next>
  Parse nested(Next next) {
    constexpr int kMaxDepth = 200;
    if (depth_ >= kMaxDepth) return reader_.error("the expression is nested too deeply");
    ++depth_;
    Parse parsed = next();
    --depth_;
    return parsed;
  }

  Parse conditional() {
    return nested([this]() -> Parse {
      auto condition = either();
      if (!condition || !reader_.take("?")) return condition;
      auto yes = either();
      if (!yes) return yes;
      if (!reader_.take(":")) return reader_.unexpected("':'");
      auto no = conditional();
      if (!no) return no;
      return node_of(Kind::Conditional, "", *std::move(condition), *std::move(yes), *std::move(no));
    });
  }

  Parse either() {
    auto left = both();
    while (left && reader_.take("||")) {
      auto right = both();
      if (!right) return right;
      left = node_of(Kind::Or, "", *std::move(left), *std::move(right));
    }
    return left;
  }

  Parse both() {
    auto left = relation();
    while (left && reader_.take("&&")) {
      auto right = relation();
      if (!right) return right;
      left = node_of(Kind::And, "", *std::move(left), *std::move(right));
    }
    return left;
  }

  Parse relation() {
    return chain({"==", "!=", "<=", ">=", "<", ">", "in"}, [this] { return sum(); });
  }
  Parse sum() {
    return chain({"+", "-"}, [this] { return product(); });
  }
  Parse product() {
    return chain({"*", "/", "%"}, [this] { return unary(); });
  }

  // Operators of one rank, from the left.
  template <class Next>
  Parse chain(std::initializer_list<std::string_view> operators, Next next) {
    auto left = next();
    while (left) {
      const auto* const sign = std::ranges::find_if(operators, [this](std::string_view candidate) {
        return candidate == "in" ? reader_.is_name() && reader_.peek().text == "in"
                                 : reader_.is_sign(candidate);
      });
      if (sign == operators.end()) return left;
      reader_.next();
      auto right = next();
      if (!right) return right;
      left = operation(*sign, *std::move(left), *std::move(right));
    }
    return left;
  }

  Parse unary() {
    const Token::Kind next = reader_.peek(1).kind;
    const bool is_number = next == Token::Kind::Int || next == Token::Kind::Double;
    for (const std::string_view sign : {"!", "-"}) {
      // The minus of a number belongs to its literal: the least int has no positive.
      if (!reader_.is_sign(sign) || (sign == "-" && is_number)) continue;
      reader_.next();
      auto operand = nested([this] { return unary(); });
      if (!operand) return operand;
      return operation(sign, *std::move(operand));
    }
    return member();
  }

  // primary { .name | .name(…) | [index] | .?name | [?index] }
  Parse member() {
    auto left = primary();
    while (left) {
      const bool is_optional = reader_.is_sign(".?") || reader_.is_sign("[?");
      if (reader_.take(".") || reader_.take(".?")) {
        if (!reader_.is_name()) return reader_.unexpected("a name");
        const Token name = reader_.next();
        if (!is_optional && reader_.take("(")) {
          left = call_on(*std::move(left), name);
          continue;
        }
        left = node_of(Kind::Member, name.text, *std::move(left));
      } else if (reader_.take("[") || reader_.take("[?")) {
        auto index = conditional();
        if (!index) return index;
        if (!reader_.take("]")) return reader_.unexpected("']'");
        left = node_of(Kind::Index, "", *std::move(left), *std::move(index));
      } else if (reader_.is_sign("{")) {
        return reader_.error("message construction is not supported");
      } else {
        return left;
      }
      (*left)->is_optional = is_optional;
    }
    return left;
  }

  Parse primary() {
    if (reader_.take("(")) {
      auto inner = conditional();
      if (inner && !reader_.take(")")) return reader_.unexpected("')'");
      return inner;
    }
    if (reader_.take("[")) return list();
    if (reader_.take("{")) return map();
    if (reader_.is_name()) return name();
    auto value = reader_.take_literal();
    if (!value) return value.error();
    return literal_node(*std::move(value));
  }

  Parse list() {
    auto elements = list_until("]");
    if (!elements) return elements.error();
    Node expression = node(Kind::MakeList);
    expression->operands = *std::move(elements);
    return expression;
  }

  // Expressions between commas, up to the sign that closes.
  base::Result<std::vector<Node>> list_until(std::string_view close) {
    std::vector<Node> nodes;
    while (!reader_.take(close)) {
      auto element = conditional();
      if (!element) return element.error();
      nodes.push_back(*std::move(element));
      if (!reader_.take(",") && !reader_.is_sign(close)) {
        return reader_.unexpected(base::cat("',' or '", close, "'"));
      }
    }
    return nodes;
  }

  Parse map() {
    Node expression = node(Kind::MakeMap);
    while (!reader_.take("}")) {
      if (reader_.is_sign("?")) return reader_.error("optional map entries are not supported");
      auto key = conditional();
      if (!key) return key;
      if ((*key)->kind == Kind::Literal && (*key)->literal.text() == nullptr) {
        return reader_.error("map keys other than strings are not supported");
      }
      if (!reader_.take(":")) return reader_.unexpected("':'");
      auto value = conditional();
      if (!value) return value;
      expression->operands.push_back(*std::move(key));
      expression->operands.push_back(*std::move(value));
      if (!reader_.take(",") && !reader_.is_sign("}")) return reader_.unexpected("',' or '}'");
    }
    return expression;
  }

  // A constant, a variable, or a call without receiver.
  Parse name() {
    const Token token = reader_.next();
    if (token.text == "true") return literal_node(Value(true));
    if (token.text == "false") return literal_node(Value(false));
    if (token.text == "null") return literal_node(Value());
    if (std::ranges::find(locals_, token.text) != locals_.end()) {
      return node(Kind::Variable, token.text);
    }
    if (std::ranges::find(variables_, token.text) != variables_.end()) {
      reads_.insert(token.text);
      return node(Kind::Variable, token.text);
    }
    if (reader_.take("(")) return call(token);
    const bool is_namespace = token.text == "cel" || token.text == "optional";
    if (is_namespace && reader_.is_sign(".") && reader_.is_name(1) && reader_.is_sign("(", 2)) {
      reader_.next();
      const Token qualified{Token::Kind::Name, token.text + "." + reader_.next().text, token.at};
      reader_.next();
      return call(qualified);
    }
    return TokenReader::error_at(token, base::cat("undeclared reference to '", token.text, "'"));
  }

  Parse call(const Token& name) {
    if (name.text == "cel.bind") return bind();
    auto arguments = list_until(")");
    if (!arguments) return arguments.error();
    if (name.text == "has") return has(name, *std::move(arguments));
    return function_call(name, false, *std::move(arguments));
  }

  Parse call_on(Node receiver, const Token& name) {
    const std::size_t count = reader_.count_arguments();
    const auto* macro = std::ranges::find_if(kMacros, [&](const Macro& candidate) {
      return candidate.name == name.text && candidate.arguments == count;
    });
    if (macro != std::end(kMacros)) return macro_call(std::move(receiver), macro->kind);
    auto arguments = list_until(")");
    if (!arguments) return arguments.error();
    if ((name.text == "or" || name.text == "orValue") && arguments->size() == 1) {
      return node_of(name.text == "or" ? Kind::OptionalOr : Kind::OptionalOrValue, "",
                     std::move(receiver), std::move(arguments->front()));
    }
    arguments->insert(arguments->begin(), std::move(receiver));
    return function_call(name, true, *std::move(arguments));
  }

  static Parse function_call(const Token& name, bool is_member, std::vector<Node> operands) {
    const Function* function = find_function(name.text, is_member, operands.size());
    if (function == nullptr) {
      const std::size_t count = operands.size() - (is_member ? 1 : 0);
      return TokenReader::error_at(
          name, is_function(name.text) ? base::cat("function '", name.text, "' does not take ",
                                                   count, " arguments here")
                                       : base::cat("function '", name.text, "' is not supported"));
    }
    Node expression = node(Kind::Call, name.text);
    expression->function = function;
    expression->operands = std::move(operands);
    const Expression* last =
        expression->operands.empty() ? nullptr : expression->operands.back().get();
    if (name.text == "matches" && last->kind == Kind::Literal && last->literal.text() != nullptr) {
      auto pattern = Pattern::compile(*last->literal.text());
      if (!pattern) return TokenReader::error_at(name, pattern.error().message);
      expression->pattern = *std::move(pattern);
    }
    return expression;
  }

  static Parse has(const Token& name, std::vector<Node> arguments) {
    if (arguments.size() != 1 || arguments.front()->kind != Kind::Member ||
        arguments.front()->is_optional) {
      return TokenReader::error_at(name, "has() takes the selection of a field, as has(a.b)");
    }
    arguments.front()->kind = Kind::Has;
    return std::move(arguments.front());
  }

  base::Result<std::string> variable_and_comma() {
    if (!reader_.is_name() || !reader_.is_sign(",", 1)) {
      return reader_.unexpected("a variable's name");
    }
    std::string variable = reader_.next().text;
    reader_.next();
    return variable;
  }

  Parse bind() {
    auto variable = variable_and_comma();
    if (!variable) return variable.error();
    auto value = conditional();
    if (!value) return value;
    if (!reader_.take(",")) return reader_.unexpected("','");
    locals_.push_back(*variable);
    auto body = conditional();
    locals_.pop_back();
    if (!body) return body;
    if (!reader_.take(")")) return reader_.unexpected("')'");
    return node_of(Kind::Bind, *variable, *std::move(value), *std::move(body));
  }

  Parse macro_call(Node receiver, Kind kind) {
    auto variable = variable_and_comma();
    if (!variable) return variable.error();
    locals_.push_back(*variable);
    auto arguments = list_until(")");
    locals_.pop_back();
    if (!arguments) return arguments.error();
    Node expression = node_of(kind, *variable, std::move(receiver));
    std::ranges::move(*arguments, std::back_inserter(expression->operands));
    return expression;
  }

  TokenReader reader_;
  const std::vector<std::string>& variables_;
  int depth_ = 0;
  std::vector<std::string> locals_;
  std::set<std::string, std::less<>> reads_;
};

}  // namespace

base::Result<Parsed> parse(std::string_view expression, const std::vector<std::string>& variables) {
  auto tokens = tokens_of(expression);
  if (!tokens) return tokens.error();
  return Parser(*std::move(tokens), variables).run();
}

}  // namespace cdom::sandbox::cel
