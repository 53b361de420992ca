// Quantity: a Kubernetes resource quantity ("400G", "1.5Gi", "250m"), exact to a billionth.
//
// A value; compares by amount, so that 1Gi == 1024Mi.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

#include "compute_domain/base/result.h"

namespace cdom::sandbox {

class Quantity {
 public:
  Quantity() = default;
  explicit Quantity(std::int64_t whole) : whole_(whole) {}

  static base::Result<Quantity> parse(std::string_view text);

  // Rounded up, as Kubernetes' Value().
  [[nodiscard]] std::int64_t value() const { return whole_ + (nano_ > 0 ? 1 : 0); }
  // In thousandths, rounded up, as MilliValue(); for CPU.
  [[nodiscard]] std::int64_t milli_value() const;
  [[nodiscard]] bool is_integer() const { return nano_ == 0; }
  [[nodiscard]] double as_double() const;
  [[nodiscard]] int sign() const { return whole_ < 0 ? -1 : (whole_ > 0 || nano_ > 0) ? 1 : 0; }

  friend Quantity operator+(Quantity left, Quantity right);
  friend Quantity operator-(Quantity left, Quantity right);
  friend auto operator<=>(const Quantity&, const Quantity&) = default;

 private:
  Quantity(std::int64_t whole, std::int64_t nano) : whole_(whole), nano_(nano) {}

  // whole_ + nano_ / 1e9, where 0 <= nano_ < 1e9 also for negative amounts.
  std::int64_t whole_ = 0;
  std::int64_t nano_ = 0;
};

}  // namespace cdom::sandbox
