// Links that the chains of a pod and of a ComputeDomain have in common. Pure.
#pragma once

#include <string>

#include "plugin/controller_life.h"
#include "plugin/facts.h"
#include "plugin/why/chain.h"

namespace cdom::plugin {

// What all steps of one chain look at.
struct Scene {
  const Facts& facts;
  const ControllerLife& controller;
  Chain& chain;
};

// "ComputeDomain train": nothing keeps new pods from it. Broken while it is being deleted.
bool domain_lives(const Scene& scene, const DomainFacts& domain);

// That NVIDIA's DRA driver, which was here before, still serves the domain. Always broken.
bool predecessor_serves(const Scene& scene, const DomainFacts& domain);

// Why there is no template of the domain. Always broken.
bool template_is_missing(const Scene& scene, const DomainFacts& domain);

// Why claims of the domain have no device. `claim` is one of them. Always broken.
bool device_is_missing(const Scene& scene, const DomainFacts& domain,
                       const api::ResourceClaim& claim);

// The first of the pods that a scheduling gate holds back; null: none is.
const api::PodState* gated(const std::vector<const api::PodState*>& pods);
// That its gate holds the pod back. Always broken.
bool gate_is_closed(const Scene& scene, const api::PodState& pod, std::string text);

// Whether the domain is Ready: all of its nodes are, and reach each other.
bool peers_are_connected(const Scene& scene, const DomainFacts& domain);

// " 5m ago", or "" when nobody knows since when.
std::string ago(const Facts& facts, const std::optional<base::Time>& time);
// "pods train-0 and train-1", "pod train-0".
std::string pods_text(const std::vector<const api::PodState*>& pods);

}  // namespace cdom::plugin
