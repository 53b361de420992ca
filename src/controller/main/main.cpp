// compute-domain-controller: forms and takes down IMEX domains, as the ComputeDomains of a cluster
// ask for. Sub-command `plan`: what it would do with the objects of some files.
#include <malloc.h>

#include <optional>
#include <stop_token>
#include <thread>

#include "cli/environment.h"
#include "cli/health/health_server.h"
#include "cli/health/metrics_access.h"
#include "cli/signals.h"
#include "cli/spare_memory.h"
#include "compute_domain/base/log.h"
#include "compute_domain/base/pause.h"
#include "compute_domain/base/random.h"
#include "compute_domain/base/text.h"
#include "compute_domain/controller/controller.h"
#include "compute_domain/controller/definitions.h"
#include "compute_domain/controller/predecessor.h"
#include "compute_domain/http/client.h"
#include "compute_domain/kube/client.h"
#include "compute_domain/kube/kubeconfig.h"
#include "compute_domain/kube/leader_only.h"
#include "compute_domain/plugin/read_cluster.h"
#include "controller/main/controller_flags.h"
#include "controller/main/definition_watch.h"
#include "controller/main/election.h"
#include "controller/main/ending.h"
#include "controller/main/page_server.h"
#include "controller/main/plan_command.h"
#include "controller/main/predecessor_watch.h"

namespace {

using namespace cdom;  // NOLINT(google-build-using-namespace): a main file names every module
using base::cat;

constexpr const char* kProgram = program::kControllerProgram;
// A worker beats its pulse before each action, and within those that send many requests. Longer
// than any other takes whose every request takes as long as it may.
constexpr base::Duration kStuck = std::chrono::minutes(5);
constexpr base::Duration kBetweenLooksForSpareMemory = std::chrono::seconds(5);

// A server that does not answer is waited for; only a wrong one is an error at once.
base::Result<void> meet(kube::Client& client, const std::string& server,
                        const std::stop_token& leave) {
  while (!leave.stop_requested()) {
    auto discovered = client.discover();
    if (discovered) return discovered;
    if (discovered.error().kind != base::ErrorKind::Unavailable) {
      return kube::with_credentials_remedy(discovered.error());
    }
    base::log_warning("the API server does not answer; trying again",
                      {{"server", server}, {"error", discovered.error().message}});
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  return {};
}

int run_controller(const program::ControllerFlags& flags, const cli::Signals& signals) {
  auto access = kube::find_cluster(flags.cluster.kubeconfig, cli::variable);
  if (!access) return cli::usage_error(kProgram, access.error().message);
  access->http.user_agent = cat(kProgram, "/", CDOM_VERSION);
  const std::string server = http::without_user(access->http.base_url);
  const std::string pod = cli::variable("POD_NAME");
  const std::uint64_t seed = base::entropy_seed();

  const base::SystemClock clock;
  base::Registry metrics;
  base::Pulses pulses(clock, kStuck);
  const auto transport = http::make_client(access->http, clock);
  program::Ending ending(signals.token());

  std::optional<program::Election> election;
  if (flags.elect) {
    election.emplace(access->http, clock, program::election_of(flags, pod, seed), metrics, pulses,
                     [&ending] { ending.leadership_lost(); });
  }
  const auto is_leading = [&election] { return !election || election->is_leading(); };
  kube::LeaderOnly gate(*transport, is_leading);
  kube::Client client(gate, clock, kProgram, &metrics);
  // Past the gate: what a controller needs while another one leads.
  const kube::Client onlooker(*transport, clock, kProgram, &metrics);
  if (const auto met = meet(client, server, ending.token()); !met) {
    return cli::failure(kProgram, cat(met.error().message, " (", access->source, ")"));
  }

  if (const auto other = controller::find_predecessor(onlooker, controller::Look::AtDeployments,
                                                      flags.cluster.ns)) {
    return cli::failure(kProgram, program::at_work(*other));
  }
  std::optional<program::PredecessorWatch> predecessor_watch;
  predecessor_watch.emplace(onlooker, pulses, flags.cluster.ns,
                            [&ending](const auto& found) { ending.predecessor_found(found); });

  std::vector<api::Definition> definitions = controller::expected_definitions();
  if (!flags.fill_cliques) {
    std::erase_if(definitions, [](const api::Definition& definition) {
      return definition.meta.name.starts_with("computedomaincliques.");
    });
  }
  std::optional<program::DefinitionWatch> definition_watch;
  definition_watch.emplace(
      program::DefinitionWatch::Ports{client, clock, metrics, pulses}, std::move(definitions),
      kube::EventSource{
          .component = kProgram, .instance = pod.empty() ? kProgram : pod, .seed = seed + 1},
      is_leading);

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
    auto served = cli::serve_health(
        flags.health,
        {.metrics = metrics,
         .pulses = pulses,
         .not_ready = [&loop] { return loop.not_ready(); },
         .readers = cli::readers_of(flags.health.metrics_path, flags.health, onlooker, clock),
         .clock = clock,
         .more_metrics = [&loop] { return loop.scraped_metrics(); }});
    if (!served) return cli::usage_error(kProgram, served.error().message);
    health = std::move(*served);
  }
  // A client of its own: each view first asks which kinds the server has.
  kube::Client reader(*transport, clock, kProgram, &metrics);
  program::PageMaker pages(
      [&] {
        return plugin::read_cluster(reader, {.operators = flags.cluster.ns, .nodes = flags.node_ns},
                                    clock);
      },
      pod.empty() ? kProgram : pod, clock);
  std::unique_ptr<http::Server> page;
  if (!flags.debug_listen.empty()) {
    auto served =
        program::serve_page(flags.health, flags.debug_listen, pages,
                            cli::readers_of(program::kPagePath, flags.health, onlooker, clock));
    if (!served) return cli::usage_error(kProgram, served.error().message);
    page = std::move(*served);
  }
  base::log_info("starting", {{"server", server},
                              {"from", access->source},
                              {"namespace", flags.cluster.ns},
                              {"health", health ? health->address() : "off"},
                              {"page", page ? page->address() : "off"}});
  const std::stop_callback on_stop(ending.token(), [&] { transport->shut_down(); });
  // After a start there is as much of it as the caches take: each Node has brought its keys.
  const std::jthread spare_memory([&clock](const std::stop_token& stop) {
    cli::SpareMemory spare(clock);
    while (base::pause(stop, kBetweenLooksForSpareMemory)) spare.look();
  });
  const base::Result<void> done = loop.run(ending.token());
  transport->shut_down();
  predecessor_watch.reset();
  definition_watch.reset();
  if (!done) return cli::failure(kProgram, done.error().message);
  if (const std::string fault = ending.fault(); !fault.empty()) {
    return cli::failure(kProgram, fault);
  }
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
