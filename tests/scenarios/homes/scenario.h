// Scenario: a story in a namespace of its own, told in what kubectl shows, the same in every home.
//
// Its nodes are its own too: programs that run side by side on one cluster, as shards of
// GoogleTest, share the nodes out among themselves. At the end it heals, deletes everything, and
// nothing may be left: no domain (finalizer), claim, template, node list, or group that a node
// still reports.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "compute_domain/api/node_list.h"
#include "scenarios/homes/home.h"
#include "scenarios/homes/kubectl.h"

namespace cdom::scenarios {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): for durations

// Far more than anything but a dead node takes.
inline constexpr base::Duration kSoon = 60s;
// Longer than the cluster takes to call a silent node lost, and than an IMEX daemon backs off.
inline constexpr base::Duration kLate = 180s;

class Scenario : public testing::Test {
 protected:
  explicit Scenario(const Size& size = {});
  void SetUp() override;
  void TearDown() override;

  // `count` nodes of this scenario, all of one clique.
  [[nodiscard]] std::vector<std::string> nodes(std::size_t count) const;
  // Of another clique; only for scenarios that have the cluster to themselves.
  [[nodiscard]] std::vector<std::string> nodes_of_another_rack(std::size_t count) const;

  // A domain `name` with template `name`-channel, and pods `name`-0, `name`-1, … on these nodes.
  void form(const std::string& name, std::int64_t num_nodes, const std::vector<std::string>& on);
  // As form(), until it is Ready and its pods run.
  void settle(const std::string& name, const std::vector<std::string>& on);
  void fault(const std::string& node, const std::string& fault);
  void heal(const std::string& node);

  // The domain's line of `kubectl get computedomains -o wide` says this within `span`; `message` is
  // a part of its.
  testing::AssertionResult becomes(const std::string& domain, const std::string& status,
                                   const std::string& ready, const std::string& reason,
                                   const std::string& message = {}, base::Duration span = kSoon);
  // And goes on saying this for `span`.
  testing::AssertionResult stays(const std::string& domain, const std::string& status,
                                 const std::string& ready, base::Duration span);
  // There is an Event about this object with a message of which that is a part.
  testing::AssertionResult tells(const std::string& kind, const std::string& name,
                                 const std::string& reason, const std::string& message = {},
                                 base::Duration span = kSoon);
  // The node's line of `kubectl get computedomainnodes -o wide` says this within `span`; `message`
  // is a part of its.
  testing::AssertionResult node_shows(const std::string& node, const NodeRow& row,
                                      base::Duration span = kSoon);
  // The pod's container sees the device of this channel, may write it, and sees no other. So it is
  // where containers are simulated.
  testing::AssertionResult sees_only_channel(std::int64_t channel, const std::string& pod,
                                             base::Duration span = kSoon);
  // The processes of the IMEX daemons of these nodes; none where they are simulated.
  [[nodiscard]] std::string daemons_on(const std::vector<std::string>& nodes) const;
  testing::AssertionResult goes(const std::string& domain, base::Duration span = kSoon);
  testing::AssertionResult eventually(const std::string& what, const std::function<bool()>& done,
                                      base::Duration span = kSoon);

  [[nodiscard]] api::ComputeDomain domain(const std::string& name) const;
  // The only node list of a domain; throws when there is none.
  [[nodiscard]] api::NodeList node_list(const std::string& domain) const;
  [[nodiscard]] api::ConfigMap node_list_map(const std::string& domain) const;
  // Node to slot.
  [[nodiscard]] std::map<std::string, std::int64_t> slots(const std::string& domain) const;
  [[nodiscard]] std::string phase_of(const std::string& pod) const;
  // How often its container has been started again.
  [[nodiscard]] int restarts_of(const std::string& pod) const;
  [[nodiscard]] bool exists_pod(const std::string& pod) const;
  // All of this namespace.
  template <class T>
  [[nodiscard]] std::vector<T> all() const {
    auto objects = kubectl().client().list_all<T>({.ns = kubectl().ns()});
    if (!objects) throw std::runtime_error(base::to_string(objects.error()));
    return *std::move(objects);
  }

  [[nodiscard]] Kubectl& kubectl() const { return *kubectl_; }
  [[nodiscard]] Home& home() const { return *home_; }

 private:
  [[nodiscard]] std::string leftovers() const;
  [[nodiscard]] std::string events_of(const std::string& name) const;
  [[nodiscard]] std::string line_of(const std::string& domain) const;

  const std::unique_ptr<Home> home_;
  std::unique_ptr<Kubectl> kubectl_;
  std::vector<std::string> nodes_, others_;
  std::set<std::string> faulty_;
};

// What users write: on a certain node, or wherever the scheduler likes.
std::string domain_yaml(const std::string& name, std::int64_t num_nodes);
std::string pod_yaml(const std::string& name, const std::string& template_name,
                     const std::string& node = {});

}  // namespace cdom::scenarios
