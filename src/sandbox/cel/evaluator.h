// The evaluator: the value of a parsed CEL expression under bindings.
#pragma once

#include "compute_domain/base/result.h"
#include "sandbox/cel/expression.h"
#include "sandbox/cel/program.h"

namespace cdom::sandbox::cel {

base::Result<Value> evaluate(const Expression& root, const Bindings& bindings, int max_steps);

}  // namespace cdom::sandbox::cel
