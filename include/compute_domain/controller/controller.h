// Controller: the reconcile loop around the core.
//
// Informers fill stores; changes become keys in a work queue; workers gather a World for a key, let
// the core decide, and apply its Plan. A test can take these steps one by one; run() takes them on
// threads of their own.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/metrics.h"
#include "compute_domain/base/pulses.h"
#include "compute_domain/core/world.h"
#include "compute_domain/kube/client.h"

namespace cdom::controller {

struct Options {
  core::Settings settings;
  std::string node_namespace = "compute-domain-nodes";  // where the agents' pods are
  int workers = 4;                                      // and as many for keys that take long
  std::string instance;                                 // names this process in Events
  std::uint64_t seed = 0;                               // of jitter and names
  std::size_t remembered_events = 4096;                 // kube::EventSource::remembered
  // Whether this process may work; empty: always. Until it may, the caches are kept warm and keys
  // wait. Thread-safe.
  std::function<bool()> is_leading = {};
  base::Pulses* pulses = nullptr;  // of the threads that run() starts to work
};

class Controller {
 public:
  Controller(const kube::Client& client, const base::Clock& clock, base::Registry& metrics,
             Options options);
  ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  // Works until `token` asks to stop; returns when every thread has ended. Stops before that with
  // an error that a person has to read: a missing CRD or permission at start, or a kind that the
  // API server has not served for a minute.
  base::Result<void> run(const std::stop_token& token);

  // For stepping from one thread: each does one unit of work and says whether it did any.
  struct Part {
    std::string name;
    std::function<bool()> step;
  };
  [[nodiscard]] const std::vector<Part>& parts() const;
  // When a part can do something by itself, on Clock::elapsed().
  [[nodiscard]] std::optional<base::Duration> next_due() const;

  // Every store has been filled once, but for those of kinds that only copies are written of.
  [[nodiscard]] bool has_synced() const;
  // The law that at rest every key is empty, for tests: a line for each key that would do something
  // by what the stores have now, although nothing is about to bring it. Keys whose last reconcile
  // failed, or had an Event for which there was no place, are left out; while a watch is broken
  // there is no rest.
  [[nodiscard]] std::vector<std::string> unrest() const;
  // One line for anybody: which watches have not filled their store or do not follow the API
  // server, by kind of error but without the server's words; "" when all do. A watch that has
  // failed for less than ten seconds is about to work again.
  [[nodiscard]] std::string not_ready() const;
  // What a scrape finds beside the registry's, in the Prometheus text format: for how long workers
  // hold their keys; and of domains, cliques and nodes what is known, if this process leads and
  // every store has been filled: only one of several processes reports that.
  [[nodiscard]] std::string scraped_metrics() const;
  // Which kind the API server has not served for a minute, as run() ends with it.
  [[nodiscard]] std::optional<base::Error> lost_kind() const;

 private:
  class Loop;
  const std::unique_ptr<Loop> loop_;
};

}  // namespace cdom::controller
