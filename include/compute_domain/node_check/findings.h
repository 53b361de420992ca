// Findings: what a node needs to serve ComputeDomains, and whether it has it. Pure.
//
// What could not be seen is Unknown and says who can see it; it is never Ok.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute_domain/base/daemon_status.h"
#include "compute_domain/node_check/node_facts.h"

namespace cdom::node_check {

enum class Verdict { Ok, Warning, Fails, Unknown };
std::string_view name_of(Verdict verdict);

struct Finding {
  std::string requirement, found;
  Verdict verdict = Verdict::Unknown;
  std::string remedy;  // a command or a setting; "" when Ok
  // In the words of a ComputeDomainNode, the name of a row of core/reasons.h; "": where this is
  // missing the node's programs find out by themselves, or nothing was seen.
  std::string reason = {};
  // For programs, which `requirement` is not: what is required, as "Driver", and of which port or
  // GPU, where a node has several; "" else.
  std::string check = {}, name = {};
  friend bool operator==(const Finding&, const Finding&) = default;
};

// Every requirement, in the order in which to look at them.
std::vector<Finding> judge(const NodeFacts& facts);

// A reason that a Finding may have, with what its row of core/reasons.h says.
struct LackReason {
  std::string_view name, type;  // of the condition
  bool is_blocking = false;     // the node's pods would fail
};
std::span<const LackReason> lack_reasons();
// The findings that have a reason, as the agent receives them.
std::vector<base::NodeLack> lacks_in(const std::vector<Finding>& findings);

bool has_failure(const std::vector<Finding>& findings);

// A table for people, of lines that a terminal can show, and a last line that sums it up:
// "n01: 1 FAILS: no other nvidia-imex; 3 UNKNOWN".
std::string table_of(const std::string& node, const std::vector<Finding>& findings);
// {"format":1,"node":…,"findings":[{"check":…,"name":…,"requirement":…,"verdict":…,"found":…,
// "reason":…,"remedy":…}]} and a line break. docs/kubectl-plugin.md says what each is.
std::string json_of(const std::string& node, const std::vector<Finding>& findings);

}  // namespace cdom::node_check
