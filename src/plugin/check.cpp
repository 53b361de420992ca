#include "compute_domain/plugin/check.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "compute_domain/controller/definitions.h"
#include "compute_domain/core/reasons.h"
#include "compute_domain/core/reconcile.h"
#include "plugin/controller_life.h"
#include "plugin/facts.h"
#include "plugin/images.h"
#include "plugin/node_health.h"
#include "plugin/reports.h"
#include "plugin/why/domain_links.h"
#include "plugin/why/lost_memory.h"

namespace cdom::plugin {

namespace {

using base::cat;

constexpr char kDaemonClass[] = "compute-domain-daemon.nvidia.com";
constexpr char kApplyAgain[] = "apply the manifests of this release again (docs/install.md)";

// As programs name it.
Finding named(std::string check, std::string name, Finding finding) {
  finding.check = std::move(check);
  finding.name = std::move(name);
  return finding;
}

Finding look_at_definition(const ClusterView& view, const api::Definition& expected) {
  const std::string& name = expected.meta.name;
  Finding finding{cat("CRD ", name), Verdict::Fails, "", kApplyAgain};
  const auto it =
      std::ranges::find(view.definitions, name, [](const auto& d) { return d.meta.name; });
  if (it == view.definitions.end()) {
    finding.found = "it is not installed";
    return finding;
  }
  const api::DefinitionVersion& wanted = expected.versions.front();
  const auto version = std::ranges::find(it->versions, wanted.name, &api::DefinitionVersion::name);
  if (version == it->versions.end() || !version->served) {
    finding.found = cat("it does not serve version ", wanted.name);
    return finding;
  }
  if (!it->established) {
    finding.found = "the API server has not accepted it yet (condition Established)";
    finding.remedy = "see why";
    finding.command = cat("kubectl describe crd ", name);
    return finding;
  }
  const std::vector<std::string> missing = controller::missing_fields(wanted, *version);
  if (missing.empty()) return {finding.subject, Verdict::Ok, cat("serves ", wanted.name), ""};
  const std::string label = "app.kubernetes.io/name";
  const bool is_ours = it->meta.label(label) == expected.meta.label(label);
  finding.found =
      cat(is_ours ? "it is of an older release" : "it is another driver's", ": it lacks ",
          missing.size() == 1 ? "field " : "fields ", base::list_names(missing, 4),
          ", so the API server drops what the operator writes there");
  return finding;
}

Finding look_at_class(const ClusterView& view, const char* name, Verdict when_missing) {
  const bool is_there = std::ranges::find(view.classes, name, [](const auto& c) {
                          return c.meta.name;
                        }) != view.classes.end();
  if (is_there) return {cat("DeviceClass ", name), Verdict::Ok, "is there", ""};
  return {cat("DeviceClass ", name), when_missing, "it is not installed", kApplyAgain};
}

Finding look_at_controller(const ClusterView& view) {
  const ControllerLife life = controller_life(view);
  const Verdict verdict = life.is_away()                                ? Verdict::Fails
                          : life.state == ControllerLife::State::Unseen ? Verdict::Warning
                                                                        : Verdict::Ok;
  return {"controller", verdict, life.found, life.remedy, life.command};
}

Finding look_at_daemon_set(const ClusterView& view, const api::DaemonSetRollout& set) {
  const bool is_whole = set.ready >= set.wanted;
  return {cat("DaemonSet ", set.meta.name), is_whole ? Verdict::Ok : Verdict::Warning,
          cat(set.ready, " of ", set.wanted, set.wanted == 1 ? " pod is ready" : " pods are ready"),
          is_whole ? "" : "see which pods are not ready, and why",
          is_whole ? "" : cat("kubectl get pods -n ", view.namespaces.nodes, " -o wide")};
}

// Those that the manifests bring beside the controller, which a namespace that is deleted takes
// along.
std::vector<Finding> look_for_daemon_sets(const ClusterView& view) {
  std::vector<Finding> missing;
  const auto name_of_deployment = [](const auto& deployment) { return deployment.meta.name; };
  if (std::ranges::find(view.deployments, "compute-domain-controller", name_of_deployment) ==
      view.deployments.end()) {
    return missing;
  }
  for (const char* name : {"compute-domain-agent", "compute-domain-imex"}) {
    const auto it =
        std::ranges::find(view.daemon_sets, name, [](const auto& set) { return set.meta.name; });
    if (it != view.daemon_sets.end()) continue;
    missing.push_back(
        named("DaemonSet", name,
              {cat("DaemonSet ", name), Verdict::Fails,
               cat("it is not in namespace ", view.namespaces.nodes),
               "apply the manifests of this release again (docs/install.md), or name the "
               "namespace with --node-namespace"}));
  }
  return missing;
}

// Objects that other sub-commands take for not there.
std::vector<Finding> look_at_unreadable(const ClusterView& view) {
  std::vector<Finding> findings;
  for (const auto& [plural, problems] : view.unreadable) {
    std::vector<std::string> texts;
    texts.reserve(problems.size());
    for (const auto& [name, problem] : problems) {
      texts.push_back(cat(api::to_string(name), ": ", problem));
    }
    findings.push_back(named("UnreadableObjects", plural,
                             {plural, Verdict::Warning,
                              cat("the plugin cannot read some of them, and leaves them out: ",
                                  base::list_names(texts, 3)),
                              "correct them, or use the plugin of the operator's release"}));
  }
  return findings;
}

// Only when there is none although nodes have reported.
std::optional<Finding> look_at_agents(const ClusterView& view) {
  const bool has_agent =
      std::ranges::any_of(view.pods, [&](const api::PodState& pod) { return is_agent(view, pod); });
  if (has_agent || view.reports.empty()) return std::nullopt;
  return named("Agents", "",
               {"agents", Verdict::Warning,
                cat("no pod with the label app=", api::kAgentApp, " is in namespace ",
                    view.namespaces.nodes, ", so nobody knows whether the agents live"),
                "name the agents' namespace with --node-namespace"});
}

std::string look_at_pods(const ClusterView& view, const std::string& node) {
  return cat("kubectl get pods -n ", view.namespaces.nodes,
             " -o wide --field-selector spec.nodeName=", node);
}

// What a node is that can serve, in one line.
std::string state_text(const Facts& facts, const api::ComputeDomainNode& report) {
  const std::string& node = report.meta.name;
  const auto clique = api::clique_of(report.status);
  const std::int64_t devices = facts.devices_on(node);
  const std::vector<std::string> domains = facts.domains_on(node);
  return cat(!clique           ? "clique not known yet"
             : clique->empty() ? "no NVLink fabric"
                               : cat("clique ", *clique),
             ", isolation by ", api::to_string(report.status.isolation), ", offers ", devices,
             devices == 1 ? " device" : " devices",
             domains.empty() ? "" : cat(", used by ", base::list_names(domains, 3)));
}

// What is wrong with it, as the end of a sentence that begins with what the node is.
std::string found_on(const Facts& facts, const std::string& node, const NodeHealth& health) {
  switch (health.cause) {
    case NodeHealth::Cause::NoReport:
      return cat(health.message, ": there is no ComputeDomainNode of this name");
    case NodeHealth::Cause::Doubted:
      return cat("its report may not be true any more: ", health.message);
    default:
      break;
  }
  std::string state = state_text(facts, *facts.report(node));
  switch (health.cause) {
    case NodeHealth::Cause::ImexDied:
      return cat(state, "; its IMEX daemon has failed: ", health.message);
    case NodeHealth::Cause::CannotServe:
      return cat(state, "; it cannot serve: ", text_of(health));
    case NodeHealth::Cause::NoSlice:
      return cat(state, ", ", health.message);
    case NodeHealth::Cause::Lacks:
      return cat(state, "; it serves, but ", text_of(health));
    case NodeHealth::Cause::None:
      return state;
    default:
      return cat(state, "; ", health.message);
  }
}

Finding look_at_node(const Facts& facts, const std::string& name) {
  const NodeHealth health = health_of(facts, name);
  Finding finding{
      cat("node ", name), health.verdict, found_on(facts, name, health), health.remedy,
      health.verdict == Verdict::Fails ? look_at_pods(facts.view(), name) : health.command};
  finding.reason = health.reason;
  return named("Node", name, std::move(finding));
}

// ComputeDomains that are Ready again, and whose pods have lost memory before.
std::vector<Finding> look_at_memory(const Facts& facts) {
  std::vector<Finding> findings;
  for (const api::ComputeDomain& domain : facts.view().domains) {
    const auto pods = pods_without_memory(facts, facts.facts_of(domain));
    if (pods.empty()) continue;
    const std::string name = api::to_string(api::name_of(domain.meta));
    Finding finding{
        cat("ComputeDomain ", name), Verdict::Warning,
        cat(pods_text(pods), pods.size() == 1 ? " has" : " have",
            " lost imported memory: an IMEX daemon ended, and ",
            pods.size() == 1 ? "it has" : "they have", " not started again since"),
        cat("delete ", pods.size() == 1 ? "it, so that it starts" : "them, so that they start",
            " again", deletes_text(pods)),
        deletion_of(pods)};
    finding.reason = core::Reason("ImexMemoryLost").name();
    findings.push_back(named("LostMemory", name, std::move(finding)));
  }
  return findings;
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::Ok:
      return "ok";
    case Verdict::Warning:
      return "WARN";
    case Verdict::Fails:
      return "FAIL";
  }
  return "";
}

bool CheckReport::is_healthy() const {
  const auto fails = [](const Finding& finding) { return finding.verdict == Verdict::Fails; };
  return std::ranges::none_of(install, fails) && std::ranges::none_of(nodes, fails) &&
         std::ranges::none_of(domains, fails);
}

std::vector<Finding> install_of(const ClusterView& view,
                                const std::vector<api::Definition>& expected) {
  std::vector<Finding> install;
  install.reserve(expected.size() + view.daemon_sets.size() + 5);
  for (const api::Definition& definition : expected) {
    install.push_back(
        named("Definition", definition.meta.name, look_at_definition(view, definition)));
  }
  for (const auto& [name, when_missing] :
       {std::pair(api::kChannelClass, Verdict::Fails), std::pair(kDaemonClass, Verdict::Warning)}) {
    install.push_back(named("DeviceClass", name, look_at_class(view, name, when_missing)));
  }
  install.push_back(named("Controller", "", look_at_controller(view)));
  for (const api::DaemonSetRollout& set : view.daemon_sets) {
    install.push_back(named("DaemonSet", set.meta.name, look_at_daemon_set(view, set)));
  }
  std::ranges::move(look_for_daemon_sets(view), std::back_inserter(install));
  std::ranges::move(look_at_images(view), std::back_inserter(install));
  if (auto agents = look_at_agents(view)) install.push_back(*std::move(agents));
  std::ranges::move(look_at_unreadable(view), std::back_inserter(install));
  if (std::ranges::all_of(view.nodes, is_left_out) && view.reports.empty()) {
    install.push_back(
        named("GpuNodes", "",
              {"nodes", Verdict::Fails,
               "no node is known to have GPUs, there is none now, or each has a label against the "
               "agent, so no pod of a ComputeDomain can start",
               "install node feature discovery or GPU feature discovery, by whose labels "
               "the controller knows the nodes with GPUs (docs/install.md), or label them "
               "yourself",
               cat("kubectl label node NODE --overwrite ", api::kAgentNodeLabel, "=true")}));
  }
  return install;
}

CheckReport check(const ClusterView& view, const std::vector<api::Definition>& expected) {
  CheckReport report{.install = install_of(view, expected), .nodes = {}, .domains = {}};
  const Facts facts(view);
  std::set<std::string> names;
  for (const api::Node& node : view.nodes) {
    if (!is_left_out(node)) names.insert(node.meta.name);
  }
  for (const api::ComputeDomainNode& node : view.reports) names.insert(node.meta.name);
  report.nodes.reserve(names.size());
  for (const std::string& name : names) report.nodes.push_back(look_at_node(facts, name));
  report.domains = look_at_memory(facts);
  return report;
}

}  // namespace cdom::plugin
