#include "compute_domain/node_check/findings.h"

#include <algorithm>

#include "node_check/rules.h"

namespace cdom::node_check {

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::Ok:
      return "OK";
    case Verdict::Warning:
      return "WARNING";
    case Verdict::Fails:
      return "FAILS";
    case Verdict::Unknown:
      break;
  }
  return "UNKNOWN";
}

std::vector<Finding> judge(const NodeFacts& facts) {
  std::vector<Finding> findings;
  judge_kernel(facts, findings);
  judge_imex_programs(facts, findings);
  judge_fabric(facts, findings);
  judge_neighbours(facts, findings);
  judge_kubelet(facts, findings);
  judge_ports(facts, findings);
  return findings;
}

int exit_code_of(const std::vector<Finding>& findings) {
  const auto fails = [](const Finding& finding) { return finding.verdict == Verdict::Fails; };
  return std::ranges::any_of(findings, fails) ? 1 : 0;
}

}  // namespace cdom::node_check
