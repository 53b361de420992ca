#include "sandbox/cluster/node/kubelet.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/cluster/control_plane/workload.h"
#include "sandbox/cluster/node/pod_facts.h"

namespace cdom::sandbox {
namespace {

using std::chrono::seconds;

// kubelet's backOffPeriod after a failed pod sync; up to half as much again is added by chance.
constexpr base::Duration kSyncRetry = seconds(10);
constexpr base::Duration kApiRetry = seconds(1);
constexpr base::Duration kFirstCrashBackOff = seconds(10);
constexpr base::Duration kLastCrashBackOff = seconds(300);
constexpr char kDriver[] = "compute-domain.nvidia.com";
constexpr int kSignalled = 137;  // 128 + SIGKILL

base::Duration crash_back_off(int restarts) {
  if (restarts == 0) return {};
  const auto delay = kFirstCrashBackOff * (1 << std::min(restarts - 1, 5));
  return std::min<base::Duration>(delay, kLastCrashBackOff);
}

}  // namespace

Kubelet::Kubelet(const kube::Client& client, Informers& informers, const base::Clock& clock,
                 base::Random random, KubeletConfig config, Imex& imex,
                 kube::EventRecorder& recorder)
    : objects_(client),
      clock_(clock),
      random_(random),
      config_(std::move(config)),
      imex_(imex),
      connections_(imex, clock),
      pods_(informers.of(kPods)),
      recorder_(recorder),
      writes_(clock),
      claims_(clock) {
  informers.of(kPods).on_change([this](const Change& change) { see_pod(change); });
}

void Kubelet::show(Run& run, const ObjectPtr& pod) {
  run.pod = pod;
  run.is_deleting = is_deleting(*pod);
  run.shows_ready = has_condition(*pod, "Ready", "True");
}

void Kubelet::see_pod(const Change& change) {
  if (!is_on_) return;
  if (change.before && (!change.after || uid_of(*change.before) != uid_of(*change.after))) {
    const auto run = runs_.find(uid_of(*change.before));
    if (run != runs_.end()) {
      run->second.is_gone = true;
      run->second.due = {};
    }
  }
  if (!change.after || node_of(*change.after) != config_.node) return;
  const auto [run, is_new] = runs_.try_emplace(uid_of(*change.after));
  const bool was_deleting = run->second.is_deleting;
  show(run->second, change.after);
  // A pod that is to end does not wait for the next attempt at starting it.
  if (run->second.is_deleting && !was_deleting) run->second.due = {};
  run->second.key = change.key;
}

void Kubelet::boot() {
  is_on_ = true;
  is_frozen_ = false;
  for (const auto& known : pods_.all()) {
    const ObjectPtr& pod = known->document;
    if (node_of(*pod) != config_.node) continue;
    Run& run = runs_[uid_of(*pod)];
    show(run, pod);
    run.key = api::name_of(known->meta);
    const json& statuses = at(*pod, "/status/containerStatuses");
    if (statuses.empty() || is_terminal(*pod)) continue;
    run.state.restarts = statuses[0].value("restartCount", 0) + 1;
  }
}

void Kubelet::power_off() {
  is_on_ = false;
  runs_.clear();
  orphans_due_.clear();
  claims_.forget_prepared();
  note_importing();
}

void Kubelet::set_ready(const api::ObjectName& pod, bool ready) { readiness_[pod] = ready; }

void Kubelet::crash(const api::ObjectName& pod) {
  for (auto& [uid, run] : runs_) {
    if (run.key == pod && run.stage == Stage::Running) run.ends = clock_.elapsed();
  }
}

bool Kubelet::is_running(const api::ObjectName& pod) const {
  return std::any_of(runs_.begin(), runs_.end(), [&](const auto& entry) {
    return entry.second.key == pod && entry.second.stage == Stage::Running && !entry.second.is_gone;
  });
}

bool Kubelet::step() {
  if (!is_on_ || is_frozen_ || !pods_.has_synced() || !writes_.all_seen()) return false;
  if (is_importing_) connections_.look();
  for (auto run = runs_.begin(); run != runs_.end(); ++run) {
    if (run->second.stage == Stage::Ended && run->second.is_gone) {
      runs_.erase(run);
      return true;
    }
    if (clock_.elapsed() >= run->second.due && advance(run->first, run->second)) return true;
  }
  return release_orphans();
}

std::optional<base::Duration> Kubelet::next_due() const {
  if (!is_on_ || is_frozen_) return std::nullopt;
  std::optional<base::Duration> due = earlier(claims_.next_due(), writes_.next_due());
  if (is_importing_) due = earlier(due, connections_.next_due());
  for (const auto& [uid, run] : runs_) {
    if (run.stage == Stage::Running) due = earlier(due, run.ends);
    if (run.due > clock_.elapsed()) due = earlier(due, run.due);
  }
  for (const auto& [uid, when] : orphans_due_) {
    if (when > clock_.elapsed()) due = earlier(due, when);
  }
  return due;
}

bool Kubelet::advance(const std::string& uid, Run& run) {
  const bool shall_end = run.is_gone || run.is_deleting;
  if (shall_end && run.stage < Stage::Unpreparing) {
    if (run.started) end_containers(run, kSignalled);
    run.stage = Stage::Unpreparing;
    return true;
  }
  switch (run.stage) {
    case Stage::Admitted:
      return admit(run);
    case Stage::Preparing:
      return prepare(uid, run);
    case Stage::Starting:
    case Stage::BackOff:
      return start(uid, run);
    case Stage::Running:
      return watch_containers(run);
    case Stage::Unpreparing:
      return unprepare(uid, run);
    case Stage::Ended:
      return finish(run);
  }
  return false;
}

bool Kubelet::admit(Run& run) {
  if (is_terminal(*run.pod)) {
    run.stage = Stage::Unpreparing;
    return true;
  }
  run.state.host_address = config_.address;
  run.state.pod_started = clock_.now();
  run.state.containers = PodState::Containers::Creating;
  if (write_status(run)) {
    const bool has_claims = !pod_claims(*run.pod).empty() || !extended_claim_name(*run.pod).empty();
    run.stage = has_claims ? Stage::Preparing : Stage::Starting;
  }
  return true;
}

base::Result<std::optional<ClaimRef>> Kubelet::resolve(const json& pod, const std::string& name,
                                                       bool is_generated) {
  const api::ObjectName key{key_of(pod).ns, name};
  const auto claim = objects_.get(in_version(kClaims, config_.resource_version), key);
  if (!claim) {
    return base::Error{claim.error().kind, base::cat("failed to fetch ResourceClaim ", name, ": ",
                                                     claim.error().message)};
  }
  if (is_generated && controller_uid(*claim, "Pod") != uid_of(pod)) {
    return base::Error{base::ErrorKind::Invalid,
                       base::cat("ResourceClaim ", name, " was not created for pod ", key.ns, "/",
                                 key_of(pod).name)};
  }
  if (!is_reserved_for(*claim, uid_of(pod))) {
    return base::Error{
        base::ErrorKind::Invalid,
        base::cat("pod ", key_of(pod).name, " (", uid_of(pod),
                  ") is not allowed to use ResourceClaim ", name, " (", uid_of(*claim), ")")};
  }
  if (!has_device_of(*claim, kDriver)) return std::optional<ClaimRef>();
  return std::optional(ClaimRef{key.ns, name, uid_of(*claim)});
}

base::Result<std::vector<ClaimRef>> Kubelet::resolve_claims(const json& pod) {
  std::vector<ClaimRef> claims;
  for (const PodClaim& used : pod_claims(pod)) {
    if (used.is_deliberately_absent) continue;
    if (!used.claim) {
      return base::Error{base::ErrorKind::Unavailable,
                         base::cat("claim ", used.entry, ": no ResourceClaim has been made yet")};
    }
    auto claim = resolve(pod, *used.claim, !used.template_name.empty());
    if (!claim) return claim.error();
    if (*claim) claims.push_back(**std::move(claim));
  }
  if (const std::string extended = extended_claim_name(pod); !extended.empty()) {
    auto claim = resolve(pod, extended, false);
    if (!claim) return claim.error();
    if (*claim) claims.push_back(**std::move(claim));
  }
  return claims;
}

bool Kubelet::prepare(const std::string& uid, Run& run) {
  if (!run.claims) {
    auto claims = resolve_claims(*run.pod);
    if (!claims) {
      fail_prepare(run, claims.error().message);
      return true;
    }
    run.claims = *std::move(claims);
  }
  if (run.claims->empty()) {
    run.stage = Stage::Starting;
    return true;
  }
  PrepareStep step = claims_.prepare(uid, *run.claims, plugin_);
  switch (step.state) {
    case PrepareStep::State::Waiting:
      return false;
    case PrepareStep::State::Failed:
      fail_prepare(run, step.reason);
      return true;
    case PrepareStep::State::Done:
      run.devices = std::move(step.devices);
      run.stage = Stage::Starting;
      return true;
  }
  return false;
}

void Kubelet::fail_prepare(Run& run, const std::string& why) {
  recorder_.record(
      reference_to(kPods, *run.pod), "Warning", "FailedPrepareDynamicResources",
      base::cat("Failed to prepare dynamic resources: prepare dynamic resources: ", why));
  run.claims.reset();
  const double jitter = 1 + random_.unit() / 2;
  run.due = clock_.elapsed() + std::chrono::duration_cast<base::Duration>(kSyncRetry * jitter);
}

bool Kubelet::start(const std::string& uid, Run& run) {
  const Workload workload = workload_of(*run.pod);
  const PodState before = run.state;
  if (run.state.pod_address.empty()) {
    const bool on_host = at(*run.pod, "/spec/hostNetwork") == true;
    run.state.pod_address = on_host ? config_.address : next_address();
  }
  run.state.containers = PodState::Containers::Running;
  run.state.container_started = clock_.now();
  const auto known = readiness_.find(run.key);
  run.state.is_ready = known == readiness_.end() || known->second;
  if (!write_status(run)) {
    run.state = before;
    return true;
  }
  run.stage = Stage::Running;
  run.started = clock_.elapsed();
  if (workload.lasts) run.ends = clock_.elapsed() + *workload.lasts;
  run.devices = claims_.devices_of(uid);
  note_importing();
  for (const json& container : at(*run.pod, "/spec/containers")) {
    recorder_.record(reference_to(kPods, *run.pod), "Normal", "Started",
                     base::cat("Started container ", text_at(container, "/name")));
  }
  for (const json& container : at(*run.pod, "/spec/containers")) {
    log(run, container, start_log(*run.pod, config_.node, devices_of(run, container)));
  }
  run.told_connections = 0;
  return true;
}

bool Kubelet::watch_containers(Run& run) {
  if (!run.devices.empty()) {
    if (const auto line = connections_.news(run.told_connections)) {
      for (const json& container : at(*run.pod, "/spec/containers")) {
        if (!devices_of(run, container).empty()) log(run, container, *line);
      }
      return true;
    }
  }
  const auto known = readiness_.find(run.key);
  const bool is_ready = known == readiness_.end() || known->second;
  // The node controller calls the pods of a lost node not ready; once it is back we know better.
  if (is_ready != run.state.is_ready || is_ready != run.shows_ready) {
    run.state.is_ready = is_ready;
    write_status(run);
    return true;
  }
  if (!run.ends || clock_.elapsed() < *run.ends) return false;
  end_containers(run, workload_of(*run.pod).exit_code);
  const std::string policy = text_at(*run.pod, "/spec/restartPolicy");
  const bool restarts = policy.empty() || policy == "Always" ||
                        (policy == "OnFailure" && run.state.last_end->exit_code != 0);
  if (!restarts) {
    run.stage = Stage::Unpreparing;
    return true;
  }
  run.stage = Stage::BackOff;
  run.state.containers = PodState::Containers::BackOff;
  const base::Duration wait = crash_back_off(run.state.restarts++);
  if (wait > base::Duration::zero()) {
    recorder_.record(reference_to(kPods, *run.pod), "Warning", "BackOff",
                     "Back-off restarting failed container");
    write_status(run);
  }
  run.due = clock_.elapsed() + wait;
  return true;
}

void Kubelet::end_containers(Run& run, int exit_code) {
  log(run, end_log(*run.pod, clock_.elapsed() - *run.started, exit_code));
  run.state.last_end = ContainerEnd{exit_code, exit_code == 0 ? "Completed" : "Error",
                                    run.state.container_started, clock_.now()};
  run.started.reset();
  run.ends.reset();
  note_importing();
}

bool Kubelet::unprepare(const std::string& uid, Run& run) {
  const PrepareStep step = claims_.unprepare(uid, plugin_);
  switch (step.state) {
    case PrepareStep::State::Waiting:
      return false;
    case PrepareStep::State::Failed:
      run.due = clock_.elapsed() + kSyncRetry;
      return true;
    case PrepareStep::State::Done:
      break;
  }
  run.state.containers = PodState::Containers::Ended;
  if (!run.is_gone && !is_terminal(*run.pod) && run.state.last_end && !write_status(run)) {
    return true;
  }
  run.stage = Stage::Ended;
  return true;
}

bool Kubelet::finish(Run& run) {
  if (run.is_gone || run.has_been_deleted || !run.is_deleting) return false;
  const auto gone =
      objects_.remove(kPods, run.key, {.uid = uid_of(*run.pod)}, {.grace_period_seconds = 0});
  if (!gone && gone.error().kind == base::ErrorKind::Unavailable) {
    run.due = clock_.elapsed() + kApiRetry;
  } else {
    run.has_been_deleted = true;
  }
  return true;
}

// Pods that ended while the node was away: kubelet's reconcile loop drops what they hold.
bool Kubelet::release_orphans() {
  for (const std::string& uid : claims_.pods()) {
    if (runs_.contains(uid)) continue;
    base::Duration& due = orphans_due_[uid];
    if (clock_.elapsed() < due) continue;
    const PrepareStep step = claims_.unprepare(uid, plugin_);
    if (step.state == PrepareStep::State::Waiting) continue;
    if (step.state == PrepareStep::State::Failed) {
      due = clock_.elapsed() + kSyncRetry;
    } else {
      orphans_due_.erase(uid);
    }
    return true;
  }
  return false;
}

bool Kubelet::write_status(Run& run) {
  const json patch{{"metadata", {{"uid", uid_of(*run.pod)}}},
                   {"status", pod_status(*run.pod, run.state, clock_.now())}};
  auto written = objects_.merge_patch(kPods, run.key, patch, "status");
  if (written) {
    writes_.note(pods_, *written);
    return true;
  }
  // Out of reach, or gone, or another pod has its name now: the informer will show which.
  run.due = clock_.elapsed() + kApiRetry;
  return false;
}

void Kubelet::note_importing() {
  is_importing_ = std::any_of(runs_.begin(), runs_.end(), [](const auto& entry) {
    return entry.second.started && !entry.second.devices.empty();
  });
  imex_.set_importing(is_importing_);
}

std::string Kubelet::next_address() {
  next_host_ = next_host_ >= 250 ? 2 : next_host_ + 1;
  return base::cat(config_.pod_network, next_host_);
}

std::vector<std::string> Kubelet::devices_of(const Run& run, const json& container) const {
  return claims_.devices_of(uid_of(*run.pod), claims_of_container(*run.pod, container));
}

void Kubelet::log(const Run& run, const std::string& text) {
  for (const json& container : at(*run.pod, "/spec/containers")) log(run, container, text);
}

void Kubelet::log(const Run& run, const json& container, const std::string& text) {
  if (config_.log) config_.log(run.key.ns, run.key.name, text_at(container, "/name"), text);
}

}  // namespace cdom::sandbox
