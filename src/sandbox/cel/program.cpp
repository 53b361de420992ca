#include "sandbox/cel/program.h"

#include "compute_domain/base/text.h"
#include "sandbox/cel/evaluator.h"
#include "sandbox/cel/parser.h"

namespace cdom::sandbox::cel {

base::Result<Program> compile(std::string_view expression,
                              const std::vector<std::string>& variables) {
  auto parsed = parse(expression, variables);
  if (!parsed) {
    return base::Error{
        base::ErrorKind::Invalid,
        base::cat("compilation failed: ", parsed.error().message, ", in: ", expression)};
  }
  Program program;
  program.expression_ = expression;
  program.root_ = std::move(parsed->root);
  program.reads_ = std::move(parsed->reads);
  return program;
}

base::Result<Value> Program::evaluate(const Bindings& bindings) const {
  return cel::evaluate(*root_, bindings, kMaxSteps);
}

base::Result<bool> Program::evaluate_bool(const Bindings& bindings) const {
  auto value = evaluate(bindings);
  if (!value) return value.error();
  if (const bool* flag = value->get_if<bool>()) return *flag;
  return base::Error{base::ErrorKind::Invalid,
                     base::cat("the expression yields a ", value->type_name(), ", not a bool")};
}

}  // namespace cdom::sandbox::cel
