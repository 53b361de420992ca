// Random: a small seeded generator (xorshift64*), the only source of randomness.
//
// The same seed gives the same sequence on every machine, so that a failing run can be replayed.
// Not thread-safe: one owner each.
#pragma once

#include <cstdint>
#include <string>

namespace cdom::base {

class Random {
 public:
  explicit Random(std::uint64_t seed);
  std::uint64_t next();
  // Uniform in [0, bound); 0 when bound is 0.
  std::uint64_t below(std::uint64_t bound);
  // Uniform in [0, 1).
  double unit();
  // True with probability `p`.
  bool chance(double p);
  // An RFC 4122 version 4 UUID in lower case.
  std::string uuid();

 private:
  std::uint64_t state_;
};

// A seed that differs from process to process, from the system's entropy. Only `main` calls it.
std::uint64_t entropy_seed();

}  // namespace cdom::base
