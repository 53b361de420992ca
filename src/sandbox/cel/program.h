// Program: a compiled expression of the part of CEL that Kubernetes objects of this project use.
//
// compile() refuses, by name, every construct that it does not understand and every variable that
// is not declared. evaluate() yields a value or CEL's runtime error ("no such key: clique"): errors
// are never taken for false, as a DRA selector that fails aborts the allocation. Immutable.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compute_domain/base/result.h"
#include "sandbox/cel/value.h"

namespace cdom::sandbox::cel {

struct Expression;

using Bindings = std::map<std::string, Value, std::less<>>;

class Program {
 public:
  // An evaluation that takes more than kMaxSteps steps is an error.
  static constexpr int kMaxSteps = 1'000'000;

  // Every declared variable that the expression reads has to be bound.
  [[nodiscard]] base::Result<Value> evaluate(const Bindings& bindings) const;
  // As evaluate(); anything but a bool is an error.
  [[nodiscard]] base::Result<bool> evaluate_bool(const Bindings& bindings) const;

  // Whether the expression reads the declared variable, e.g. oldSelf.
  [[nodiscard]] bool reads(std::string_view variable) const { return reads_.contains(variable); }
  [[nodiscard]] const std::string& expression() const { return expression_; }

 private:
  friend base::Result<Program> compile(std::string_view, const std::vector<std::string>&);
  Program() = default;

  std::string expression_;
  std::shared_ptr<const Expression> root_;
  std::set<std::string, std::less<>> reads_;
};

base::Result<Program> compile(std::string_view expression,
                              const std::vector<std::string>& variables);

}  // namespace cdom::sandbox::cel
