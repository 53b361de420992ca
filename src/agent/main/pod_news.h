// PodNews: passes what module dra gets from kubelet's PodsAPI to RunningPods. It keeps nothing.
#pragma once

#include <string>
#include <utility>

#include "compute_domain/agent/running_pods.h"
#include "compute_domain/dra/pod_watch.h"

namespace cdom::program {

class PodNews : public dra::PodListener {
 public:
  // The pods outlive it.
  explicit PodNews(agent::RunningPods& pods) : pods_(pods) {}

  void on_begin() override { pods_.begin_watch(); }
  void on_pod(const dra::NodePod& pod) override {
    if (pod.has_ended) return pods_.remove(pod.uid);
    core::RunningPod running = {.ns = pod.ns,
                                .name = pod.name,
                                .uid = pod.uid,
                                .claims = pod.claims,
                                .grace_seconds = pod.grace_seconds};
    pod.is_rejected ? pods_.add_rejected(std::move(running)) : pods_.add(std::move(running));
  }
  void on_gone(const std::string& uid) override { pods_.remove(uid); }
  void on_complete() override { pods_.complete_watch(); }
  void on_end() override { pods_.end_watch(); }
  void on_none() override { pods_.there_is_no_watch(); }

 private:
  agent::RunningPods& pods_;
};

}  // namespace cdom::program
