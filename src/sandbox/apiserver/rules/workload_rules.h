// The rules of Pod and Job: the defaults that schedulers and kubelets read, what may change after
// creation, and graceful deletion (k8s.io/kubernetes, apis/core and apis/batch). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sandbox/apiserver/serving/call.h"
#include "sandbox/apiserver/serving/status.h"
#include "sandbox/text/json.h"

namespace cdom::sandbox::server {

void default_pod(json& pod);
void prepare_created_pod(json& pod);
std::vector<Cause> pod_causes(const Call& call, const json& pod, const json* old_pod);

void default_job(json& job);
// The selector and the labels by which a Job's pods are found.
void prepare_created_job(json& job);
std::vector<Cause> job_causes(const json& job, const json* old_job);

// How long a pod may take to end when it is deleted: 0 removes it at once. A pod that no kubelet
// runs needs no time.
std::int64_t grace_period_of(const json& pod, std::optional<std::int64_t> wanted);

}  // namespace cdom::sandbox::server
