// Who gets which clique, on 278 cliques of 18 nodes: what one decision costs, and what stays free
// for large domains, compared with spreading.
#include <chrono>
#include <cstdio>

#include "compute_domain/api/channel_config.h"
#include "compute_domain/api/names.h"
#include "compute_domain/base/random.h"
#include "compute_domain/base/text.h"
#include "compute_domain/controller/gather.h"
#include "compute_domain/core/placement.h"
#include "figure.h"
#include "fragmentation.h"

namespace {

using namespace cdom;  // NOLINT(google-build-using-namespace): a main file names every module
using base::cat;

constexpr int kCliques = 278, kNodesPerClique = 18;
constexpr int kPlaced = 278, kWaiting = 20;
constexpr int kRuns = 300;

// The controller's stores, filled without a server.
class Cluster {
 public:
  Cluster() {
    for (int c = 0; c < kCliques; ++c) {
      for (int n = 0; n < kNodesPerClique; ++n) add_node(c, n);
    }
    for (int d = 0; d < kPlaced; ++d) add_placed(d);
    for (int d = 0; d < kWaiting; ++d) add_domain(cat("waiting-", d), 16);
    reservations_.meta.uid = "reservations";
    filled_.of<api::ConfigMap>().put(controller::stored(reservations_));
  }

  [[nodiscard]] core::PlacementWorld gathered() {
    return controller::gather_placement({stores_, memory_, settings_, clock_, workloads_});
  }

 private:
  static std::string node_name(int clique, int node) { return cat("r", clique, "n", node); }
  static std::string clique_name(int clique) {
    return cat("6f0a5a5e-0000-4000-8000-", 100'000'000'000 + clique, ".32766");
  }

  void add_node(int clique, int number) {
    api::Node node;
    node.meta.name = node_name(clique, number);
    node.ready = api::ConditionStatus::True;
    filled_.of<api::Node>().put(std::move(node));
    api::ResourceSlice slice;
    slice.meta.name = cat(node_name(clique, number), "-compute-domain.nvidia.com-x7k2p");
    slice.driver = api::kDriver;
    slice.node = slice.pool = node_name(clique, number);
    slice.devices = {{.name = "channel-0",
                      .attributes = {{"type", std::string("channel")},
                                     {"id", std::int64_t{0}},
                                     {"clique", clique_name(clique)}}}};
    filled_.of<api::ResourceSlice>().put(std::move(slice));
  }

  std::string add_domain(const std::string& name, int nodes) {
    api::ComputeDomain domain;
    domain.meta.name = name;
    domain.meta.ns = "default";
    domain.meta.uid = cat("uid-", name);
    domain.spec.num_nodes = nodes;
    domain.spec.channel = api::ComputeDomainChannel{.template_name = name};
    domain.spec.placement = api::ComputeDomainPlacement{api::CliquePlacement::Single};
    filled_.of<api::ComputeDomain>().put(domain);
    return domain.meta.uid;
  }

  // Half of what it was reserved is taken.
  void add_placed(int number) {
    const int nodes = 4 + number % 9;
    const std::string uid = add_domain(cat("placed-", number), nodes);
    reservations_.meta.name = core::kReservationsName;
    reservations_.meta.ns = settings_.operator_namespace;
    reservations_.data[uid] =
        cat(nodes, " seats of ", clique_name(number), " generation ", number + 1);
    for (int n = 0; n < nodes / 2; ++n) {
      api::ResourceClaim claim;
      claim.meta.name = cat("claim-", number, "-", n);
      claim.meta.ns = "default";
      claim.spec.configs = {{.requests = {},
                             .driver = api::kDriver,
                             .parameters = api::encode_channel_config({.domain_uid = uid})}};
      claim.allocation = api::Allocation{.devices = {{.request = "channel",
                                                      .driver = api::kDriver,
                                                      .pool = node_name(number, n),
                                                      .device = "channel-0"}},
                                         .configs = claim.spec.configs,
                                         .node = node_name(number, n)};
      filled_.of<api::ResourceClaim>().put(std::move(claim));
    }
  }

  controller::FilledStores filled_;
  const controller::Stores stores_ = filled_.view();
  controller::Memory memory_;
  core::Settings settings_;
  base::SystemClock clock_;
  controller::Workloads workloads_;
  api::ConfigMap reservations_;
};

template <class Work>
std::vector<double> milliseconds_of(Work work) {
  std::vector<double> samples;
  samples.reserve(kRuns);
  for (int run = 0; run < kRuns; ++run) {
    const auto start = std::chrono::steady_clock::now();
    work();
    samples.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
            .count());
  }
  return samples;
}

void measure_decision() {
  Cluster cluster;
  const core::PlacementWorld world = cluster.gathered();
  std::size_t chosen = 0;
  const auto decide = [&](const core::PlacementWorld& of) {
    chosen += core::place(of).verdicts.size();
  };
  const std::string note = cat(kPlaced, " domains placed, ", kWaiting, " wait");
  bench::print({"placement: one decision on 278 cliques of 18 nodes",
                "ms",
                milliseconds_of([&] { decide(world); }),
                {{"p99", 5}},
                note});
  bench::print({"placement: the same with gathering it from the caches",
                "ms",
                milliseconds_of([&] { decide(cluster.gathered()); }),
                {},
                note});
  if (chosen == 0) std::printf("nothing was decided\n");
}

double share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

void tell_fragmentation(double load) {
  struct Named {
    bench::Rule rule;
    const char* name;
  };
  for (const Named& each : {Named{bench::Rule::BestFit, "BestFit"},
                            Named{bench::Rule::MostFree, "one clique, the emptiest"},
                            Named{bench::Rule::Scattered, "pods spread without placement"}}) {
    std::vector<double> refused, split, whole, used;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const bench::Fragmentation found = bench::simulate(each.rule, load, seed);
      refused.push_back(share(found.refused_large, found.large));
      split.push_back(share(found.split, found.arrivals - found.refused));
      whole.push_back(bench::quantile(found.whole_cliques, 0.5));
      used.push_back(bench::quantile(found.used, 0.5));
    }
    const std::string head =
        cat("placement: load ", static_cast<int>(100 * load), " %, ", each.name);
    bench::print({head + ": domains of 16 and more refused", "%", refused, {}, "simulated"});
    bench::print({head + ": domains split over cliques", "%", split, {}, "simulated"});
    bench::print({head + ": cliques with 16 free seats", "cliques", whole, {}, "of 278"});
    bench::print({head + ": seats in use", "%", used, {}, "simulated"});
  }
}

}  // namespace

int main() {
  measure_decision();
  for (const double load : {0.7, 0.9}) tell_fragmentation(load);
  return 0;
}
