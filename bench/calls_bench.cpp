// calls_bench: what a call of kubelet's costs by itself: a driver that answers at once, behind the
// plugin's sockets, asked after pauses as between two pods; and what the plugin does in between.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "base/directory.h"
#include "compute_domain/base/clock.h"
#include "compute_domain/base/random.h"
#include "compute_domain/dra/plugin.h"
#include "dra/kubelet.h"
#include "figure.h"

namespace {

using namespace cdom;  // NOLINT(google-build-using-namespace): a main file

constexpr int kCalls = 100;
constexpr std::uint64_t kLongestPauseMs = 2200;
constexpr std::chrono::seconds kRest{20};

class AnswersAtOnce : public dra::Driver {
 public:
  void post(dra::ClaimCall call) override { call.reply({}); }
};

// How often a thread of this process has gone to sleep so far, and so was woken.
double wakes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_nvcsw);
}

double milliseconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

}  // namespace

int main() {
  const base::Directory directory;
  for (const char* folder : {"plugins", "registry"}) {
    std::filesystem::create_directories(directory.at(folder));
  }
  const dra::PluginOptions options{.driver = "calls.example.com",
                                   .plugins_dir = directory.at("plugins"),
                                   .registrar_dir = directory.at("registry")};
  const base::SystemClock clock;
  AnswersAtOnce driver;
  const auto plugin = dra::Plugin::start(options, driver, clock);
  if (!plugin) {
    std::fprintf(stderr, "calls_bench: %s\n", plugin.error().message.c_str());
    return 1;
  }
  dra::Kubelet kubelet(dra::socket_paths(options)->dra);
  const dra::Claim claim{.ns = "team-a", .name = "channel", .uid = "0b0c0ad7"};
  base::Random random(1);
  bench::Figure calls{.name = "plugin: NodePrepareResources of a driver that answers at once",
                      .unit = "ms",
                      .samples = {},
                      .bounds = {{"p50", 3}, {"p99", 20}},
                      .note = "after pauses of up to 2.2 s"};
  for (int i = 0; i < kCalls; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(random.below(kLongestPauseMs)));
    const auto start = std::chrono::steady_clock::now();
    if (kubelet.prepare({claim}).code != dra::kOk) return 1;
    calls.samples.push_back(milliseconds(std::chrono::steady_clock::now() - start));
  }
  const double before = wakes();
  std::this_thread::sleep_for(kRest);
  const bench::Figure rest{.name = "plugin: wake-ups at rest",
                           .unit = "per s",
                           .samples = {(wakes() - before) / kRest.count()},
                           .bounds = {},
                           .note = "of all threads, gRPC's too"};
  const bool is_met = bench::print(calls);
  bench::print(rest);
  return is_met ? 0 : 3;
}
