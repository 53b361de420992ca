// trivial-driver NODE: a DRA driver that answers kubelet at once, as the measure of what a claim
// costs by itself. Its slice is applied by who starts it; prepared is device-0 of this node,
// without anything for the container.
#include <csignal>
#include <cstdio>
#include <string>
#include <utility>

#include "compute_domain/base/clock.h"
#include "compute_domain/dra/plugin.h"

namespace {

using namespace cdom;  // NOLINT(google-build-using-namespace): a main file

class Trivial : public dra::Driver {
 public:
  explicit Trivial(std::string node) : node_(std::move(node)) {}

  void post(dra::ClaimCall call) override {
    dra::ClaimAnswer answer;
    if (call.operation == dra::Operation::Prepare) {
      answer.devices = {{.requests = {}, .pool = node_, .device = "device-0", .cdi_ids = {}}};
    }
    call.reply(std::move(answer));
  }

 private:
  const std::string node_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: trivial-driver NODE\n");
    return 2;
  }
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);

  const base::SystemClock clock;
  Trivial driver(argv[1]);
  const auto plugin = dra::Plugin::start({.driver = "trivial.example.com"}, driver, clock);
  if (!plugin) {
    std::fprintf(stderr, "trivial-driver: %s\n", plugin.error().message.c_str());
    return 1;
  }
  int signal = 0;
  sigwait(&ends, &signal);
  return 0;
}
