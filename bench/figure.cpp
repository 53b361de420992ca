#include "figure.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "compute_domain/base/text.h"

namespace cdom::bench {

namespace {

// Three digits that mean something, and no exponent.
std::string number(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e9) {
    return std::to_string(static_cast<long long>(value));
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", value >= 100 ? 0 : value >= 10 ? 1 : 2, value);
  return text;
}

double statistic(const Figure& figure, const std::string& name) {
  if (name == "p50") return quantile(figure.samples, 0.5);
  if (name == "p99") return quantile(figure.samples, 0.99);
  return quantile(figure.samples, name == "min" ? 0 : 1);
}

}  // namespace

double quantile(std::vector<double> samples, double share) {
  if (samples.empty()) return NAN;
  std::ranges::sort(samples);
  const auto rank =
      static_cast<std::size_t>(std::ceil(share * static_cast<double>(samples.size())));
  return samples[std::clamp<std::size_t>(rank, 1, samples.size()) - 1];
}

bool print(const Figure& figure) {
  bool holds = !figure.samples.empty();
  std::vector<std::string> targets;
  for (const Bound& bound : figure.bounds) {
    const bool is_most = bound.side == Bound::Side::AtMost;
    targets.push_back(base::cat(bound.statistic, is_most ? " <= " : " >= ", number(bound.limit)));
    const double value = statistic(figure, bound.statistic);
    holds = holds && (is_most ? value <= bound.limit : value >= bound.limit);
  }
  const auto column = [&](const char* name) {
    return figure.samples.empty() ? std::string("-") : number(statistic(figure, name));
  };
  const std::string verdict = figure.samples.empty()  ? "FAILED"
                              : figure.bounds.empty() ? "info"
                              : holds                 ? "met"
                                                      : "MISSED";
  std::printf("%s\t%s\t%zu\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", figure.name.c_str(), figure.unit.c_str(),
              figure.samples.size(), column("p50").c_str(), column("p99").c_str(),
              column("min").c_str(), column("max").c_str(), base::join(targets, ", ").c_str(),
              verdict.c_str(), figure.note.c_str());
  std::fflush(stdout);
  return holds;
}

}  // namespace cdom::bench
