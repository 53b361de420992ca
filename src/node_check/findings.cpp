#include "compute_domain/node_check/findings.h"

#include <algorithm>
#include <utility>

#include "compute_domain/base/text.h"
#include "node_check/rules.h"

namespace cdom::node_check {

namespace {

constexpr LackReason kLackReasons[] = {
    {"CdiNotRead", "ContainerRuntime", false},
    {"OtherPlugin", "KubeletPlugin", true},
    {"PortTaken", "Ports", true},
    {"HostImexEnabled", "HostImex", false},
    {"SmallPages", "PageSize", false},
    {"NoPersistence", "Persistence", false},
};

}  // namespace

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

Finding named(std::string check, Finding finding, std::string name) {
  finding.check = std::move(check);
  finding.name = std::move(name);
  return finding;
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

std::span<const LackReason> lack_reasons() { return kLackReasons; }

std::vector<base::NodeLack> lacks_in(const std::vector<Finding>& findings) {
  std::vector<base::NodeLack> lacks;
  for (const Finding& finding : findings) {
    const auto* reason = std::ranges::find(kLackReasons, finding.reason, &LackReason::name);
    if (reason == std::end(kLackReasons)) continue;
    // Other processes' names and arguments may be any bytes.
    std::string message = base::cat(finding.requirement, ": ", finding.found, "; ", finding.remedy);
    std::ranges::replace_if(
        message, [](char c) { return c < ' ' || c > '~'; }, '?');
    lacks.push_back(
        {finding.reason, std::move(message), std::string(reason->type), reason->is_blocking});
  }
  return lacks;
}

bool has_failure(const std::vector<Finding>& findings) {
  const auto fails = [](const Finding& finding) { return finding.verdict == Verdict::Fails; };
  return std::ranges::any_of(findings, fails);
}

}  // namespace cdom::node_check
