// Formation on a real control plane: etcd, kube-apiserver, kube-controller-manager and
// kube-scheduler; the simulated nodes run in this process, the controller in its own.
//
//   bench_real KUBECONFIG AUDIT-LOG RUNS
//
// The moment of a binding is the API server's own (stageTimestamp in its audit log, microseconds),
// that of an answer to kubelet is taken in this process, on the same machine's clock. The audit log
// also says who has written what.
#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>

#include "compute_domain/base/log.h"
#include "compute_domain/base/text.h"
#include "compute_domain/kube/kubeconfig.h"
#include "figure.h"
#include "formation.h"
#include "sandbox/main/joined_nodes.h"

namespace {

using namespace cdom;  // NOLINT(google-build-using-namespace): a main file names every module
using namespace std::chrono_literals;
using nlohmann::json;

double milliseconds(base::Duration span) {
  return std::chrono::duration<double, std::milli>(span).count();
}

// What the API server has done since the last reading.
class AuditLog {
 public:
  explicit AuditLog(const std::string& path) : in_(path) {
    if (!in_) throw std::runtime_error(path + ": cannot be read");
    read([](const json&) {});
  }

  template <class Take>
  void read(Take take) {
    in_.clear();
    for (std::string line; std::getline(in_, line);) {
      if (in_.eof()) {  // half a line: the rest comes later
        in_.seekg(-static_cast<std::streamoff>(line.size()), std::ios::cur);
        return;
      }
      const json event = json::parse(line, nullptr, false);
      if (event.is_object() && event.contains("objectRef")) take(event);
    }
  }

 private:
  std::ifstream in_;
};

struct Counted {
  base::Time last_bound{};
  int ours = 0, refused = 0;
};

Counted count(AuditLog& log) {
  Counted counted;
  log.read([&](const json& event) {
    const std::string verb = event.value("verb", "");
    const std::string resource = event["objectRef"].value("resource", "");
    const std::string subresource = event["objectRef"].value("subresource", "");
    const int code = event.value("/responseStatus/code"_json_pointer, 0);
    if (subresource == "binding" && code < 300) {
      counted.last_bound =
          std::max(counted.last_bound,
                   base::parse_rfc3339(event.value("stageTimestamp", "")).value_or(base::Time{}));
    }
    const bool is_write =
        verb == "create" || verb == "update" || verb == "patch" || verb == "delete";
    const bool is_ours = event.value("userAgent", "").starts_with("compute-domain-controller") ||
                         event.value("userAgent", "").starts_with("compute-domain-agent");
    if (!is_write || !is_ours || resource == "events" || resource == "leases") return;
    ++counted.ours;
    if (code < 300) return;
    ++counted.refused;
    std::fprintf(stderr, "refused with %d: %s %s by %s\n", code, verb.c_str(),
                 event.value("requestURI", "").c_str(), event.value("userAgent", "").c_str());
  });
  return counted;
}

std::string rack_of(http::Client& user, const std::string& node) {
  const auto answer = user.send({.method = "GET", .target = "/api/v1/nodes/" + node});
  if (!answer || answer->status != 200) throw std::runtime_error("cannot read node " + node);
  const json labels = json::parse(answer->body)["metadata"]["labels"];
  return json{{"nvidia.com/gpu.clique", labels.at("nvidia.com/gpu.clique")}}.dump();
}

void wait_until_up(const program::JoinedNodes& nodes) {
  for (int i = 0; !nodes.is_up(); ++i) {
    if (i > 1200) throw std::runtime_error("the simulated nodes are not up after two minutes");
    std::this_thread::sleep_for(100ms);
  }
  std::this_thread::sleep_for(3s);
}

int measure(const std::string& kubeconfig, const std::string& audit_log, int runs) {
  const base::SystemClock clock;
  const auto access = kube::load_kubeconfig(kubeconfig);
  if (!access) throw std::runtime_error(access.error().message);
  http::ClientConfig config = access->http;
  config.user_agent = "bench";
  const auto user = http::make_client(config, clock);
  bench::Moments moments(clock);
  const program::SandboxFlags flags;  // 2 racks of 18
  config.user_agent = "compute-domain-sandbox";
  const auto nodes = program::JoinedNodes::join(
      flags, config, clock, {}, [&](sandbox::ClusterPorts& ports) { moments.observe(ports); });
  if (!nodes) throw std::runtime_error(nodes.error().message);
  wait_until_up(**nodes);
  bench::Formation formation(*user, clock, moments);
  const bench::FormationOptions options{.node_selector = rack_of(*user, "r1n01")};
  AuditLog log(audit_log);
  std::vector<double> prepared, ready, writes, refused, refused_at_end;
  for (int run = -1; run < runs; ++run) {
    const std::string domain = base::cat("once-", run + 1);
    count(log);
    const bench::FormationTimes times = formation.run(domain, options);
    std::this_thread::sleep_for(6s);  // what is still written, and the audit log
    const Counted counted = count(log);
    formation.take_down(domain, options);
    std::this_thread::sleep_for(1s);  // the same
    const Counted ending = count(log);
    if (run < 0) continue;  // the first one warms up
    prepared.push_back(milliseconds(times.last_prepared - counted.last_bound));
    ready.push_back(milliseconds(times.ready - counted.last_bound));
    writes.push_back(counted.ours);
    refused.push_back(counted.refused);
    refused_at_end.push_back(ending.refused);
  }
  bench::print({"real API: last of 18 pods bound -> last claim prepared",
                "ms",
                prepared,
                {},
                "36 simulated nodes, pods created at once"});
  bench::print({"real API: last of 18 pods bound -> domain Ready, all connected",
                "ms",
                ready,
                {},
                "the same runs"});
  bench::print({"real API: writes for 18 nodes (3 N + 10)",
                "writes",
                writes,
                {{"max", 64}},
                "from the audit log; no Events, no Leases"});
  bench::print({"real API: of them refused", "writes", refused, {{"max", 0}}, ""});
  bench::print({"real API: refused while the 18 nodes go",
                "writes",
                refused_at_end,
                {},
                "a user's DELETE may overtake a write of a status"});
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: bench_real KUBECONFIG AUDIT-LOG RUNS\n");
    return 2;
  }
  http::initialize_process();
  base::configure_log(base::LogLevel::Error, base::LogFormat::Text);
  try {
    return measure(argv[1], argv[2], std::stoi(argv[3]));
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "bench_real: %s\n", failure.what());
    return 1;
  }
}
