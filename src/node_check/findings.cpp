#include "compute_domain/node_check/findings.h"

#include <algorithm>

#include "compute_domain/base/text.h"
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

std::string text_of(const Process& process) {
  // Without its folder, and not all of a long command line.
  std::vector<std::string> words = process.arguments;
  if (!words.empty()) words.front() = base::split(words.front(), '/').back();
  return base::cat(base::shortened(base::join(words, " "), 80), " (pid ", process.pid, ")");
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
