// compute-domain-controller: forms and takes down IMEX domains, as the ComputeDomains of a cluster
// ask for. Sub-command `plan`: what it would do with the objects of some files.
#include <algorithm>
#include <boost/program_options/value_semantic.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "bin/flags.h"
#include "bin/health_server.h"
#include "bin/signals.h"
#include "compute_domain/base/log.h"
#include "compute_domain/base/random.h"
#include "compute_domain/base/text.h"
#include "compute_domain/controller/controller.h"
#include "compute_domain/controller/dry_run.h"
#include "compute_domain/http/client.h"
#include "compute_domain/kube/client.h"
#include "compute_domain/kube/kubeconfig.h"

namespace {

namespace po = boost::program_options;
using namespace cdom;  // NOLINT(google-build-using-namespace): a main file names every module
using base::cat;

constexpr char kProgram[] = "compute-domain-controller";
constexpr char kUsage[] =
    "compute-domain-controller [FLAGS]\n"
    "    Runs the controller until SIGTERM.\n"
    "compute-domain-controller plan [FLAGS] DIR|FILE…\n"
    "    Reads objects in YAML or JSON (as from `kubectl get … -o yaml`) and prints what the\n"
    "    controller would do with them and why. Needs no cluster.";

struct Flags {
  bin::CommonFlags common;
  std::string kubeconfig;
  std::string ns = "compute-domain-operator";
  int workers = 4;
  std::string metrics_listen = "127.0.0.1:8080";
  std::int64_t max_nodes = 18;
  std::string imex_mode = "driverManaged";
  std::string imex_isolation = "domain";
};

po::options_description options_of(Flags& flags) {
  po::options_description options("Flags (and the environment variables that they default to)");
  options.add_options()("kubeconfig", po::value(&flags.kubeconfig),
                        "cluster to work on (KUBECONFIG; else the pod's service account)")(
      "namespace", po::value(&flags.ns)->default_value(flags.ns),
      "the operator's own namespace, where node lists lie (NAMESPACE)")(
      "workers", po::value(&flags.workers)->default_value(flags.workers),
      "reconciles at a time, 1 to 64")(
      "metrics-listen", po::value(&flags.metrics_listen)->default_value(flags.metrics_listen),
      "address of /healthz, /readyz and /metrics (HTTP_ENDPOINT); empty for none")(
      "max-nodes-per-imex-domain", po::value(&flags.max_nodes)->default_value(flags.max_nodes),
      "slots of a new group's node table (MAX_NODES_PER_IMEX_DOMAIN)")(
      "imex-mode", po::value(&flags.imex_mode)->default_value(flags.imex_mode),
      "driverManaged (IMEX_MODE)")(
      "imex-isolation", po::value(&flags.imex_isolation)->default_value(flags.imex_isolation),
      "domain (IMEX_ISOLATION)");
  return options;
}

std::string flag_of_variable(const std::string& name) {
  if (name == "NAMESPACE") return "namespace";
  if (name == "HTTP_ENDPOINT") return "metrics-listen";
  if (name == "MAX_NODES_PER_IMEX_DOMAIN") return "max-nodes-per-imex-domain";
  if (name == "IMEX_MODE") return "imex-mode";
  if (name == "IMEX_ISOLATION") return "imex-isolation";
  return "";
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): before any thread
  return value == nullptr ? "" : value;
}

// "" when the values make sense together.
std::string mistake_in(const Flags& flags) {
  if (flags.workers < 1 || flags.workers > 64) return "--workers: must be 1 to 64";
  if (flags.max_nodes < 1 || flags.max_nodes > 1024) {
    return "--max-nodes-per-imex-domain: must be 1 to 1024";
  }
  if (flags.imex_mode != "driverManaged") {
    return cat("--imex-mode: \"", flags.imex_mode, "\" is not supported, only driverManaged");
  }
  if (flags.imex_isolation != "domain" && !flags.imex_isolation.empty()) {
    return cat("--imex-isolation: \"", flags.imex_isolation, "\" is not supported, only domain");
  }
  if (!base::is_dns_label(flags.ns)) {
    return cat("--namespace: \"", flags.ns, "\" is no name of a namespace");
  }
  return "";
}

