#include "sandbox/cel/functions.h"

#include <algorithm>

#include "compute_domain/base/text.h"

namespace cdom::sandbox::cel {

namespace {

template <class Matches>
const Function* find_if(Matches matches) {
  for (const std::span<const Function> table :
       {operators(), text_functions(), collection_functions(), conversions(),
        quantity_functions()}) {
    const auto found = std::ranges::find_if(table, matches);
    if (found != table.end()) return &*found;
  }
  return nullptr;
}

}  // namespace

const Function* find_function(std::string_view name, bool is_member, std::size_t arguments) {
  return find_if([&](const Function& function) {
    return function.name == name && function.is_member == is_member &&
           function.arguments == arguments;
  });
}

bool is_function(std::string_view name) {
  return find_if([&](const Function& function) { return function.name == name; }) != nullptr;
}

base::Error no_such_overload(std::string_view name, std::span<const Value> arguments) {
  std::vector<std::string> types;
  for (const Value& argument : arguments) types.emplace_back(argument.type_name());
  return {base::ErrorKind::Invalid,
          base::cat("no such overload: ", name, "(", base::join(types, ", "), ")")};
}

}  // namespace cdom::sandbox::cel
