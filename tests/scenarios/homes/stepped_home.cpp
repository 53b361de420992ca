// The whole system in one thread: time passes as fast as it can be computed. $RESOURCE_VERSION is
// the version of resource.k8s.io that is served, v1 without it.
#include <cstdlib>
#include <optional>

#include "scenarios/homes/home.h"
#include "system/rig.h"

namespace cdom::scenarios {
namespace {

std::string resource_version() {
  const char* value = std::getenv("RESOURCE_VERSION");  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? "v1" : value;
}

class SteppedHome : public Home {
 public:
  explicit SteppedHome(const Size& size)
      : rig_({.racks = size.racks,
              .nodes_per_rack = size.nodes_per_rack,
              .resource_version = resource_version(),
              .shares_claims = size.shares_claims,
              .node_settings = {.isolation = size.by_channel ? api::Isolation::Channel
                                                             : api::Isolation::Domain}}) {}

  http::Client& administrator() override { return rig_.administrator(); }
  const base::Clock& clock() override { return rig_.clock(); }

  bool eventually(const std::function<bool()>& done, base::Duration span) override {
    // What the API server shows changes only with a write.
    std::optional<std::uint64_t> asked;
    const auto has_come = [&] {
      if (asked == rig_.writes()) return false;
      asked = rig_.writes();
      return done();
    };
    return rig_.run_until(has_come, span);
  }

  void restart_controller() override { rig_.crash_controller(); }

 private:
  system_test::Rig rig_;
};

}  // namespace

std::unique_ptr<Home> make_home(const Size& size) { return std::make_unique<SteppedHome>(size); }

}  // namespace cdom::scenarios
