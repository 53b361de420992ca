// The functions and operators of CEL that evaluate all their operands: a table from name and shape
// to code. What is not in it does not compile.
#pragma once

#include <span>
#include <string_view>

#include "compute_domain/base/result.h"
#include "sandbox/cel/value.h"

namespace cdom::sandbox::cel {

struct Function {
  std::string_view name;
  bool is_member = false;     // called on a receiver, which is then the first argument
  std::size_t arguments = 0;  // the receiver included
  base::Result<Value> (*evaluate)(std::span<const Value> arguments) = nullptr;
};

// Operators have their sign for a name ("+", "==", "in"; unary minus is "-" with one argument).
const Function* find_function(std::string_view name, bool is_member, std::size_t arguments);
// Whether the name is known at all, for a better error.
bool is_function(std::string_view name);

// The tables that find_function() searches.
std::span<const Function> operators();
std::span<const Function> text_functions();
std::span<const Function> collection_functions();
std::span<const Function> conversions();
std::span<const Function> quantity_functions();

// "no such overload: size(int)".
base::Error no_such_overload(std::string_view name, std::span<const Value> arguments);

}  // namespace cdom::sandbox::cel
