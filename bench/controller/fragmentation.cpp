#include "fragmentation.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <numeric>

#include "compute_domain/base/random.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/placement.h"

namespace cdom::bench {

namespace {

using core::Seat;

constexpr int kCliques = 278;
constexpr int kLarge = 16;
constexpr std::int64_t kArrivals = 6'000, kWarmUp = 2'000;
constexpr std::array kCliqueSizes{18, 18, 18, 18, 18, 18, 16, 16, 8};
constexpr std::array kDomainSizes{1, 2, 2, 4, 4, 4, 8, 8, 9, 12, 16, 16, 18};

struct Place {
  std::size_t clique = 0, seat = 0;
};

class Simulation {
 public:
  Simulation(Rule rule, double load, std::uint64_t seed) : rule_(rule), random_(seed), luck_(seed) {
    std::int64_t seats = 0;
    for (int c = 0; c < kCliques; ++c) {
      core::CliqueSeats clique{.clique = base::cat("rack-", c), .seats = {}};
      const int size = kCliqueSizes[static_cast<std::size_t>(c) % kCliqueSizes.size()];
      for (int n = 0; n < size; ++n) {
        clique.seats.push_back({base::cat("rack-", c, "-", n), Seat::State::Free});
      }
      seats += size;
      free_.push_back(size);
      world_.cliques.push_back(std::move(clique));
    }
    total_ = seats;
    const double mean = std::accumulate(kDomainSizes.begin(), kDomainSizes.end(), 0.0) /
                        static_cast<double>(kDomainSizes.size());
    // In arrivals; twice the mean is the longest life.
    mean_life_ = static_cast<std::uint64_t>(load * static_cast<double>(seats) / mean);
  }

  Fragmentation run() {
    for (std::int64_t now = 0; now < kArrivals; ++now) {
      end_those_due(now);
      const int size = kDomainSizes[random_.below(kDomainSizes.size())];
      const std::int64_t end = now + 1 + static_cast<std::int64_t>(random_.below(2 * mean_life_));
      const std::vector<Place> places = choose(size);
      take(places, Seat::State::InUse);
      if (!places.empty()) ends_.emplace(end, places);
      if (now >= kWarmUp) count(size, places);
    }
    return std::move(result_);
  }

 private:
  void end_those_due(std::int64_t now) {
    while (!ends_.empty() && ends_.begin()->first <= now) {
      take(ends_.begin()->second, Seat::State::Free);
      ends_.erase(ends_.begin());
    }
  }

  void take(const std::vector<Place>& places, Seat::State state) {
    const int by = state == Seat::State::Free ? 1 : -1;
    for (const Place& place : places) {
      world_.cliques[place.clique].seats[place.seat].state = state;
      free_[place.clique] += by;
    }
  }

  std::vector<Place> free_seats_of(std::size_t clique, int most) const {
    std::vector<Place> places;
    const auto& seats = world_.cliques[clique].seats;
    for (std::size_t i = 0; i < seats.size() && std::ssize(places) < most; ++i) {
      if (seats[i].state == Seat::State::Free) places.push_back({clique, i});
    }
    return places;
  }

  std::vector<Place> choose(int size) {
    if (rule_ == Rule::Scattered) return scattered(size);
    if (rule_ == Rule::MostFree) {
      const auto most = std::ranges::max_element(free_);
      if (*most < size) return {};
      return free_seats_of(static_cast<std::size_t>(most - free_.begin()), size);
    }
    world_.domains = {core::PlacementDomain{.uid = "domain", .name = {}, .num_nodes = size}};
    for (const core::Action& action : core::place(world_).plan.actions) {
      const auto* write = std::get_if<core::WriteReservations>(&action);
      if (write == nullptr) continue;
      const std::string clique = core::reservation_in(write->desired, "domain")->clique;
      return free_seats_of(std::stoul(clique.substr(5)), size);
    }
    return {};
  }

  std::vector<Place> scattered(int size) {
    std::vector<Place> all;
    for (std::size_t c = 0; c < free_.size(); ++c) {
      const std::vector<Place> of_it = free_seats_of(c, free_[c]);
      all.insert(all.end(), of_it.begin(), of_it.end());
    }
    if (std::ssize(all) < size) return {};
    for (std::size_t i = 0; i < static_cast<std::size_t>(size); ++i) {
      std::swap(all[i], all[i + luck_.below(all.size() - i)]);
    }
    all.resize(static_cast<std::size_t>(size));
    return all;
  }

  void count(int size, const std::vector<Place>& places) {
    ++result_.arrivals;
    if (size >= kLarge) ++result_.large;
    if (places.empty()) {
      ++result_.refused;
      if (size >= kLarge) ++result_.refused_large;
    }
    if (std::ranges::any_of(
            places, [&](const Place& place) { return place.clique != places.front().clique; })) {
      ++result_.split;
    }
    const std::int64_t free = std::accumulate(free_.begin(), free_.end(), std::int64_t{0});
    result_.used.push_back(100.0 * static_cast<double>(total_ - free) /
                           static_cast<double>(total_));
    result_.whole_cliques.push_back(
        static_cast<double>(std::ranges::count_if(free_, [](int f) { return f >= kLarge; })));
  }

  const Rule rule_;
  base::Random random_, luck_;  // of what comes, and of where it goes
  core::PlacementWorld world_;
  std::vector<int> free_;  // seats, by clique
  std::multimap<std::int64_t, std::vector<Place>> ends_;
  std::int64_t total_ = 0;
  std::uint64_t mean_life_ = 1;
  Fragmentation result_;
};

}  // namespace

Fragmentation simulate(Rule rule, double load, std::uint64_t seed) {
  return Simulation(rule, load, seed).run();
}

}  // namespace cdom::bench
