#include "sandbox/cluster/control_plane/job_controller.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/cluster/node/pod_facts.h"
#include "sandbox/cluster/scheduler/index_ranges.h"

namespace cdom::sandbox {
namespace {

using std::chrono::seconds;

constexpr char kIndexName[] = "batch.kubernetes.io/job-completion-index";
constexpr base::Duration kFirstBackOff = seconds(10);
constexpr base::Duration kLastBackOff = seconds(600);

std::int64_t number_at(const json& object, std::string_view pointer, std::int64_t otherwise) {
  const json& value = at(object, pointer);
  return value.is_number_integer() ? value.get<std::int64_t>() : otherwise;
}

bool is_indexed(const json& job) { return text_at(job, "/spec/completionMode") == "Indexed"; }
bool is_suspended(const json& job) { return at(job, "/spec/suspend") == true; }
bool is_finished(const json& job) {
  return has_condition(job, "Complete", "True") || has_condition(job, "Failed", "True");
}

std::int64_t parallelism_of(const json& job) { return number_at(job, "/spec/parallelism", 1); }
// How many pods have to succeed; a work queue without completions is done with its first.
std::int64_t completions_of(const json& job) { return number_at(job, "/spec/completions", 1); }

std::optional<std::int64_t> index_of(const json& pod) {
  const std::string text = annotation_of(pod, kIndexName);
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) return {};
  return std::stoll(text);
}

json condition(std::string_view type, std::string_view reason, const std::string& message,
               base::Time now) {
  return {{"type", type},
          {"status", "True"},
          {"reason", reason},
          {"message", message},
          {"lastProbeTime", base::to_rfc3339(now)},
          {"lastTransitionTime", base::to_rfc3339(now)}};
}

}  // namespace

struct JobController::Tally {
  std::vector<ObjectPtr> active;
  std::int64_t ready = 0, terminating = 0, succeeded = 0, failed = 0;
  std::set<std::int64_t> done, running;  // indexes
  std::optional<base::Time> last_failure;
  std::optional<base::Time> completed;
  std::optional<base::Duration> again_after;  // at a moment that the clock brings
};

JobController::JobController(const kube::Client& client, const Informers& informers,
                             const base::Clock& clock, base::Random random)
    : objects_(client),
      clock_(clock),
      jobs_(informers.of(kJobs)),
      pods_(informers.of(kPods)),
      recorder_(client, clock, {.component = "job-controller", .seed = random.next()}),
      writes_(clock),
      queue_(clock) {
  informers.of(kJobs).on_change([this](const Change& change) { queue_.add(change.key); });
  informers.of(kPods).on_change([this](const Change& change) { see_pod(change); });
}

void JobController::see_pod(const Change& change) {
  // Also a pod that has lost its controller is one less.
  if (change.before) forget_pod(change.key, *change.before);
  for (const ObjectPtr& pod : {change.before, change.after}) {
    const std::string job = pod ? controller_uid(*pod, "Job") : std::string();
    if (job.empty()) continue;
    if (pod == change.after) pods_by_job_[job].insert(change.key);
    for (const json& owner : at(*pod, "/metadata/ownerReferences")) {
      if (text_at(owner, "/uid") == job) queue_.add({change.key.ns, text_at(owner, "/name")});
    }
  }
}

void JobController::forget_pod(const api::ObjectName& key, const json& pod) {
  const auto known = pods_by_job_.find(controller_uid(pod, "Job"));
  if (known == pods_by_job_.end()) return;
  known->second.erase(key);
  if (known->second.empty()) pods_by_job_.erase(known);
}

bool JobController::step() {
  if (recorder_.step()) return true;
  if (!jobs_.has_synced() || !pods_.has_synced() || !writes_.all_seen()) return false;
  return sync_next(queue_, [this](const auto& key) { return sync(key); });
}

std::optional<base::Duration> JobController::next_due() const {
  return earlier(recorder_.next_due(), earlier(queue_.next_due(), writes_.next_due()));
}

