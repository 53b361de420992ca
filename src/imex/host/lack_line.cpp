#include "imex/host/lack_line.h"

#include "compute_domain/base/text.h"
#include "compute_domain/imex/lacks.h"

namespace cdom::imex {

namespace {

// A message is cut at this length: paths and processes in it have names that others chose.
constexpr std::size_t kLongestMessage = 1024;

}  // namespace

Line line_of(const base::NodeLack& lack) {
  return Line{kLackVerb, {}}
      .with("reason", lack.reason)
      .with("message", base::shortened(lack.message, kLongestMessage))
      .with("type", lack.type)
      .with_number("blocking", lack.is_blocking ? 1 : 0);
}

base::NodeLack lack_of(const Line& line) {
  return {line.text("reason"), base::shortened(line.text("message"), kLongestMessage),
          line.text("type"), line.number("blocking") != 0};
}

void print_check_lines(const std::vector<base::NodeLack>& lacks, std::FILE* out) {
  for (const base::NodeLack& lack : lacks) std::fputs(encode_line(line_of(lack)).c_str(), out);
  std::fputs(encode_line({kLookedVerb, {}}).c_str(), out);
}

}  // namespace cdom::imex
