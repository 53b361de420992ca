// Metrics: counters, gauges and histograms, rendered in the Prometheus text format.
//
// A Registry owns its families; a family hands out one instrument per set of label values, created
// on first use and never removed. Instruments are thread-safe and stay valid as long as the
// registry.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace cdom::base {

// A number that can be set, or only counted up: the family says which.
class Number {
 public:
  void add(double by = 1);
  void set(double value);
  [[nodiscard]] double value() const;

 private:
  std::atomic<double> value_{0};
};

class Histogram {
 public:
  // Upper bounds in ascending order, in the unit of the observations (seconds by convention).
  explicit Histogram(std::vector<double> bounds);
  void observe(double value);

  struct Snapshot {
    std::vector<double> bounds;
    std::vector<std::uint64_t> cumulative;  // one per bound
    std::uint64_t count = 0;
    double sum = 0;
  };
  [[nodiscard]] Snapshot snapshot() const;

 private:
  const std::vector<double> bounds_;
  mutable std::mutex mutex_;
  std::vector<std::uint64_t> counts_;
  double sum_ = 0;
};

class Registry {
 public:
  Registry();
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  using Labels = std::map<std::string, std::string>;

  // The instrument of that name and labels, made on first use. `help` counts on first use only.
  // A name used as two types throws std::logic_error.
  Number& counter(std::string_view name, std::string_view help, const Labels& labels = {});
  Number& gauge(std::string_view name, std::string_view help, const Labels& labels = {});
  Histogram& histogram(std::string_view name, std::string_view help, std::vector<double> bounds,
                       const Labels& labels = {});

  // Prometheus text format 0.0.4; families and label sets in alphabetical order.
  [[nodiscard]] std::string render() const;

 private:
  struct Family;
  Family& family(std::string_view name, std::string_view help, std::string_view type);

  mutable std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Family>, std::less<>> families_;
};

}  // namespace cdom::base