JobController::Tally JobController::count(const json& job) const {
  Tally tally;
  for (const std::int64_t index : parse_ranges(text_at(job, "/status/completedIndexes"))) {
    tally.done.insert(index);
  }
  const auto owned = pods_by_job_.find(uid_of(job));
  if (owned != pods_by_job_.end()) {
    for (const api::ObjectName& key : owned->second) {
      const ObjectPtr pod = pods_.find(key);
      if (!pod) continue;
      const std::string phase = text_at(*pod, "/status/phase");
      const auto index = index_of(*pod);
      if (phase == "Succeeded") {
        ++tally.succeeded;
        if (index && *index < completions_of(job)) tally.done.insert(*index);
      } else if (phase == "Failed") {
        ++tally.failed;
        const json& ends = at(*pod, "/status/containerStatuses/0/state/terminated/finishedAt");
        const auto end = base::parse_rfc3339(ends.is_string() ? ends.get<std::string>() : "");
        if (end && (!tally.last_failure || *tally.last_failure < *end)) tally.last_failure = end;
      } else if (is_deleting(*pod)) {
        ++tally.terminating;
      } else {
        tally.active.push_back(pod);
        if (has_condition(*pod, "Ready", "True")) ++tally.ready;
        if (index) tally.running.insert(*index);
      }
    }
  }
  if (is_indexed(job)) {
    tally.succeeded = static_cast<std::int64_t>(tally.done.size());
  } else {
    tally.succeeded = std::max(tally.succeeded, number_at(job, "/status/succeeded", 0));
  }
  tally.failed = std::max(tally.failed, number_at(job, "/status/failed", 0));
  return tally;
}

Synced JobController::sync(const api::ObjectName& key) {
  const ObjectPtr found = jobs_.find(key);
  if (!found || is_deleting(*found)) return {};
  const json& job = *found;
  Tally tally = count(job);
  if (is_finished(job)) return clean_up(job);

  if (tally.succeeded >= completions_of(job) &&
      (at(job, "/spec/completions").is_number() || tally.active.empty())) {
    return {finish(job, tally, true, "CompletionsReached",
                   "Reached expected number of succeeded pods")};
  }
  if (tally.failed > number_at(job, "/spec/backoffLimit", 6)) {
    return {finish(job, tally, false, "BackoffLimitExceeded",
                   "Job has reached the specified backoff limit")};
  }
  const auto started = base::parse_rfc3339(text_at(job, "/status/startTime"));
  const std::int64_t deadline = number_at(job, "/spec/activeDeadlineSeconds", -1);
  if (started && deadline >= 0 && !is_suspended(job)) {
    const base::Duration left = *started + seconds(deadline) - clock_.now();
    if (left <= base::Duration::zero()) {
      return {finish(job, tally, false, "DeadlineExceeded",
                     "Job was active longer than specified deadline")};
    }
    tally.again_after = left;
  }
  const bool did_all = is_suspended(job) ? remove_active(job, tally) : create_missing(job, tally);
  return {write_status(job, tally, json::array()) && did_all, tally.again_after};
}

bool JobController::create_missing(const json& job, Tally& tally) {
  const std::int64_t left = completions_of(job) - tally.succeeded;
  const bool has_completions = at(job, "/spec/completions").is_number();
  std::int64_t wanted = parallelism_of(job);
  if (has_completions) wanted = std::min(wanted, left);
  if (!has_completions && tally.succeeded > 0) wanted = 0;
  std::int64_t missing = wanted - static_cast<std::int64_t>(tally.active.size());
  if (missing <= 0) return true;

  if (tally.last_failure) {
    const auto doublings = std::min<std::int64_t>(tally.failed - 1, 6);
    const auto delay = std::min<base::Duration>(kFirstBackOff * (1 << doublings), kLastBackOff);
    const base::Duration wait = *tally.last_failure + delay - clock_.now();
    if (wait > base::Duration::zero()) {
      tally.again_after = earlier(tally.again_after, wait);
      return true;
    }
  }
  if (!is_indexed(job)) {
    for (; missing > 0; --missing) {
      if (!create_pod(job, std::nullopt)) return false;
    }
    return true;
  }
  for (std::int64_t index = 0; index < completions_of(job) && missing > 0; ++index) {
    if (tally.done.contains(index) || tally.running.contains(index)) continue;
    if (!create_pod(job, index)) return false;
    --missing;
  }
  return true;
}

