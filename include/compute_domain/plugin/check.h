// check: whether the operator is installed, and whether each GPU node can serve. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compute_domain/plugin/cluster_view.h"

namespace cdom::plugin {

enum class Verdict {
  Ok,
  Warning,  // it works, and somebody should look at it
  Fails,
};
std::string_view name_of(Verdict verdict);

struct Finding {
  std::string subject;  // "CRD computedomains", "node n01"
  Verdict verdict = Verdict::Ok;
  std::string found;
  std::string remedy;        // "" when Ok
  std::string command = {};  // that looks closer; "" for none
  // For programs, which `subject` is not: what was looked at, as "DaemonSet", and the name of the
  // object; "" where there is one of a kind.
  std::string check = {}, name = {};
  std::string reason = {};  // as a status has it, a name of core/reasons.h; "" for none

  friend bool operator==(const Finding&, const Finding&) = default;
};

struct CheckReport {
  std::vector<Finding> install;  // CRDs, DeviceClasses, controller, DaemonSets
  std::vector<Finding> nodes;    // each GPU node, by name
  std::vector<Finding> domains;  // ComputeDomains whose pods need somebody; most need nobody

  [[nodiscard]] bool is_healthy() const;
};

// `expected`: the CustomResourceDefinitions that this release is made for.
CheckReport check(const ClusterView& view, const std::vector<api::Definition>& expected);

std::string text_of(const CheckReport& report);
std::string json_of(const CheckReport& report);

}  // namespace cdom::plugin
