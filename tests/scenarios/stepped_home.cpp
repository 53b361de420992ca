// The whole system in one thread: time passes as fast as it can be computed. $RESOURCE_VERSION is
// the version of resource.k8s.io that is served, v1 without it. With $CONTROLLER_WRITES=N a
// controller dies after each N of its writes, and the next one starts.
#include <cstdlib>
#include <optional>

#include "scenarios/home.h"
#include "system/rig.h"

namespace cdom::scenarios {
namespace {

std::string resource_version() {
  const char* value = std::getenv("RESOURCE_VERSION");  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? "v1" : value;
}

// 0: as many as it likes.
int writes_of_a_controller() {
  const char* value = std::getenv("CONTROLLER_WRITES");  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? 0 : std::stoi(value);
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
    const base::Duration end = rig_.elapsed() + span;
    bool is_so = false;
    const auto has_come_or_dies = [&] { return (is_so = has_come()) || controller_dies(); };
    while (rig_.run_until(has_come_or_dies, end - rig_.elapsed())) {
      if (is_so) return true;
      restart_controller();
    }
    return false;
  }

  void restart_controller() override {
    rig_.crash_controller();
    writes_before_ = writes_of_controllers();
  }

 private:
  [[nodiscard]] bool controller_dies() {
    return writes_allowed_ > 0 && writes_of_controllers() >= writes_before_ + writes_allowed_;
  }
  [[nodiscard]] int writes_of_controllers() {
    return rig_.requests().count([](const system_test::WriteRequest& write) {
      return write.user.ends_with(":compute-domain-controller") && write.resource != "events";
    });
  }

  const int writes_allowed_ = writes_of_a_controller();
  int writes_before_ = 0;
  system_test::Rig rig_;
};

}  // namespace

std::unique_ptr<Home> make_home(const Size& size) { return std::make_unique<SteppedHome>(size); }

}  // namespace cdom::scenarios
