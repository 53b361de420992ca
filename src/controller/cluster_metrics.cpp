#include "cluster_metrics.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compute_domain/base/metrics.h"
#include "compute_domain/core/reasons.h"
#include "compute_domain/core/reconcile.h"
#include "compute_domain/core/status.h"

namespace cdom::controller {

namespace {

using Labels = base::Registry::Labels;

double seconds_since_epoch(base::Time time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

const api::Condition* ready_condition(const api::ComputeDomain& domain) {
  if (!domain.status) return nullptr;
  return api::find_condition(domain.status->conditions, core::kConditionReady);
}

bool is_ready(const api::ComputeDomain& domain) { return domain.status && domain.status->ready; }

// How much it matters that a domain has series: those with more weight come first. Among domains
// that form, one without pods matters least: it may stay so for long.
using Weight = std::pair<core::Severity, bool>;

Weight weight_of(const api::ComputeDomain& domain) {
  using core::Severity;
  Severity severity = Severity::Fine;
  bool has_pods = true;
  if (!is_ready(domain)) {
    const api::Condition* ready = ready_condition(domain);
    const auto reason = core::Reason::find(ready != nullptr ? ready->reason : "");
    severity = std::max(reason ? reason->row().severity : Severity::Fine, Severity::Forming);
    has_pods = reason != core::Reason("WaitingForPods");
  }
  if (domain.meta.deletion_time) severity = std::max(severity, Severity::Ending);
  return {severity, has_pods};
}

void show(base::Registry& metrics, const api::ComputeDomain& domain) {
  const Labels labels = {{"namespace", domain.meta.ns}, {"name", domain.meta.name}};
  const api::Condition* ready = ready_condition(domain);
  metrics
      .gauge(
          "compute_domain_status", "1, labelled with the reason of the domain's condition Ready.",
          {{"namespace", domain.meta.ns},
           {"name", domain.meta.name},
           {"reason", ready != nullptr ? ready->reason
                                       : std::string(core::Reason("WaitingForController").name())}})
      .set(1);
  metrics.gauge("compute_domain_ready", "1 while the domain is Ready, else 0.", labels)
      .set(is_ready(domain) ? 1 : 0);
  const std::int64_t members = domain.status ? std::ssize(domain.status->nodes) : 0;
  metrics
      .gauge("compute_domain_members_expected",
             "Nodes that the domain should have: spec.numNodes, or those that have come.", labels)
      .set(static_cast<double>(std::max(domain.spec.num_nodes, members)));
  metrics.gauge("compute_domain_members_ready", "Nodes of the domain that are Ready.", labels)
      .set(domain.status ? static_cast<double>(std::ranges::count(
                               domain.status->nodes, true, &api::ComputeDomainNodeStatus::ready))
                         : 0);
  if (!is_ready(domain)) {
    // The definition gives a new domain a condition of the year 1970.
    const base::Time since = std::max(ready != nullptr ? ready->last_transition : base::Time{},
                                      domain.meta.creation_time.value_or(base::Time{}));
    metrics
        .gauge("compute_domain_not_ready_since_timestamp_seconds",
               "When a domain that is not Ready has ceased to be, or was created.", labels)
        .set(seconds_since_epoch(since));
  }
  if (core::tells_of_seats(domain)) {
    metrics
        .gauge("compute_domain_waits_for_seats",
               "1 for a domain whose pods wait for seats, by the message of its condition Ready.",
               labels)
        .set(1);
  }
  if (domain.meta.deletion_time) {
    metrics
        .gauge("compute_domain_deletion_timestamp_seconds",
               "When the deletion of a domain that is still there was asked for.", labels)
        .set(seconds_since_epoch(*domain.meta.deletion_time));
  }
}

const char* name_of(core::Seat::State state) {
  switch (state) {
    case core::Seat::State::Free:
      return "Free";
    case core::Seat::State::InUse:
      return "InUse";
    case core::Seat::State::NotReady:
      return "NotReady";
    case core::Seat::State::Unschedulable:
      return "Unschedulable";
  }
  return "";
}

void show(base::Registry& metrics, const core::CliqueSeats& clique) {
  std::map<core::Seat::State, std::int64_t> seats;
  using State = core::Seat::State;
  for (const State state : {State::Free, State::InUse, State::NotReady, State::Unschedulable}) {
    seats[state] = 0;
  }
  for (const core::Seat& seat : clique.seats) ++seats[seat.state];
  for (const auto& [state, count] : seats) {
    metrics
        .gauge(
            "compute_domain_clique_seats",
            "Room for members of domains that the nodes of a clique offer, by state; with an empty "
            "clique that of the nodes that have none.",
            {{"clique", clique.clique}, {"state", name_of(state)}})
        .set(static_cast<double>(count));
  }
}

void show_largest(base::Registry& metrics, const std::string& clique, std::int64_t unreserved) {
  metrics
      .gauge("compute_domain_clique_largest_domain",
             "Nodes of the largest domain that the clique has room for: seats that are free and "
             "reserved for nobody.",
             {{"clique", clique}})
      .set(static_cast<double>(std::max<std::int64_t>(unreserved, 0)));
}

// What a node has to be looked at for.
struct Trouble {
  std::string cannot_serve;  // reason of the condition; "" when it can
  bool has_fabric_error = false;
  bool is_stale = false;  // or missing
  std::size_t unreachable = 0;
  std::int64_t restarts = 0;
  std::optional<api::DaemonState> failed;

  friend bool operator==(const Trouble&, const Trouble&) = default;
};

constexpr core::Reason kDriverPaused = "DriverPaused";

// Of what is not believed only that: the rest may long be over, and others cannot act on it. But
// that somebody works on the driver explains what else is found on the node then.
Trouble trouble_of(const api::ComputeDomainNode& report) {
  Trouble trouble;
  trouble.is_stale = report.stale.has_value();
  const auto* can_serve = api::find_condition(report.status.conditions, api::kConditionCanServe);
  if (can_serve != nullptr && can_serve->status == api::ConditionStatus::False &&
      (!trouble.is_stale || can_serve->reason == kDriverPaused.name())) {
    trouble.cannot_serve = can_serve->reason;
  }
  if (trouble.is_stale) return trouble;
  trouble.has_fabric_error = !report.status.fabric_error.empty();
  for (const api::ImexGroupReport& group : report.status.groups) {
    trouble.unreachable += group.unreachable.size();
    trouble.restarts += group.restarts;
    const bool is_bad =
        group.state == api::DaemonState::Failed || group.state == api::DaemonState::Recovering;
    if (is_bad && trouble.failed != api::DaemonState::Failed) trouble.failed = group.state;
  }
  return trouble;
}

void show(base::Registry& metrics, const std::string& node, const Trouble& trouble) {
  const Labels labels = {{"node", node}};
  if (!trouble.cannot_serve.empty()) {
    metrics
        .gauge("compute_domain_node_cannot_serve",
               "1 for a node that offers no device, with the reason.",
               {{"node", node}, {"reason", trouble.cannot_serve}})
        .set(1);
  }
  if (trouble.has_fabric_error) {
    metrics
        .gauge("compute_domain_node_fabric_error",
               "1 for a node whose NVLink fabric cannot be read.", labels)
        .set(1);
  }
  if (trouble.is_stale) {
    metrics
        .gauge("compute_domain_node_report_stale",
               "1 for a node whose report may not be true any more, or that should have an agent "
               "and has no report.",
               labels)
        .set(1);
  }
  if (trouble.unreachable > 0) {
    metrics
        .gauge("compute_domain_node_unreachable_peers",
               "Members that the IMEX daemon of the node does not reach.", labels)
        .set(static_cast<double>(trouble.unreachable));
  }
  if (trouble.restarts > 0) {
    metrics
        .gauge("compute_domain_node_imex_restarts",
               "IMEX daemons of the node that have taken the place of another one, for the domains "
               "that it serves now.",
               labels)
        .set(static_cast<double>(trouble.restarts));
  }
  if (trouble.failed) {
    metrics
        .gauge("compute_domain_node_imex_trouble",
               "1 for a node whose IMEX daemon has failed, or waits for peers of an earlier run.",
               {{"node", node}, {"state", std::string(api::to_string(*trouble.failed))}})
        .set(1);
  }
}

void note_left_out(base::Registry& metrics, const std::string& what, std::size_t there,
                   std::size_t most) {
  metrics
      .gauge("compute_domain_metrics_left_out",
             "Domains, cliques and nodes that have no series of their own, as there are too many.",
             {{"what", what}})
      .set(static_cast<double>(there > most ? there - most : 0));
}

// Those of the most weight, one after the other: never all of them have to be unpacked at a time.
void show_domains(base::Registry& metrics, const Stores& stores, std::size_t most) {
  std::map<Weight, std::vector<api::ObjectName>, std::greater<>> by_weight;
  std::size_t there = 0;
  stores.domains.for_each([&](const auto& domain) {
    by_weight[weight_of(*domain)].push_back(api::name_of(domain->meta));
    ++there;
  });
  note_left_out(metrics, "domains", there, most);
  std::size_t shown = 0;
  for (const auto& [weight, those] : by_weight) {
    for (const api::ObjectName& name : those) {
      if (shown++ >= most) return;
      if (const auto domain = stores.domains.get(name)) show(metrics, *domain);
    }
  }
}

void show_cliques(base::Registry& metrics, const Sources& from, std::size_t most) {
  core::PlacementWorld world = gather_placement(from);
  if (world.cliques.empty()) world.cliques = seats_by_clique(from);
  const std::map<std::string, std::int64_t> unreserved = core::unreserved_seats(world);
  std::ranges::sort(world.cliques, {}, &core::CliqueSeats::clique);
  note_left_out(metrics, "cliques", world.cliques.size(), most);
  if (world.cliques.size() > most) world.cliques.resize(most);
  for (const core::CliqueSeats& clique : world.cliques) {
    const auto left = unreserved.find(clique.clique);
    show(metrics, clique);
    show_largest(metrics, clique.clique, left == unreserved.end() ? 0 : left->second);
  }
  core::CliqueSeats outside{"", seats_outside(from)};
  if (!outside.seats.empty()) show(metrics, outside);
}

// Those with a report first: where agents are missing everywhere they say more.
void show_nodes(base::Registry& metrics, const Stores& stores, std::size_t most) {
  std::size_t there = 0;
  const auto show_one = [&](const std::string& node, const Trouble& trouble) {
    if (trouble == Trouble{}) return;
    if (++there <= most) show(metrics, node, trouble);
  };
  std::vector<std::string> reported;  // ordered, as stores are
  reported.reserve(stores.reports.size());
  stores.reports.for_each([&](const auto& report) {
    reported.push_back(report->meta.name);
    // What an agent has said that is to be there no more is nobody's trouble.
    const auto node = report->stale ? stores.nodes.get({"", report->meta.name}) : nullptr;
    if (node && !core::needs_agent(node->meta)) return;
    show_one(report->meta.name, trouble_of(*report));
  });
  stores.nodes.for_each([&](const auto& node) {
    if (node->meta.is_deleting() || !core::needs_agent(node->meta)) return;
    Trouble trouble;
    trouble.is_stale = !std::ranges::binary_search(reported, node->meta.name);
    show_one(node->meta.name, trouble);
  });
  note_left_out(metrics, "nodes", there, most);
}

}  // namespace

std::string cluster_metrics(const Sources& from, const MetricsBounds& bounds) {
  base::Registry metrics;
  show_domains(metrics, from.stores, bounds.domains);
  show_cliques(metrics, from, bounds.cliques);
  show_nodes(metrics, from.stores, bounds.nodes);
  return metrics.render();
}

}  // namespace cdom::controller
