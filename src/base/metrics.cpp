#include "compute_domain/base/metrics.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "compute_domain/base/text.h"

namespace cdom::base {

namespace {

std::string escaped(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

// {a="1",b="2"}, with `extra` (already rendered) as the last pair; "" when there is none.
std::string rendered(const Registry::Labels& labels, std::string_view extra = {}) {
  std::vector<std::string> pairs;
  for (const auto& [key, value] : labels) pairs.push_back(cat(key, "=\"", escaped(value), "\""));
  if (!extra.empty()) pairs.emplace_back(extra);
  return pairs.empty() ? "" : cat("{", join(pairs, ","), "}");
}

std::string number(double value) {
  char out[40];
  if (value == std::floor(value) && std::abs(value) < 1e15) {
    std::snprintf(out, sizeof out, "%.0f", value);
  } else {
    std::snprintf(out, sizeof out, "%.15g", value);
  }
  return out;
}

}  // namespace

void Number::add(double by) {
  double seen = value_.load();
  while (!value_.compare_exchange_weak(seen, seen + by)) {
  }
}

void Number::set(double value) { value_.store(value); }
double Number::value() const { return value_.load(); }

Histogram::Histogram(std::vector<double> bounds)
    : bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {}

void Histogram::observe(double value) {
  const auto bucket = std::ranges::lower_bound(bounds_, value) - bounds_.begin();
  const std::scoped_lock lock(mutex_);
  ++counts_[static_cast<std::size_t>(bucket)];
  sum_ += value;
}

Histogram::Snapshot Histogram::snapshot() const {
  const std::scoped_lock lock(mutex_);
  Snapshot out{.bounds = bounds_, .cumulative = {}, .count = 0, .sum = sum_};
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    out.count += counts_[i];
    if (i < bounds_.size()) out.cumulative.push_back(out.count);
  }
  return out;
}

struct Registry::Family {
  std::string help;
  std::string type;
  std::map<Labels, std::unique_ptr<Number>> numbers;
  std::map<Labels, std::unique_ptr<Histogram>> histograms;
};

Registry::Registry() = default;
Registry::~Registry() = default;

Registry::Family& Registry::family(std::string_view name, std::string_view help,
                                   std::string_view type) {
  auto it = families_.find(name);
  if (it == families_.end()) {
    it = families_.emplace(std::string(name), std::make_unique<Family>()).first;
    it->second->help = help;
    it->second->type = type;
  }
  if (it->second->type != type) {
    throw std::logic_error(cat("metric ", name, " is a ", it->second->type, ", not a ", type));
  }
  return *it->second;
}

Number& Registry::counter(std::string_view name, std::string_view help, const Labels& labels) {
  const std::scoped_lock lock(mutex_);
  auto& slot = family(name, help, "counter").numbers[labels];
  if (!slot) slot = std::make_unique<Number>();
  return *slot;
}

Number& Registry::gauge(std::string_view name, std::string_view help, const Labels& labels) {
  const std::scoped_lock lock(mutex_);
  auto& slot = family(name, help, "gauge").numbers[labels];
  if (!slot) slot = std::make_unique<Number>();
  return *slot;
}

Histogram& Registry::histogram(std::string_view name, std::string_view help,
                               std::vector<double> bounds, const Labels& labels) {
  const std::scoped_lock lock(mutex_);
  auto& slot = family(name, help, "histogram").histograms[labels];
  if (!slot) slot = std::make_unique<Histogram>(std::move(bounds));
  return *slot;
}

std::string Registry::render() const {
  const std::scoped_lock lock(mutex_);
  std::string out;
  for (const auto& [name, family] : families_) {
    out += cat("# HELP ", name, " ", family->help, "\n# TYPE ", name, " ", family->type, "\n");
    for (const auto& [labels, value] : family->numbers) {
      out += cat(name, rendered(labels), " ", number(value->value()), "\n");
    }
    for (const auto& [labels, histogram] : family->histograms) {
      const Histogram::Snapshot s = histogram->snapshot();
      for (std::size_t i = 0; i < s.bounds.size(); ++i) {
        out += cat(name, "_bucket", rendered(labels, cat("le=\"", number(s.bounds[i]), "\"")), " ",
                   s.cumulative[i], "\n");
      }
      out += cat(name, "_bucket", rendered(labels, "le=\"+Inf\""), " ", s.count, "\n");
      out += cat(name, "_sum", rendered(labels), " ", number(s.sum), "\n");
      out += cat(name, "_count", rendered(labels), " ", s.count, "\n");
    }
  }
  return out;
}

}  // namespace cdom::base
