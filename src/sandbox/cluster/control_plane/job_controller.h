// JobController: the Job controller of kube-controller-manager, as far as training jobs need it.
//
// Parallelism, completions, Indexed completion, suspend, backoffLimit with its growing delay,
// activeDeadlineSeconds, ttlSecondsAfterFinished, status and conditions. Pods carry no tracking
// finalizer: what finished is counted from the pods and from the status written before. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compute_domain/kube/events.h"
#include "sandbox/cluster/informers.h"
#include "sandbox/cluster/json_client.h"
#include "sandbox/cluster/own_writes.h"
#include "sandbox/cluster/sync_next.h"

namespace cdom::sandbox {

class JobController : public Part {
 public:
  // Needs informers of jobs and pods.
  JobController(const kube::Client& client, const Informers& informers, const base::Clock& clock,
                base::Random random);

  bool step() override;
  [[nodiscard]] std::optional<base::Duration> next_due() const override;

 private:
  struct Tally;

  void see_pod(const Change& change);
  void forget_pod(const api::ObjectName& key, const json& pod);
  Synced sync(const api::ObjectName& key);
  // Of those that give a bool false means: try again.
  [[nodiscard]] Tally count(const json& job) const;
  bool finish(const json& job, Tally& tally, bool complete, std::string_view reason,
              const std::string& message);
  bool create_missing(const json& job, Tally& tally);
  bool create_pod(const json& job, std::optional<std::int64_t> index);
  bool remove_active(const json& job, Tally& tally);
  bool write_status(const json& job, const Tally& tally, json conditions);
  Synced clean_up(const json& job);

  JsonClient objects_;
  const base::Clock& clock_;
  const JsonInformer& jobs_;
  const JsonInformer& pods_;
  kube::EventRecorder recorder_;
  OwnWrites writes_;
  kube::WorkQueue<api::ObjectName> queue_;
  std::map<std::string, std::set<api::ObjectName>> pods_by_job_;  // by job UID
};

}  // namespace cdom::sandbox
