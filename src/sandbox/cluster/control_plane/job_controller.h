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

#include "sandbox/cluster/agenda.h"
#include "sandbox/cluster/mirrors.h"
#include "sandbox/cluster/objects.h"
#include "sandbox/cluster/recorder.h"

namespace cdom::sandbox {

class JobController : public Part {
 public:
  // Needs mirrors of jobs and pods.
  JobController(http::Client& client, const Mirrors& mirrors, const base::Clock& clock,
                base::Random random);

  bool step() override;
  [[nodiscard]] std::optional<base::Duration> next_due() const override;

 private:
  struct Tally;

  void see_pod(const Change& change);
  void forget_pod(const ObjectKey& key, const json& pod);
  // False: try again.
  bool sync(const ObjectKey& key);
  [[nodiscard]] Tally count(const json& job) const;
  bool finish(const json& job, Tally& tally, bool complete, std::string_view reason,
              const std::string& message);
  bool create_missing(const json& job, Tally& tally);
  bool create_pod(const json& job, std::optional<std::int64_t> index);
  bool remove_active(const json& job, Tally& tally);
  bool write_status(const json& job, const Tally& tally, json conditions);
  bool clean_up(const json& job);

  Objects objects_;
  const base::Clock& clock_;
  const Mirror& jobs_;
  const Mirror& pods_;
  Recorder recorder_;
  OwnWrites writes_;
  Agenda<ObjectKey> agenda_;
  std::map<std::string, std::set<ObjectKey>> pods_by_job_;  // by job UID
};

}  // namespace cdom::sandbox
