// The chain of a pod: its claim, the ComputeDomain, the device, the node, the node list, the IMEX
// daemon, the peers, and last its own containers.
#include <algorithm>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/claim_config.h"
#include "compute_domain/core/membership.h"
#include "compute_domain/core/node_lists.h"
#include "plugin/why/domain_links.h"
#include "plugin/why/lost_memory.h"

namespace cdom::plugin {

namespace {

using base::cat;

struct PodScene : Scene {
  const api::PodState& pod;
  const api::ResourceClaim* claim = nullptr;
  std::optional<DomainFacts> domain = {};
};

bool is_running(const api::PodState& pod) { return pod.phase == "Running"; }

std::string look_at_agent(const PodScene& scene, const std::string& node) {
  return cat("kubectl get pods -n ", scene.facts.view().namespaces.nodes,
             " -o wide --field-selector spec.nodeName=", node);
}

std::string describe(const PodScene& scene) {
  return cat("kubectl describe pod ", scene.pod.meta.name, " -n ", scene.pod.meta.ns);
}

bool has_ended(const api::PodState& pod) {
  return pod.phase == "Succeeded" || pod.phase == "Failed";
}

// Kubernetes deletes the claims that it made for a pod when the pod has ended.
bool tells_of_its_end(const PodScene& scene) {
  const api::PodState& pod = scene.pod;
  const std::string text = cat("pod ", pod.meta.name, " has ended: ", pod.phase);
  const auto events = scene.facts.events_on(pod.meta.uid);
  const auto lost =
      std::ranges::find(events.rbegin(), events.rend(), "ImexMemoryLost", &api::Occurrence::reason);
  if (pod.phase == "Failed" && lost != events.rend()) {
    return scene.chain.stops(text, (*lost)->message, "create the pod again, if nothing else does");
  }
  return scene.chain.stops(
      text, "the pod has ended, and Kubernetes deletes the claims of a pod that has ended",
      "read its log and its Events; `kubectl compute-domain timeline` shows what happened to its "
      "ComputeDomain",
      cat("kubectl logs ", pod.meta.name, " -n ", pod.meta.ns, " --all-containers"));
}

bool pod_is_there(const PodScene& scene) {
  const api::PodState& pod = scene.pod;
  if (has_ended(pod)) return tells_of_its_end(scene);
  const std::string since = ago(scene.facts, pod.meta.creation_time);
  return scene.chain.holds(cat("pod ", pod.meta.name, " is ", pod.phase.empty() ? "new" : pod.phase,
                               since.empty() ? "" : cat(", created", since),
                               pod.meta.is_deleting() ? ", and is being deleted" : ""));
}

// Templates of ComputeDomains in the pod's namespace, for who has taken a wrong one.
std::string templates_there_are(const PodScene& scene) {
  std::vector<std::string> names;
  for (const api::ComputeDomain& domain : scene.facts.view().domains) {
    if (domain.meta.ns != scene.pod.meta.ns || !domain.spec.channel) continue;
    names.push_back(
        cat(domain.spec.channel->template_name, " (of ComputeDomain ", domain.meta.name, ")"));
  }
  const std::string& ns = scene.pod.meta.ns;
  if (names.empty()) return cat("there is no ComputeDomain with a template in namespace ", ns);
  return cat("in namespace ", ns, " there is ", base::list_names(names));
}

constexpr char kUnreadableRemedy[] =
    "correct the object, or use the plugin of the operator's release";

bool template_is_unknown(const PodScene& scene, const std::string& name) {
  const std::string problem =
      unreadable_in<api::ResourceClaimTemplate>(scene.facts.view(), {scene.pod.meta.ns, name});
  if (!problem.empty()) {
    return scene.chain.stops(cat("the pod names ResourceClaimTemplate ", name),
                             cat("ResourceClaimTemplate ", name, " cannot be read: ", problem),
                             kUnreadableRemedy);
  }
  return scene.chain.stops(
      cat("the pod names ResourceClaimTemplate ", name, ", which does not exist"),
      cat("no ResourceClaimTemplate ", name, " exists in namespace ", scene.pod.meta.ns,
          ", and no ComputeDomain there makes one; ", templates_there_are(scene)),
      cat("correct resourceClaimTemplateName in the pod (or in what makes it) and create it again, "
          "or create a ComputeDomain whose spec.channel.resourceClaimTemplate.name is ",
          name));
}

// An entry of the pod's spec that has no claim yet and may be for a ComputeDomain: first of all one
// that names what is not there, as Kubernetes makes none of a pod's claims for as long as it cannot
// make one. Null: there is none.
const api::PodClaimRef* entry_without_claim(const PodScene& scene) {
  const api::PodClaimRef* waiting = nullptr;
  for (const api::PodClaimRef& ref : scene.pod.claims) {
    const bool is_made = std::ranges::find(scene.pod.made, ref.name, &api::PodClaimMade::name) !=
                         scene.pod.made.end();
    if (is_made || (ref.template_name.empty() && ref.claim_name.empty())) continue;
    if (scene.facts.is_for_another_driver(scene.pod, ref)) continue;
    if (scene.facts.claim_template({scene.pod.meta.ns, ref.template_name}) == nullptr) return &ref;
    if (waiting == nullptr) waiting = &ref;
  }
  return waiting;
}

// A claim that was made for the pod from a ComputeDomain's template, and that exists no more.
std::string lost_claim(const PodScene& scene) {
  for (const api::PodClaimRef& ref : scene.pod.claims) {
    const api::ObjectName from{scene.pod.meta.ns, ref.template_name};
    const auto made = std::ranges::find(scene.pod.made, ref.name, &api::PodClaimMade::name);
    if (made == scene.pod.made.end() || made->claim_name.empty()) continue;
    if (scene.facts.claim_template(from) == nullptr) continue;
    if (scene.facts.claim({scene.pod.meta.ns, made->claim_name}) == nullptr) {
      return made->claim_name;
    }
  }
  return "";
}

bool asks_for_none(const PodScene& scene) {
  return scene.chain.stops("no claim of the pod is for a ComputeDomain",
                           "the pod does not ask for a ComputeDomain, so it gets no IMEX channel",
                           cat("name the ComputeDomain's ResourceClaimTemplate in the pod's "
                               "spec.resourceClaims and in its container's resources.claims; ",
                               templates_there_are(scene)));
}

bool claim_is_missing(PodScene& scene) {
  const api::PodClaimRef* ref = entry_without_claim(scene);
  const std::string lost = lost_claim(scene);
  const std::string& named = ref == nullptr ? lost : ref->claim_name;
  const std::string problem =
      unreadable_in<api::ResourceClaim>(scene.facts.view(), {scene.pod.meta.ns, named});
  if (!problem.empty()) {
    return scene.chain.stops(cat("the pod has claim ", named),
                             cat("ResourceClaim ", named, " cannot be read: ", problem),
                             kUnreadableRemedy);
  }
  if (ref == nullptr && !lost.empty()) {
    return scene.chain.stops(
        cat("claim ", lost, " was made for the pod"),
        cat("ResourceClaim ", lost, " does not exist any more: somebody has deleted it"),
        "delete the pod, so that another one gets a claim of its own");
  }
  if (ref == nullptr) return asks_for_none(scene);
  const std::string& ns = scene.pod.meta.ns;
  if (!ref->claim_name.empty()) {
    return scene.chain.stops(cat("the pod names ResourceClaim ", ref->claim_name),
                             cat("there is no ResourceClaim ", ref->claim_name,
                                 " for a ComputeDomain in namespace ", ns),
                             "create it, or correct resourceClaimName in the pod");
  }
  const api::ObjectName wanted{ns, ref->template_name};
  if (scene.facts.claim_template(wanted) != nullptr) {
    const std::string text = cat("there is no claim of template ", wanted.name, " for the pod yet");
    if (gated({&scene.pod}) != nullptr) return gate_is_closed(scene, scene.pod, text);
    return scene.chain.stops(text, "Kubernetes has not created the pod's claim yet",
                             "wait a moment; if it lasts, see the pod's Events", describe(scene));
  }
  const api::ComputeDomain* maker = scene.facts.maker_of(wanted);
  if (maker == nullptr) return template_is_unknown(scene, wanted.name);
  if (maker->meta.is_deleting()) {
    return scene.chain.stops_for("ComputeDomainBeingDeleted",
                                 cat("ResourceClaimTemplate ", wanted.name, " is gone"),
                                 cat("ComputeDomain ", maker->meta.name));
  }
  return template_is_missing(scene, scene.facts.facts_of(*maker));
}

// The entry of the pod's spec for a ComputeDomain, when no container has it, nor another one; null:
// a container has one, or nobody knows.
const api::PodClaimRef* unused_entry(const api::PodState& pod,
                                     const std::vector<const api::ResourceClaim*>& claims) {
  const api::PodClaimRef* unused = nullptr;
  for (const api::PodClaimRef& ref : pod.claims) {
    if (!leads_to_one_of(pod, ref, claims)) continue;
    if (pod.uses(ref.name).value_or(true)) return nullptr;
    if (unused == nullptr) unused = &ref;
  }
  return unused;
}

bool claim_is_unused(const PodScene& scene, const std::string& claim, const std::string& entry) {
  return scene.chain.stops(
      cat("claim ", claim, " is of the pod, and of none of its containers"),
      cat("no container of the pod uses claim ", entry,
          ", so each of them runs without an IMEX channel"),
      cat("add resources.claims: [{name: ", entry,
          "}] to the container that needs it, in what makes the pod, and create the pod again"));
}

bool has_claim(PodScene& scene) {
  const auto claims = scene.facts.claims_of(scene.pod);
  if (claims.empty()) return claim_is_missing(scene);
  scene.claim = claims.front();
  const api::ResourceClaim& claim = *scene.claim;
  const std::string mistake =
      core::config_mistake(claim.allocation ? claim.allocation->configs : claim.spec.configs);
  const std::string name = cat("claim ", claim.meta.name);
  if (const api::PodClaimRef* entry = unused_entry(scene.pod, claims)) {
    return claim_is_unused(scene, claim.meta.name, entry->name);
  }
  if (mistake.empty()) return scene.chain.holds(cat(name, " is for ", api::kDriver));
  return scene.chain.stops(
      cat(name, " has a configuration that cannot be used"),
      cat("the opaque configuration for ", api::kDriver, " in the claim is wrong: ", mistake),
      std::string(core::config_remedy(claim)));
}

bool has_domain(PodScene& scene) {
  using Kind = core::DomainRef::Kind;
  const api::ResourceClaim& claim = *scene.claim;
  const core::DomainRef ref = core::domain_ref_of(claim);
  const api::ComputeDomain* domain = scene.facts.domain_of(claim);
  if (domain == nullptr && ref.kind == Kind::Named) {
    return scene.chain.stops_for("UnknownComputeDomain",
                                 cat("the claim names the ComputeDomain with UID ", ref.uid),
                                 "it was deleted, and perhaps created again with another UID");
  }
  if (domain == nullptr && ref.kind == Kind::Automatic) {
    const std::string text =
        "the claim names no ComputeDomain, so its workload gets one of its own";
    if (scene.controller.is_away()) {
      return scene.chain.stops(
          text, cat("no controller works that would create it: ", scene.controller.found),
          scene.controller.remedy, scene.controller.command);
    }
    for (const api::Occurrence* event : scene.facts.events_on(claim.meta.uid)) {
      if (event->type != "Warning") continue;
      if (const auto reason = core::Reason::find(event->reason)) {
        return scene.chain.stops_for(*reason, text, event->message);
      }
    }
    if (gated({&scene.pod}) != nullptr) return gate_is_closed(scene, scene.pod, text);
    return scene.chain.stops(text, "the controller has not created the ComputeDomain yet",
                             "wait a moment; if it lasts, read the controller's log");
  }
  if (domain == nullptr) {
    return scene.chain.stops(
        "the claim names no ComputeDomain that could be",
        "the claim has no configuration that leads to a ComputeDomain",
        "use the ResourceClaimTemplate that a ComputeDomain makes, and create the pod again");
  }
  if (domain->meta.ns != claim.meta.ns) {
    return scene.chain.stops_for(
        "WrongNamespace", cat("the claim names ComputeDomain ", domain->meta.name),
        cat("it is in namespace ", domain->meta.ns, ", the claim in ", claim.meta.ns));
  }
  scene.domain = scene.facts.facts_of(*domain);
  return domain_lives(scene, *scene.domain);
}

bool has_device(PodScene& scene) {
  const api::ResourceClaim& claim = *scene.claim;
  if (!claim.allocation) return device_is_missing(scene, *scene.domain, claim);
  const auto device =
      std::ranges::find(claim.allocation->devices, api::kDriver, &api::AllocatedDevice::driver);
  const std::string name =
      device == claim.allocation->devices.end() ? "" : cat(device->pool, "/", device->device);
  return scene.chain.holds(cat("the scheduler gave it device ", name));
}

std::string node_of(const PodScene& scene) {
  return scene.pod.node.empty() ? scene.claim->allocation->node : scene.pod.node;
}

// The pod's node in the domain, when its state stops its pods here.
const core::MemberView* member_that_stops(const PodScene& scene, core::Stop where) {
  const core::MemberView* member = scene.domain->member(node_of(scene));
  return member != nullptr && member->state.row().stop == where ? member : nullptr;
}

// What kubelet could not do before anybody of ours heard of it.
const api::Occurrence* failed_prepare(const PodScene& scene) {
  if (is_running(scene.pod)) return nullptr;
  const auto events = scene.facts.events_on(scene.pod.meta.uid);
  const auto it = std::ranges::find(events.rbegin(), events.rend(), "FailedPrepareDynamicResources",
                                    &api::Occurrence::reason);
  return it == events.rend() ? nullptr : *it;
}

// What the scheduler says of a pod that it has no node for; "": nothing.
std::string scheduler_words(const api::PodState& pod) {
  const api::PodCondition* scheduled = pod.condition("PodScheduled");
  return scheduled == nullptr || scheduled->status != api::ConditionStatus::False
             ? ""
             : scheduled->message;
}

bool has_node(PodScene& scene) {
  const std::string node = node_of(scene);
  if (scene.pod.node.empty()) {
    const std::string says = scheduler_words(scene.pod);
    if (!says.empty()) {
      return scene.chain.stops(
          "the pod has no node yet",
          cat("claim ", scene.claim->meta.name, " has a device, and the scheduler finds no node ",
              "for the pod: ", says),
          "check the pod's node selector, affinity, tolerations and its other requests against the "
          "nodes that the claim can be used on",
          describe(scene));
    }
    return scene.chain.stops("the pod has no node yet",
                             "the scheduler has allocated the claim and has not bound the pod yet",
                             "wait a moment; if it lasts, see the pod's Events", describe(scene));
  }
  const std::string text = cat("node ", node);
  if (const auto doubt = scene.facts.doubt_of(node)) {
    return scene.chain.stops_for(
        core::Reason::find(doubt->reason).value_or(core::Reason("NodeUnknown")), text,
        doubt->message);
  }
  if (const core::MemberView* member = member_that_stops(scene, core::Stop::AtNode)) {
    return scene.chain.stops_for(member->state, text, member->detail);
  }
  const api::ComputeDomainNode* report = scene.facts.report(node);
  if (report == nullptr) {
    return scene.chain.stops_for("NotReported", text, "", look_at_agent(scene, node));
  }
  const auto clique = api::clique_of(report->status);
  return scene.chain.holds(cat(
      text, " reports ", !clique || clique->empty() ? "no NVLink fabric" : cat("clique ", *clique),
      ", isolation by ", api::to_string(report->status.isolation)));
}

// Whether NVIDIA's DRA driver, which was here before, serves the domain until its pods have ended.
bool is_predecessors(const PodScene& scene) { return scene.domain->world.view.has_predecessor; }

// The list that admits the claim on the node; null: none does.
const api::NodeList* admitting_list(const PodScene& scene) {
  for (const core::StoredList& stored : scene.domain->world.lists) {
    if (!stored.list) continue;
    const api::NodeListEntry* entry = core::find_entry(*stored.list, node_of(scene));
    if (entry == nullptr) continue;
    for (const api::Admission& admission : entry->admits) {
      if (admission.claim_uid == scene.claim->meta.uid) return &*stored.list;
    }
  }
  return nullptr;
}

bool is_in_node_list(PodScene& scene) {
  if (core::has_admin_access(*scene.claim)) {
    return scene.chain.holds("the claim has admin access and needs no node list");
  }
  if (is_predecessors(scene)) {
    return is_running(scene.pod)
               ? scene.chain.holds("the pod runs by NVIDIA's DRA driver, which has no node lists")
               : predecessor_serves(scene, *scene.domain);
  }
  if (const core::MemberView* member = member_that_stops(scene, core::Stop::AtNodeList)) {
    return scene.chain.stops_for(member->state, "the node list has no place for the node",
                                 member->detail);
  }
  if (const api::NodeList* list = admitting_list(scene)) {
    const api::NodeListEntry* entry = core::find_entry(*list, node_of(scene));
    return scene.chain.holds(
        cat("the controller admits the claim",
            entry->slot < 0 ? "" : cat(": slot ", entry->slot, " of ", list->slots)));
  }
  const std::string text = "no node list admits the claim";
  if (scene.controller.is_away()) {
    return scene.chain.stops(
        text, cat("no controller works that would write the node list: ", scene.controller.found),
        scene.controller.remedy, scene.controller.command);
  }
  return scene.chain.stops(text, "the controller has not written the node list yet",
                           "wait a moment; if it lasts, read the controller's log");
}

// Kubelet knows no agent of ours there, so that what the node has reported gets no newer.
// (k8s.io/kubernetes/pkg/kubelet/cm/dra/plugin; the second text is that of 1.32 and 1.33.)
bool has_no_agent(const api::Occurrence& event) {
  const auto says = [&](const std::string& text) {
    return event.message.find(text) != std::string::npos;
  };
  return says(cat(api::kDriver, " is not registered")) ||
         (says(api::kDriver) && says("not found in the list of registered DRA plugins"));
}

bool stops_at_agent(PodScene& scene, const api::Occurrence& event) {
  const std::string node = node_of(scene);
  return scene.chain.stops(cat("kubelet cannot prepare the claim on ", node), event.message,
                           "check the compute-domain-agent pod there", look_at_agent(scene, node));
}

bool has_daemon(PodScene& scene) {
  const std::string node = node_of(scene);
  if (is_predecessors(scene)) {
    return scene.chain.holds("a daemon of NVIDIA's DRA driver serves it until it ends");
  }
  if (const core::MemberView* member = member_that_stops(scene, core::Stop::AtDaemon)) {
    if (const api::Occurrence* event = failed_prepare(scene);
        event != nullptr && member->state == core::MemberState("Starting")) {
      if (has_no_agent(*event)) return stops_at_agent(scene, *event);
      return scene.chain.stops(
          cat("kubelet cannot prepare the claim on ", node),
          cat(event->message,
              member->detail.empty() ? "" : cat("; the node reports: ", member->detail)),
          "see which claims wait on the node, and for what", cat("kubectl describe cdn ", node));
    }
    return scene.chain.stops_for(member->state, cat("node ", node, " is not ready for the pod"),
                                 member->detail);
  }
  if (const api::Occurrence* event = failed_prepare(scene);
      event != nullptr && scene.domain->member(node) == nullptr) {
    return stops_at_agent(scene, *event);
  }
  if (const auto lost = lost_memory(scene.facts, *scene.domain, scene.pod)) {
    return scene.chain.stops(
        cat("the IMEX daemon on ", node, " is READY again, and the pod runs since before it ended"),
        *lost, std::string(core::Reason("ImexMemoryLost").row().next), deletion_of({&scene.pod}));
  }
  const api::ComputeDomainNode* report = scene.facts.report(node);
  if (report != nullptr && api::clique_of(report->status) == "") {
    return scene.chain.holds(
        cat("node ", node, " has no NVLink fabric, so no IMEX daemon; the claim is prepared"));
  }
  return scene.chain.holds(
      cat("the IMEX daemon on ", node, " is READY, and the claim is prepared"));
}

bool has_peers(PodScene& scene) {
  if (is_predecessors(scene)) {
    return scene.chain.holds("NVIDIA's DRA driver does not report whom its daemons reach");
  }
  if (const core::MemberView* member = member_that_stops(scene, core::Stop::AtPeers)) {
    return scene.chain.stops_for(member->state, cat("node ", node_of(scene), " is cut off"),
                                 member->detail);
  }
  return peers_are_connected(scene, *scene.domain);
}

// What every container waits for that has not started, and no trouble of its own.
bool is_before_its_start(const std::string& reason) {
  return reason == "ContainerCreating" || reason == "PodInitializing";
}

bool has_failed(const api::ContainerState& container) {
  return !container.ended_reason.empty() && container.ended_reason != "Completed";
}

bool container_is_in_trouble(const PodScene& scene, const api::ContainerState& container,
                             const std::string& kind) {
  const std::string name = cat(kind, " ", container.name);
  if (has_failed(container)) {
    const std::string ended = cat(name, " has ended: ", container.ended_reason);
    return scene.chain.stops(ended, cat("nothing of the ComputeDomain stops the pod; its ", ended),
                             "read its log",
                             cat("kubectl logs ", scene.pod.meta.name, " -n ", scene.pod.meta.ns,
                                 " -c ", container.name));
  }
  const std::string& reason = container.waiting_reason;
  return scene.chain.stops(
      cat(name, " waits: ", reason),
      cat("nothing of the ComputeDomain stops the pod; its ", name, " does not start: ", reason,
          container.waiting_message.empty() ? "" : cat(": ", container.waiting_message)),
      "see the pod's Events", describe(scene));
}

bool is_in_trouble(const api::ContainerState& container) {
  const std::string& reason = container.waiting_reason;
  return has_failed(container) || (!reason.empty() && !is_before_its_start(reason));
}

// "container worker runs", "containers a and b run"; "" for none.
std::string names_text(const std::vector<std::string>& names, const char* is, const char* are) {
  if (names.empty()) return "";
  const bool is_one = names.size() == 1;
  return cat(is_one ? "container " : "containers ", base::list_names(names), is_one ? is : are);
}

std::string state_of_containers(const api::PodState& pod) {
  std::vector<std::string> run, ended;
  for (const api::ContainerState& container : pod.containers) {
    if (container.started) run.push_back(container.name);
    if (!container.started && container.waiting_reason.empty()) ended.push_back(container.name);
  }
  if (ended.empty()) return "the containers run";
  const std::string text = names_text(ended, " has ended", " have ended");
  return run.empty() ? text : cat(names_text(run, " runs", " run"), "; ", text);
}

bool containers_run(PodScene& scene) {
  const api::PodState& pod = scene.pod;
  for (const api::ContainerState& container : pod.init_containers) {
    if (is_in_trouble(container))
      return container_is_in_trouble(scene, container, "init container");
  }
  for (const api::ContainerState& container : pod.containers) {
    if (is_in_trouble(container)) return container_is_in_trouble(scene, container, "container");
  }
  const auto initializes =
      std::ranges::find(pod.containers, "PodInitializing", &api::ContainerState::waiting_reason);
  const auto works = std::ranges::find_if(
      pod.init_containers.rbegin(), pod.init_containers.rend(),
      [](const api::ContainerState& container) { return container.started.has_value(); });
  // A sidecar is an init container that does not end.
  const api::PodCondition* initialized = pod.condition("Initialized");
  const bool awaits = initialized == nullptr || initialized->status != api::ConditionStatus::True;
  if (awaits && initializes != pod.containers.end() && works != pod.init_containers.rend()) {
    return scene.chain.stops(
        cat("init container ", works->name, " runs"),
        cat("nothing of the ComputeDomain stops the pod; its containers wait until init container ",
            works->name, " has ended"),
        "wait for it, or read its log",
        cat("kubectl logs ", pod.meta.name, " -n ", pod.meta.ns, " -c ", works->name));
  }
  return scene.chain.holds(is_running(pod)
                               ? state_of_containers(pod)
                               : cat("the pod is ", pod.phase.empty() ? "new" : pod.phase));
}

std::vector<std::string> names_of(const std::vector<api::PodState>& pods, const std::string& ns) {
  std::vector<std::string> names;
  for (const api::PodState& pod : pods) {
    if (pod.meta.ns == ns) names.push_back(pod.meta.name);
  }
  return names;
}

// Of pods without claims a bundle has those of one namespace only.
base::Error no_such_pod(const ClusterView& view, const api::ObjectName& name) {
  if (const std::string problem = unreadable_in<api::PodState>(view, name); !problem.empty()) {
    return base::invalid(
        cat("pod ", name.name, " in namespace ", name.ns, " cannot be read: ", problem));
  }
  const std::vector<std::string> names = names_of(view.pods, name.ns);
  return {
      base::ErrorKind::NotFound,
      cat("there is no pod ", name.name,
          view.pods_read_in == name.ns ? "" : " with a resource claim", " in namespace ", name.ns,
          names.empty() ? "" : cat("; those with a claim: ", base::list_names(names)))};
}

}  // namespace

base::Result<WhyReport> why_pod(const ClusterView& view, const api::ObjectName& name) {
  const Facts facts(view);
  const api::PodState* pod = facts.pod(name);
  if (pod == nullptr && !is_of_others<api::PodState>(view, name)) return no_such_pod(view, name);
  const ControllerLife controller = controller_life(view);
  Chain chain(cat("pod ", api::to_string(name)),
              {"Pod", "Claim", "ComputeDomain", "Device", "Node", "Node list", "IMEX daemon",
               "Peers", "Containers"});
  // Of a pod without a claim nothing else is known.
  api::PodState unread;
  unread.meta.ns = name.ns;
  unread.meta.name = name.name;
  PodScene scene{{facts, controller, chain}, pod == nullptr ? unread : *pod};
  if (pod == nullptr) {
    void(chain.holds(cat("pod ", name.name, " is there")) && asks_for_none(scene));
    return std::move(chain).report();
  }
  // Each step tells one link, and whether the next one is worth a look.
  void(pod_is_there(scene) && has_claim(scene) && has_domain(scene) && has_device(scene) &&
       has_node(scene) && is_in_node_list(scene) && has_daemon(scene) && has_peers(scene) &&
       containers_run(scene));
  return std::move(chain).report();
}

}  // namespace cdom::plugin
