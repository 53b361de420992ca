#include "sandbox/text/quantity.h"

#include <cctype>
#include <optional>

#include "compute_domain/base/text.h"

namespace cdom::sandbox {

namespace {

constexpr std::int64_t kNano = 1'000'000'000;

// An amount that is not negative, while it is scaled to its unit.
struct Amount {
  std::int64_t whole = 0;
  std::int64_t nano = 0;

  // False when the result does not fit.
  bool multiply(std::int64_t factor) {
    const std::int64_t scaled = nano * factor;  // factor is at most 1024: fits
    nano = scaled % kNano;
    return !__builtin_mul_overflow(whole, factor, &whole) &&
           !__builtin_add_overflow(whole, scaled / kNano, &whole);
  }

  // What is smaller than a billionth is rounded up, as Kubernetes does.
  void divide(std::int64_t divisor) {
    const std::int64_t rest = (whole % divisor) * kNano + nano;
    whole /= divisor;
    nano = (rest + divisor - 1) / divisor;
    whole += nano / kNano;
    nano %= kNano;
  }
};

// How a suffix scales: `factor` applied `times` times, divided when negative.
struct Scale {
  std::int64_t factor = 1000;
  int times = 0;
};

std::optional<Scale> scale_of(std::string_view suffix) {
  constexpr std::string_view kDecimal = "kMGTPE", kBinary = "KMGTPE", kSmall = "mun";
  if (suffix.empty()) return Scale{};
  if (suffix.size() == 2 && suffix[1] == 'i') {
    const auto at = kBinary.find(suffix[0]);
    if (at != std::string_view::npos) return Scale{1024, static_cast<int>(at) + 1};
  }
  if (suffix.size() == 1) {
    const auto up = kDecimal.find(suffix[0]);
    if (up != std::string_view::npos) return Scale{1000, static_cast<int>(up) + 1};
    const auto down = kSmall.find(suffix[0]);
    if (down != std::string_view::npos) return Scale{1000, -static_cast<int>(down) - 1};
  }
  if (suffix.size() > 1 && suffix.size() <= 4 && (suffix[0] == 'e' || suffix[0] == 'E')) {
    const bool negative = suffix[1] == '-';
    const std::string_view digits = suffix.substr(negative || suffix[1] == '+' ? 2 : 1);
    if (digits.empty()) return std::nullopt;
    int exponent = 0;
    for (const char c : digits) {
      if (std::isdigit(static_cast<unsigned char>(c)) == 0) return std::nullopt;
      exponent = exponent * 10 + (c - '0');
    }
    return Scale{10, negative ? -exponent : exponent};
  }
  return std::nullopt;
}

base::Error not_a_quantity(std::string_view text) {
  return {base::ErrorKind::Invalid,
          base::cat("\"", text, "\" is not a quantity; write a number with an optional suffix, as ",
                    "250m, 2, 1.5Gi or 400G")};
}

}  // namespace

base::Result<Quantity> Quantity::parse(std::string_view text) {
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);

  Amount amount;
  bool any_digit = false;
  bool in_fraction = false;
  std::int64_t place = kNano / 10;  // of the next fraction digit; digits past a billionth are cut
  while (!rest.empty()) {
    const char c = rest.front();
    if (c == '.' && !in_fraction) {
      in_fraction = true;
    } else if (std::isdigit(static_cast<unsigned char>(c)) == 0) {
      break;
    } else if (in_fraction) {
      any_digit = true;
      amount.nano += place * (c - '0');
      place /= 10;
    } else {
      any_digit = true;
      if (!amount.multiply(10) || __builtin_add_overflow(amount.whole, c - '0', &amount.whole)) {
        return not_a_quantity(text);
      }
    }
    rest.remove_prefix(1);
  }
  const std::optional<Scale> scale = scale_of(rest);
  if (!any_digit || !scale) return not_a_quantity(text);

  for (int i = 0; i < scale->times; ++i) {
    if (!amount.multiply(scale->factor)) return not_a_quantity(text);
  }
  for (int i = 0; i > scale->times; --i) amount.divide(scale->factor);
  if (!negative) return Quantity(amount.whole, amount.nano);
  return amount.nano == 0 ? Quantity(-amount.whole, 0)
                          : Quantity(-amount.whole - 1, kNano - amount.nano);
}

std::int64_t Quantity::milli_value() const {
  constexpr std::int64_t kMilli = 1'000'000;  // in billionths
  return whole_ * 1000 + (nano_ + kMilli - 1) / kMilli;
}

double Quantity::as_double() const {
  return static_cast<double>(whole_) + static_cast<double>(nano_) / static_cast<double>(kNano);
}

Quantity operator+(Quantity left, Quantity right) {
  const std::int64_t nano = left.nano_ + right.nano_;
  return {left.whole_ + right.whole_ + nano / kNano, nano % kNano};
}

Quantity operator-(Quantity left, Quantity right) {
  const std::int64_t nano = left.nano_ - right.nano_;
  return nano < 0 ? Quantity(left.whole_ - right.whole_ - 1, nano + kNano)
                  : Quantity(left.whole_ - right.whole_, nano);
}

}  // namespace cdom::sandbox
