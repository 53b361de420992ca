// Expression: one node of a parsed CEL expression.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/cel/functions.h"
#include "sandbox/cel/value.h"
#include "sandbox/text/pattern.h"

namespace cdom::sandbox::cel {

struct Expression {
  enum class Kind {
    Literal,      // literal
    Variable,     // name
    Member,       // operand . name
    Has,          // has(operand . name)
    Index,        // operand [ operand ]
    MakeList,     // operands
    MakeMap,      // operands: key, value, key, value, …
    Call,         // function(operands); a receiver is the first
    And,          // operand && operand
    Or,           // operand || operand
    Conditional,  // operand ? operand : operand
    All,          // range.all(name, predicate); the next four alike
    Exists,
    ExistsOne,
    Filter,
    Transform,        // range.map(name, value) or range.map(name, predicate, value)
    Bind,             // cel.bind(name, operand, body)
    OptionalMap,      // optional.optMap(name, body)
    OptionalFlatMap,  // optional.optFlatMap(name, body)
    OptionalOr,       // optional.or(optional)
    OptionalOrValue,  // optional.orValue(value)
  };

  Kind kind = Kind::Literal;
  std::string name;
  Value literal;
  bool is_optional = false;  // Member and Index: the .?name and [?index] forms
  const Function* function = nullptr;
  std::optional<Pattern> pattern;  // of matches(), when it is a literal
  std::vector<std::unique_ptr<Expression>> operands;
};

using Node = std::unique_ptr<Expression>;

}  // namespace cdom::sandbox::cel
