// matrix: which nodes of a ComputeDomain reach which, by what their IMEX daemons report. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compute_domain/base/result.h"
#include "compute_domain/plugin/cluster_view.h"

namespace cdom::plugin {

// What a node reports of another one.
enum class Reach : std::uint8_t {
  Self,
  Connected,
  Unreachable,
  NotReported,  // it has said nothing of it, or its report cannot be believed
  NotReady,     // its own daemon is not READY
};
std::string_view name_of(Reach reach);

// Nodes that share memory when they are connected.
struct ReachGroup {
  std::string clique;
  std::vector<std::string> nodes;         // by name
  std::vector<std::vector<Reach>> cells;  // [from][to], in the order of `nodes`

  friend bool operator==(const ReachGroup&, const ReachGroup&) = default;
};

struct MatrixReport {
  std::string domain;               // "team-a/train"
  std::vector<ReachGroup> groups;   // by clique
  std::vector<std::string> others;  // members whose clique nobody knows, or without a fabric
  bool host_managed = false;        // hosts run the daemons: nobody reports who reaches whom
};

// NotFound: the view has no such ComputeDomain.
base::Result<MatrixReport> matrix(const ClusterView& view, const api::ObjectName& name);

std::string text_of(const MatrixReport& report);
std::string json_of(const MatrixReport& report);

}  // namespace cdom::plugin