core::Settings settings_of(const Flags& flags) {
  core::Settings settings;
  settings.operator_namespace = flags.ns;
  settings.slots_per_group = flags.max_nodes;
  return settings;
}

int fail(const std::string& what) {
  std::fprintf(stderr, "%s: %s\n", kProgram, what.c_str());
  return 1;
}

int run_plan(const Flags& flags, const std::vector<std::string>& paths) {
  namespace fs = std::filesystem;
  if (paths.empty()) return bin::usage_error(kProgram, "plan: name at least one file or directory");
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(path, error)) {
      const std::string extension = entry.path().extension();
      if (extension == ".yaml" || extension == ".yml" || extension == ".json") {
        files.push_back(entry.path());
      }
    }
  }
  std::ranges::sort(files);
  std::vector<controller::ObjectFile> objects;
  for (const std::string& file : files) {
    const std::ifstream in(file);
    if (!in) return bin::usage_error(kProgram, cat("plan: cannot read ", file));
    std::ostringstream text;
    text << in.rdbuf();
    objects.push_back({file, text.str()});
  }
  const base::SystemClock clock;
  const auto page = controller::dry_run(objects, settings_of(flags), clock);
  if (!page) return bin::usage_error(kProgram, cat("plan: ", page.error().message));
  std::fputs(page->c_str(), stdout);
  return 0;
}

int run_controller(const Flags& flags, bin::Signals& signals) {
  const base::SystemClock clock;
  base::Registry metrics;
  auto access = kube::find_cluster(flags.kubeconfig, environment);
  if (!access) return bin::usage_error(kProgram, access.error().message);
  access->http.user_agent = cat(kProgram, "/", CDOM_VERSION);
  const std::string server = access->http.base_url;
  const auto transport = http::make_client(std::move(access->http), clock);
  kube::Client client(*transport, clock, kProgram, &metrics);
  // A server that does not answer is waited for; only a wrong one is told at once.
  while (!signals.token().stop_requested()) {
    const auto discovered = client.discover();
    if (discovered) break;
    if (discovered.error().kind != base::ErrorKind::Unavailable) {
      return fail(cat(discovered.error().message, " (", access->source, ")"));
    }
    base::log_warning("the API server does not answer; trying again",
                      {{"server", server}, {"error", discovered.error().message}});
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }

  const std::string pod = environment("POD_NAME");
  controller::Controller loop(client, clock, metrics,
                              {.settings = settings_of(flags),
                               .workers = flags.workers,
                               .instance = pod.empty() ? kProgram : pod,
                               .seed = base::entropy_seed()});
  std::unique_ptr<http::Server> health;
  if (!flags.metrics_listen.empty()) {
    auto server_of_health = bin::serve_health(flags.metrics_listen, metrics, [&loop] {
      return loop.has_synced() ? "" : cat("not synced yet; ", loop.trouble());
    });
    if (!server_of_health) {
      return bin::usage_error(kProgram,
                              cat("--metrics-listen: ", server_of_health.error().message));
    }
    health = std::move(*server_of_health);
  }
  base::log_info("starting", {{"server", server},
                              {"from", access->source},
                              {"namespace", flags.ns},
                              {"health", health ? health->address() : "off"}});
  const std::stop_callback on_stop(signals.token(), [&] { transport->shut_down(); });
  const base::Result<void> done = loop.run(signals.token());
  if (!done) return fail(done.error().message);
  base::log_info("stopped");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  http::initialize_process();
  bin::Signals signals;
  Flags flags;
  bin::Parsed parsed;
  if (const auto exit = bin::parse_flags(argc, argv, kUsage, options_of(flags), flags.common,
                                         flag_of_variable, &parsed)) {
    return *exit;
  }
  if (const std::string mistake = mistake_in(flags); !mistake.empty()) {
    return bin::usage_error(kProgram, mistake);
  }
  if (parsed.positional.empty()) return run_controller(flags, signals);
  if (parsed.positional.front() != "plan") {
    return bin::usage_error(kProgram, cat("\"", parsed.positional.front(), "\" is no sub-command"));
  }
  parsed.positional.erase(parsed.positional.begin());
  return run_plan(flags, parsed.positional);
}
