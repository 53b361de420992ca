#include "agent/whole_number.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "compute_domain/base/text.h"

namespace cdom::agent {

std::int64_t whole_number(const nlohmann::json& json, std::int64_t least, std::int64_t most) {
  const auto number = json.is_number_integer() ? json.get<std::int64_t>() : 0;
  const bool is_too_high = json.is_number_unsigned() && number < 0;
  if (!json.is_number_integer() || is_too_high || number < least || number > most) {
    throw std::out_of_range(
        base::cat(json.dump(), " must be a whole number from ", least, " to ", most));
  }
  return number;
}

}  // namespace cdom::agent
