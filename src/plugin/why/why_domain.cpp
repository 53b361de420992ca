// The chain of a ComputeDomain: the controller, its template, pods with claims, their devices, the
// nodes with their daemons, whether these reach each other, and whether a pod has lost its memory.
#include <algorithm>
#include <optional>
#include <set>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/claim_config.h"
#include "compute_domain/core/status.h"
#include "plugin/reports.h"
#include "plugin/why/domain_links.h"
#include "plugin/why/lost_memory.h"

namespace cdom::plugin {

namespace {

using base::cat;

struct DomainScene : Scene {
  const DomainFacts& domain;
  std::vector<const api::ResourceClaim*> claims = {};
};

bool has_template(DomainScene& scene) {
  const api::ComputeDomain& object = *scene.domain.object;
  if (!object.spec.channel) {
    return scene.chain.holds(object.spec.workload
                                 ? cat("it was made for ", api::to_string(*object.spec.workload))
                                 : "it has no spec.channel, so pods bring claims of their own");
  }
  const std::string& name = object.spec.channel->template_name;
  if (scene.facts.claim_template({object.meta.ns, name}) == nullptr) {
    return template_is_missing(scene, scene.domain);
  }
  const api::Condition* ready = scene.domain.condition(core::kConditionTemplate);
  const auto reason = ready == nullptr ? std::nullopt : core::Reason::find(ready->reason);
  if (reason && ready->status == api::ConditionStatus::False) {
    return scene.chain.stops_for(*reason, cat("ResourceClaimTemplate ", name), ready->message);
  }
  return scene.chain.holds(cat("pods can name ResourceClaimTemplate ", name));
}

// Pods that name almost the domain's template, and so wait for one that does not exist.
std::vector<std::string> lost_pods(const DomainScene& scene) {
  std::vector<std::string> texts;
  const std::string& ns = scene.domain.object->meta.ns;
  for (const api::PodState& pod : scene.facts.view().pods) {
    if (pod.meta.ns != ns) continue;
    for (const api::PodClaimRef& ref : pod.claims) {
      const api::ObjectName name{ns, ref.template_name};
      if (ref.template_name.empty() || scene.facts.claim_template(name) != nullptr ||
          scene.facts.maker_of(name) != nullptr || !pod.made.empty() ||
          scene.facts.is_for_another_driver(pod, ref) ||
          !unreadable_in<api::ResourceClaimTemplate>(scene.facts.view(), name).empty()) {
        continue;
      }
      texts.push_back(cat(pod.meta.name, " (names ", ref.template_name, ")"));
    }
  }
  return texts;
}

// Of a domain that has no template.
bool pods_have_no_claim(const DomainScene& scene) {
  const api::ComputeDomain& object = *scene.domain.object;
  const auto& workload = object.spec.workload;
  if (workload) {
    const std::string made_for = cat(workload->kind, " ", workload->name);
    return scene.chain.stops("no pod has a claim of it",
                             cat("no pod of ", made_for, " has a claim"),
                             cat("see whether ", made_for, " has pods, and what these wait for"),
                             cat("kubectl get pods -n ", object.meta.ns));
  }
  return scene.chain.stops(
      "no pod has a claim of it",
      "it has no spec.channel, so no ResourceClaimTemplate, and no claim names it",
      cat("create the pods, with claims whose opaque configuration for ", api::kDriver,
          " has domainID: ", object.meta.uid));
}

bool has_claims(DomainScene& scene) {
  const api::ComputeDomain& object = *scene.domain.object;
  scene.claims = scene.facts.claims_of(object);
  if (!scene.claims.empty()) {
    const auto count = std::ssize(scene.claims);
    for (const api::ResourceClaim* claim : scene.claims) {
      const std::string mistake = core::config_mistake(
          claim->allocation ? claim->allocation->configs : claim->spec.configs);
      if (mistake.empty()) continue;
      return scene.chain.stops(cat("claim ", claim->meta.name),
                               cat("the opaque configuration for ", api::kDriver, " in claim ",
                                   claim->meta.name, " is wrong: ", mistake),
                               std::string(core::config_remedy(*claim)));
    }
    return scene.chain.holds(cat(count, count == 1 ? " claim" : " claims", " of pods"));
  }
  if (!object.spec.channel) return pods_have_no_claim(scene);
  const std::vector<std::string> lost = lost_pods(scene);
  const std::string& name = object.spec.channel->template_name;
  return scene.chain.stops(
      "no pod has a claim of it",
      lost.empty() ? std::string("no pod names the ComputeDomain's ResourceClaimTemplate")
                   : cat("no pod names ResourceClaimTemplate ", name,
                         "; pods that name one which does not exist: ", base::list_names(lost)),
      cat("create the pods, with resourceClaimTemplateName: ", name, " in spec.resourceClaims"));
}

bool has_devices(DomainScene& scene) {
  std::vector<const api::ResourceClaim*> waiting;
  for (const api::ResourceClaim* claim : scene.claims) {
    if (!claim->allocation && !claim->meta.is_deleting()) waiting.push_back(claim);
  }
  if (!waiting.empty()) return device_is_missing(scene, scene.domain, *waiting.front());
  return scene.chain.holds(cat("each of the claims has a device"));
}

// The worst member that is not ready.
const core::MemberView* worst_member(const DomainFacts& domain) {
  const core::MemberView* worst = nullptr;
  for (const core::MemberView& member : domain.readiness.members) {
    if (member.state == core::MemberState("Ready")) continue;
    if (worst == nullptr || member.state.is_worse_than(worst->state)) worst = &member;
  }
  return worst;
}

bool nodes_are_ready(DomainScene& scene) {
  if (scene.domain.world.view.has_predecessor) return predecessor_serves(scene, scene.domain);
  const auto& members = scene.domain.readiness.members;
  const auto ready =
      std::ranges::count(members, core::MemberState("Ready"), &core::MemberView::state);
  const std::string text =
      cat(ready, " of ", members.size(), members.size() == 1 ? " node is" : " nodes are", " ready");
  const core::MemberView* worst = worst_member(scene.domain);
  if (worst == nullptr) return scene.chain.holds(text);
  const bool lacks_list = worst->slot < 0 && worst->state == core::MemberState("Starting");
  if (lacks_list && scene.controller.is_away()) {
    return scene.chain.stops(
        text, cat("no controller works that would write the node lists: ", scene.controller.found),
        scene.controller.remedy, scene.controller.command);
  }
  return scene.chain.stops_for(worst->state, text,
                               cat(worst->membership.node, ": ", worst->detail));
}

bool pods_have_their_memory(DomainScene& scene) {
  const auto pods = pods_without_memory(scene.facts, scene.domain);
  if (pods.empty())
    return scene.chain.holds(
        "nothing tells of a pod that runs without memory that it had imported");
  const bool is_one = pods.size() == 1;
  return scene.chain.stops(
      cat(pods_text(pods), is_one ? " runs" : " run", " without the memory that ",
          is_one ? "it has" : "they have", " imported"),
      cat("an IMEX daemon ended under ", pods_text(pods), ", and with it the memory that ",
          is_one ? "it" : "they",
          " had imported over NVLink: a daemon that is READY again does "
          "not bring it back"),
      is_one ? std::string("delete the pod, so that it starts again")
             : cat("delete the pods, so that they start again", deletes_text(pods)),
      deletion_of(pods));
}

bool controller_works(DomainScene& scene) {
  const api::Condition* writes = scene.domain.condition(core::kConditionWrites);
  if (writes != nullptr && writes->status == api::ConditionStatus::False) {
    return scene.chain.stops_for("WriteRefused", scene.controller.found, writes->message);
  }
  if (scene.domain.status || !scene.controller.is_away()) {
    return scene.chain.holds(scene.controller.found);
  }
  return scene.chain.stops(scene.controller.found,
                           "no controller has seen the ComputeDomain, as none works",
                           scene.controller.remedy, scene.controller.command);
}

bool is_ready(const std::optional<api::ComputeDomainStatus>& status) {
  return status && status->ready;
}

// The last link, as what is broken in the domain itself comes first.
bool status_is_written(DomainScene& scene) {
  const bool is_stale = is_ready(scene.domain.status) && !is_ready(scene.domain.object->status);
  if (!is_stale) return scene.chain.holds("says what the nodes report");
  if (!scene.controller.is_away()) return scene.chain.holds("the controller is about to write it");
  return scene.chain.stops(
      "says NotReady: the controller that wrote it has gone",
      cat("no controller works that would write that the ComputeDomain is Ready, as it is by "
          "what its nodes report: ",
          scene.controller.found),
      scene.controller.remedy, scene.controller.command);
}

}  // namespace

base::Result<WhyReport> why_domain(const ClusterView& view, const api::ObjectName& name) {
  const Facts facts(view);
  const api::ComputeDomain* object = facts.domain(name);
  if (object == nullptr) return no_such_domain(view, name);
  return why_of(facts, facts.facts_of(*object));
}

WhyReport why_of(const Facts& facts, const DomainFacts& domain) {
  const ControllerLife controller = controller_life(facts.view());
  Chain chain(cat("ComputeDomain ", api::to_string(api::name_of(domain.object->meta))),
              {"ComputeDomain", "Controller", "Template", "Claims", "Devices", "Nodes", "Peers",
               "Pods", "Status"});
  DomainScene scene{{facts, controller, chain}, domain};
  void(domain_lives(scene, domain) && controller_works(scene) && has_template(scene) &&
       has_claims(scene) && has_devices(scene) && nodes_are_ready(scene) &&
       peers_are_connected(scene, domain) && pods_have_their_memory(scene) &&
       status_is_written(scene));
  return std::move(chain).report();
}

}  // namespace cdom::plugin
