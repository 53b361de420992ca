// compute-domain-controller: forms and takes down IMEX domains, as the ComputeDomains of a cluster
// ask for. Sub-command `plan`: what it would do with the objects of some files.
#include <malloc.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stop_token>
#include <thread>

#include "cli/health_server.h"
#include "cli/signals.h"
#include "compute_domain/base/log.h"
#include "compute_domain/base/random.h"
#include "compute_domain/base/text.h"
#include "compute_domain/controller/controller.h"
#include "compute_domain/controller/predecessor.h"
#include "compute_domain/http/client.h"
#include "compute_domain/kube/client.h"
#include "compute_domain/kube/kubeconfig.h"
#include "compute_domain/kube/leader_only.h"
#include "controller/main/controller_flags.h"
#include "controller/main/election.h"
#include "controller/main/plan_command.h"
#include "controller/main/predecessor_watch.h"

namespace {

using namespace cdom;  // NOLINT(google-build-using-namespace): a main file names every module
using base::cat;

constexpr const char* kProgram = program::kControllerProgram;
// Longer than the worst plan takes, whose every request takes as long as it may.
constexpr base::Duration kStuck = std::chrono::minutes(5);

std::string environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): before any thread
  return value == nullptr ? "" : value;
}

int fail(const std::string& what) {
  std::fprintf(stderr, "%s: %s\n", kProgram, what.c_str());
  return 1;
}

std::string at_work(const std::string& predecessor) {
  return cat(
      "another ComputeDomain controller is at work (", predecessor,
      "), and two would undo each other's work: scale it to zero or uninstall it, then start "
      "this one again");
}

int run_controller(const program::ControllerFlags& flags, cli::Signals& signals) {
  const base::SystemClock clock;
  base::Registry metrics;
  auto access = kube::find_cluster(flags.kubeconfig, environment);
  if (!access) return cli::usage_error(kProgram, access.error().message);
  access->http.user_agent = cat(kProgram, "/", CDOM_VERSION);
  const std::string server = access->http.base_url;
  const auto transport = http::make_client(access->http, clock);
  const std::string pod = environment("POD_NAME");
  const std::uint64_t seed = base::entropy_seed();

  // From here on three things end the work: a signal, the loss of leadership, and a predecessor.
  std::stop_source leave;
  std::atomic<bool> has_lost = false;
  base::Pulses pulses(clock, kStuck);
  std::optional<program::Election> election;
  if (flags.elect) {
    election.emplace(access->http, clock, program::election_of(flags, pod, seed), metrics, pulses,
                     [&] {
                       has_lost = true;
                       leave.request_stop();
                     });
  }
  const auto is_leading = [&election] { return !election || election->is_leading(); };
  kube::LeaderOnly gate(*transport, is_leading);
  kube::Client client(gate, clock, kProgram, &metrics);
  const std::stop_callback on_signal(signals.token(), [&leave] { leave.request_stop(); });
  // A server that does not answer is waited for; only a wrong one is told at once.
  while (!leave.stop_requested()) {
    const auto discovered = client.discover();
    if (discovered) break;
    if (discovered.error().kind != base::ErrorKind::Unavailable) {
      return fail(cat(discovered.error().message, " (", access->source, ")"));
    }
    base::log_warning("the API server does not answer; trying again",
                      {{"server", server}, {"error", discovered.error().message}});
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }

  // Whoever waits for its turn looks as well: hence past the gate.
  const kube::Client onlooker(*transport, clock, kProgram, &metrics);
  if (const auto other =
          controller::find_predecessor(onlooker, controller::Look::AtDeployments, flags.ns)) {
    return fail(at_work(*other));
  }
  std::string predecessor;  // that was found later
  std::optional<program::PredecessorWatch> predecessor_watch;
  predecessor_watch.emplace(onlooker, pulses, flags.ns, [&](const std::string& found) {
    predecessor = found;
    leave.request_stop();
  });

  controller::Controller loop(client, clock, metrics,
                              {.settings = program::settings_of(flags),
                               .node_namespace = flags.node_ns,
                               .workers = flags.workers,
                               .instance = pod.empty() ? kProgram : pod,
                               .seed = seed,
                               .is_leading = is_leading,
                               .pulses = &pulses});
  std::unique_ptr<http::Server> health;
  if (!flags.health.listen.empty()) {
    // Who waits for its turn asks who reads its metrics, too.
    auto served =
        cli::serve_health(flags.health, {.metrics = metrics,
                                         .pulses = pulses,
                                         .not_ready = [&loop] { return loop.not_ready(); },
                                         .api_server = onlooker,
                                         .clock = clock});
    if (!served) return cli::usage_error(kProgram, served.error().message);
    health = std::move(*served);
  }
  base::log_info("starting", {{"server", server},
                              {"from", access->source},
                              {"namespace", flags.ns},
                              {"health", health ? health->address() : "off"}});
  const std::stop_callback on_stop(leave.get_token(), [&] { transport->shut_down(); });
  const base::Result<void> done = loop.run(leave.get_token());
  transport->shut_down();
  predecessor_watch.reset();
  if (!done) return fail(done.error().message);
  if (!predecessor.empty()) return fail(at_work(predecessor));
  if (has_lost) return fail("another process may lead now; this one ends, to start afresh");
  base::log_info("stopped");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  // Some twenty threads that take turns: an arena of memory for each of them would hold its own
  // leftovers of every list that was ever decoded.
  mallopt(M_ARENA_MAX, 2);  // NOLINT(concurrency-mt-unsafe): there is one thread
  cli::Signals signals;     // before any thread, and the library's are the first
  http::initialize_process();
  program::ControllerFlags flags;
  const cli::Parsed parsed = cli::parse(argc, argv, program::command_line_of(flags));
  if (parsed.exit_code) return *parsed.exit_code;
  if (parsed.sub_command == "plan") return program::run_plan(flags, parsed.arguments);
  return run_controller(flags, signals);
}
