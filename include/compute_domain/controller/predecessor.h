// Predecessor: the ComputeDomain controller of NVIDIA's DRA driver, which this one replaces. Two
// that write the same objects would undo each other's work, so only one may run.
//
// How it is found: by its pods, as its charts and the GPU Operator label them, and by Deployments
// of any name that run `compute-domain-controller`. A suspect counts only when its ServiceAccount
// may write ComputeDomains in all namespaces. No tenant can grant that right, so a tenant's pod
// with such a label stops nothing.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "compute_domain/kube/client.h"

namespace cdom::controller {

enum class Look {
  AtPods,         // those with its labels: cheap
  AtDeployments,  // at all of the cluster as well
};

// Where one is at work, for people: "Pod gpu/nvidia-…-controller-0". That of this operator, in
// `own_namespace`, is not meant; one in another namespace is. nullopt: nothing shows one, also when
// we may not look. `client` must be one that may create reviews while another process leads. `beat`
// is the pulse of who calls: it takes as many requests as there are Deployments that may be one.
std::optional<std::string> find_predecessor(
    const kube::Client& client, Look look, const std::string& own_namespace,
    const std::function<void()>& beat = [] {});

}  // namespace cdom::controller
