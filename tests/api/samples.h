// One object of every kind with every field set to something else than its default.
#pragma once

#include "compute_domain/api/kind.h"
#include "compute_domain/api/names.h"

namespace cdom::api {

inline ObjectMeta sample_meta() {
  const base::Time time = base::parse_rfc3339("2026-01-02T03:04:05Z").value();
  return {"train",
          "team-a",
          "u-1",
          "77",
          3,
          time,
          time + std::chrono::minutes(1),
          {{"app", "job"}, {"resource.nvidia.com/clique", ""}},
          {{"note", "text with \"quotes\""}},
          {"a/b", "c/d"},
          {{"v1", "Pod", "p", "u-2", true}, {"v1", "Node", "n", "u-3", false}}};
}

inline Condition sample_condition() {
  return {"Ready",
          ConditionStatus::False,
          "MemberNotReady",
          "1 of 2",
          base::parse_rfc3339("2026-01-02T03:04:05Z").value(),
          3};
}

template <class T>
T sample();

template <>
inline ComputeDomain sample<ComputeDomain>() {
  return {sample_meta(),
          {2,
           {{"train-channel", AllocationMode::All}},
           {{"Job", "train", "u-7"}},
           {{CliquePlacement::Single, PlacementPolicy::BestFit}}},
          {{true,
            3,
            "1/2",
            2,
            "a.1",
            {{"n1", "10.0.0.1", "a.1", 0, 7, true, "", "", 2,
              DaemonFailure{base::parse_rfc3339("2026-01-02T03:04:05Z").value(), "has ended"},
              DaemonFailure{base::parse_rfc3339("2026-01-02T03:04:04Z").value(), "was killed"}},
             {"n2", "10.0.0.2", "", -1, 0, false, "NotReported", "check the agent"}},
            {sample_condition()}}}};
}

template <>
inline ComputeDomainClique sample<ComputeDomainClique>() {
  return {sample_meta(), {{"n1", "10.0.0.1", "a.1", 4, true}}};
}

template <>
inline ComputeDomainNode sample<ComputeDomainNode>() {
  ImexGroupReport group;
  group.group = "0123456789abcdef";
  group.table_hash = "feedfeedfeedfeed";
  group.slot = 5;
  group.term = 2;
  group.state = DaemonState::Recovering;
  group.instance = "i-9";
  group.since = base::parse_rfc3339("2026-01-02T03:04:05Z").value();
  group.connected = "0-3,7";
  group.unreachable = {"n8"};
  group.domains = {"team-a/train"};
  group.claims = {"c1", "c2"};
  group.channels = "3,7-8";
  group.claim_channels = {{"c1", 3}, {"c2", 7}};
  group.releases = 4;
  group.message = "waits for n8";
  group.restarts = 2;
  group.last_failure = DaemonFailure{group.since, "nvidia-imex has ended"};
  group.last_loss = DaemonFailure{group.since - std::chrono::seconds(1), "it was killed"};
  group.lost_claims = {"c0", "c1"};
  return {sample_meta(),
          {"boot-1",
           "a.1",
           "b.2",
           Isolation::Channel,
           Isolation::Domain,
           true,
           "NVML timed out",
           "10.0.0.1",
           {group, ImexGroupReport{"g2"}},
           {{"c3", "the node still serves another domain"}},
           {sample_condition()},
           {DaemonState::Recovering, group.since, "team-a/train", "n8", "waits for n8"}},
          Staleness{StaleState::Unknown, "NodeUnknown", "its kubelet is silent", group.since}};
}

inline ResourceClaimSpec sample_claim_spec() {
  return {
      {{"channel", "compute-domain-default-channel.nvidia.com", {"device.driver == 'x'"}, true},
       {"other", "c", {}, false}},
      {{{"channel"}, "compute-domain.nvidia.com", R"({"domainID":"u","n":[1,2.5,null]})", false}}};
}

template <>
inline ResourceClaim sample<ResourceClaim>() {
  const OpaqueConfig of_class{{"channel"}, "compute-domain.nvidia.com", R"({"a":1})", true};
  const OpaqueConfig of_claim{{}, "compute-domain.nvidia.com", "{}", false};
  return {sample_meta(),
          sample_claim_spec(),
          {{{{"channel", "compute-domain.nvidia.com", "n1", "channel-0", true}},
            {of_class, of_claim},
            "n1"}},
          {{"pods", "p", "u-2"}}};
}

template <>
inline ResourceClaimTemplate sample<ResourceClaimTemplate>() {
  return {sample_meta(), {{"app", "job"}}, sample_claim_spec()};
}

template <>
inline ResourceSlice sample<ResourceSlice>() {
  Device seat{"channel-0", {}};
  seat.attributes = {{"type", std::string("channel")}, {"id", std::int64_t{0}}, {"hot", true}};
  return {sample_meta(), "compute-domain.nvidia.com", "n1", 4, 2, "n1",
          "u.1",         {seat, {"channel-1", {}}}};
}

template <>
inline DeviceClass sample<DeviceClass>() {
  return {sample_meta(), {"device.driver == 'x'", "true"}};
}

template <>
inline Node sample<Node>() {
  ObjectMeta meta = sample_meta();
  meta.labels = {{kNodeCliqueLabel, "u.1"}, {kAgentNodeLabel, ""}};  // others are not decoded
  return {meta,
          "boot-1",
          {{"node.kubernetes.io/out-of-service", "nodeshutdown", "NoExecute"}},
          true,
          ConditionStatus::True,
          "10.0.0.1"};
}

template <>
inline Pod sample<Pod>() {
  return {sample_meta(), {{"channel", "train-channel"}, {"mine", ""}}, "n1", "Running", "10.1.0.1",
          true,          base::parse_rfc3339("2026-01-02T03:04:05Z")};
}

template <>
inline ConfigMap sample<ConfigMap>() {
  return {sample_meta(), {{"nodes.json", "{}"}, {"managedFields", "kept"}}};
}

template <>
inline Event sample<Event>() {
  const base::Time time = base::parse_rfc3339("2026-01-02T03:04:05Z").value();
  return {sample_meta(),
          {"v1", "Pod", "team-a", "p", "u-2"},
          "Warning",
          "R",
          "m",
          "agent",
          "n1",
          "h",
          3,
          time,
          time + std::chrono::hours(1)};
}

template <>
inline Job sample<Job>() {
  return {sample_meta(), 4, 8};
}

template <>
inline Lease sample<Lease>() {
  const auto time = base::parse_rfc3339("2026-01-02T03:04:05.000006Z");
  return {sample_meta(), "me", 15, 2, time, time};
}

}  // namespace cdom::api