bool JobController::create_pod(const json& job, std::optional<std::int64_t> index) {
  const api::ObjectName key = key_of(job);
  json pod{{"metadata", at(job, "/spec/template/metadata")},
           {"spec", at(job, "/spec/template/spec")}};
  if (!pod["metadata"].is_object()) pod["metadata"] = json::object();
  json& meta = pod["metadata"];
  meta.erase("creationTimestamp");
  meta["namespace"] = key.ns;
  meta["generateName"] = base::cat(key.name, "-");
  for (const char* label : {"batch.kubernetes.io/job-name", "job-name"})
    meta["labels"][label] = key.name;
  for (const char* label : {"batch.kubernetes.io/controller-uid", "controller-uid"}) {
    meta["labels"][label] = uid_of(job);
  }
  meta["ownerReferences"] = json::array({{{"apiVersion", api_version_of(kJobs)},
                                          {"kind", kJobs.kind},
                                          {"name", key.name},
                                          {"uid", uid_of(job)},
                                          {"controller", true},
                                          {"blockOwnerDeletion", true}}});
  if (index) {
    const std::string text = std::to_string(*index);
    meta["generateName"] = base::cat(key.name, "-", text, "-");
    meta["labels"][kIndexName] = text;
    meta["annotations"][kIndexName] = text;
    if (!pod["spec"].contains("hostname")) pod["spec"]["hostname"] = base::cat(key.name, "-", text);
    const std::string field = base::cat("metadata.annotations['", kIndexName, "']");
    for (json& container : pod["spec"]["containers"]) {
      container["env"].push_back({{"name", "JOB_COMPLETION_INDEX"},
                                  {"valueFrom", {{"fieldRef", {{"fieldPath", field}}}}}});
    }
  }
  auto made = objects_.create(kPods, pod);
  if (!made) {
    recorder_.record(reference_to(kJobs, job), "Warning", "FailedCreate",
                     base::cat("Error creating: ", made.error().message));
    return false;
  }
  writes_.note(pods_, *made);
  recorder_.record(reference_to(kJobs, job), "Normal", "SuccessfulCreate",
                   base::cat("Created pod: ", key_of(*made).name));
  return true;
}

bool JobController::remove_active(const json& job, Tally& tally) {
  for (const ObjectPtr& pod : tally.active) {
    const auto gone = objects_.remove(kPods, key_of(*pod), {.uid = uid_of(*pod)});
    if (!gone && gone.error().kind == base::ErrorKind::Unavailable) return false;
    recorder_.record(reference_to(kJobs, job), "Normal", "SuccessfulDelete",
                     base::cat("Deleted pod: ", key_of(*pod).name));
  }
  tally.active.clear();
  tally.ready = 0;
  return true;
}

bool JobController::finish(const json& job, Tally& tally, bool complete, std::string_view reason,
                           const std::string& message) {
  if (!remove_active(job, tally)) return false;
  if (complete) tally.completed = clock_.now();
  const base::Time now = clock_.now();
  json conditions = json::array(
      {condition(complete ? "SuccessCriteriaMet" : "FailureTarget", reason, message, now),
       condition(complete ? "Complete" : "Failed", reason, message, now)});
  if (!write_status(job, tally, std::move(conditions))) return false;
  if (complete) {
    recorder_.record(reference_to(kJobs, job), "Normal", "Completed", "Job completed");
  } else {
    recorder_.record(reference_to(kJobs, job), "Warning", reason, message);
  }
  return true;
}

bool JobController::write_status(const json& job, const Tally& tally, json conditions) {
  json status{{"ready", tally.ready}, {"terminating", tally.terminating}};
  const auto count_or_nothing = [&](const char* name, std::int64_t count) {
    status[name] = count > 0 ? json(count) : json();
  };
  count_or_nothing("active", static_cast<std::int64_t>(tally.active.size()));
  count_or_nothing("succeeded", tally.succeeded);
  count_or_nothing("failed", tally.failed);
  if (is_indexed(job)) {
    status["completedIndexes"] = tally.done.empty() ? json() : json(to_ranges(tally.done));
  }
  if (tally.completed) status["completionTime"] = base::to_rfc3339(*tally.completed);
  if (text_at(job, "/status/startTime").empty() && !is_suspended(job)) {
    status["startTime"] = base::to_rfc3339(clock_.now());
  }
  if (!conditions.empty()) status["conditions"] = std::move(conditions);
  json current = job.contains("status") ? job["status"] : json::object();
  json desired = current;
  desired.merge_patch(status);
  if (desired == current) return true;
  const json patch{{"metadata", {{"uid", uid_of(job)}}}, {"status", std::move(status)}};
  auto written = objects_.merge_patch(kJobs, key_of(job), patch, "status");
  if (!written) return written.error().kind == base::ErrorKind::NotFound;
  writes_.note(jobs_, *written);
  return true;
}

Synced JobController::clean_up(const json& job) {
  const std::int64_t ttl = number_at(job, "/spec/ttlSecondsAfterFinished", -1);
  if (ttl < 0) return {};
  for (const json& condition : at(job, "/status/conditions")) {
    const std::string type = text_at(condition, "/type");
    if (type != "Complete" && type != "Failed") continue;
    const auto when = base::parse_rfc3339(text_at(condition, "/lastTransitionTime"));
    if (!when) continue;
    const base::Duration left = *when + seconds(ttl) - clock_.now();
    if (left > base::Duration::zero()) {
      return {.again_after = left};
    }
    const auto gone = objects_.remove(kJobs, key_of(job), {.uid = uid_of(job)},
                                      {.propagation = api::Deletion::Propagation::Foreground});
    return {gone.has_value() || gone.error().kind != base::ErrorKind::Unavailable};
  }
  return {};
}

}  // namespace cdom::sandbox
