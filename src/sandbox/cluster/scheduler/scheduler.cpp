#include "sandbox/cluster/scheduler/scheduler.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/cluster/node/pod_facts.h"
#include "sandbox/cluster/scheduler/node_selector.h"
#include "sandbox/cluster/scheduler/pod_rules.h"

namespace cdom::sandbox {
namespace {

constexpr char kName[] = "default-scheduler";
constexpr base::Duration kFirstBackOff = std::chrono::seconds(1);
constexpr base::Duration kLastBackOff = std::chrono::seconds(10);

bool wants_scheduling(const json& pod) {
  const std::string scheduler = text_at(pod, "/spec/schedulerName");
  return node_of(pod).empty() && !is_deleting(pod) && !is_terminal(pod) &&
         at(pod, "/spec/schedulingGates").empty() && (scheduler.empty() || scheduler == kName);
}

// Its claims have been named, or somebody has changed what it asks for.
bool has_new_needs(const json& before, const json& after) {
  return at(before, "/status/resourceClaimStatuses") !=
             at(after, "/status/resourceClaimStatuses") ||
         at(before, "/spec") != at(after, "/spec");
}

// "0/36 nodes are available: 3 Insufficient cpu, 33 cannot allocate all claims."
std::string summary(std::size_t nodes, const std::map<std::string, int>& reasons) {
  std::vector<std::string> parts;
  parts.reserve(reasons.size());
  for (const auto& [reason, count] : reasons) parts.push_back(base::cat(count, " ", reason));
  std::sort(parts.begin(), parts.end());
  const std::string why = parts.empty() ? "no nodes available to schedule pods"
                                        : base::cat(base::join(parts, ", "), ".");
  return parts.empty() ? why : base::cat("0/", nodes, " nodes are available: ", why);
}

// Which of the claims are allocated, and not for this node.
std::vector<std::size_t> claims_elsewhere(const std::vector<ObjectPtr>& claims, const json& node) {
  std::vector<std::size_t> elsewhere;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (!matches_node_selector(at(*claims[i], "/status/allocation/nodeSelector"), node)) {
      elsewhere.push_back(i);
    }
  }
  return elsewhere;
}

// Whether nobody but the pod itself holds the claim.
bool is_free_for(const json& pod, const json& claim) {
  const json& consumers = at(claim, "/status/reservedFor");
  return consumers.empty() ||
         (consumers.size() == 1 && text_at(consumers[0], "/uid") == uid_of(pod));
}

base::Error during(std::string_view what, const json& claim, const base::Error& error) {
  return {error.kind, base::cat(what, " claim ", to_string(key_of(claim)), ": ", error.message)};
}

// Whether something went wrong, as opposed to: no node fits.
bool is_failure(std::string_view message) {
  return message.starts_with("running ") || message.starts_with("binding rejected: ");
}

// "": somebody was faster, and the informers will show it.
std::string refusal_of(std::string_view phase, const base::Error& error) {
  const bool is_race =
      error.kind == base::ErrorKind::Conflict || error.kind == base::ErrorKind::NotFound;
  return is_race ? ""
                 : base::cat("running ", phase, " plugin \"DynamicResources\": ", error.message);
}

}  // namespace

Scheduler::Scheduler(const kube::Client& client, const Informers& informers,
                     const base::Clock& clock, base::Random random, SchedulerOptions options)
    : objects_(client),
      clock_(clock),
      random_(random),
      options_(options),
      informers_(informers),
      pods_(informers.of(kPods)),
      nodes_(informers.of(kNodes)),
      claims_(informers.of(kClaims)),
      classes_(informers.of(kClasses)),
      recorder_(client, clock, {.component = kName, .seed = random.next()}),
      writes_(clock),
      allocator_(informers.of(kSlices), informers.of(kClasses)) {
  informers.of(kPods).on_change([this](const Change& change) { see_pod(change); });
  for (const api::Kind& kind : {kNodes, kClaims, kSlices, kClasses}) {
    informers.of(kind).on_change([this](const Change&) { wake_parked(); });
  }
}

void Scheduler::see_pod(const Change& change) {
  if (change.after && wants_scheduling(*change.after)) {
    const auto [entry, is_new] = waiting_.emplace(change.key, Waiting{});
    if (is_new) {
      entry->second.turn = ++turns_;
    } else if (change.before && has_new_needs(*change.before, *change.after)) {
      entry->second.is_parked = false;
    }
    return;
  }
  waiting_.erase(change.key);
  const bool leaves = !change.after || is_terminal(*change.after) || is_deleting(*change.after);
  if (leaves) wake_parked();
}

void Scheduler::wake_parked() {
  for (auto& [key, waiting] : waiting_) waiting.is_parked = false;
}

const api::ObjectName* Scheduler::next_pod() const {
  const api::ObjectName* best = nullptr;
  std::pair<std::int64_t, std::uint64_t> best_rank;
  for (const auto& [key, waiting] : waiting_) {
    if (waiting.is_parked || waiting.due > clock_.elapsed()) continue;
    const ObjectPtr pod = pods_.find(key);
    const json& priority = at(*pod, "/spec/priority");
    const std::pair<std::int64_t, std::uint64_t> rank{
        priority.is_number() ? -priority.get<std::int64_t>() : 0, waiting.turn};
    if (best == nullptr || rank < best_rank) {
      best = &key;
      best_rank = rank;
    }
  }
  return best;
}

bool Scheduler::step() {
  if (recorder_.step()) return true;
  if (!informers_.has_synced() || !writes_.all_seen()) return false;
  const api::ObjectName* next = next_pod();
  if (next == nullptr) return false;
  schedule(api::ObjectName(*next));
  return true;
}

std::optional<base::Duration> Scheduler::next_due() const {
  auto due = earlier(recorder_.next_due(), writes_.next_due());
  for (const auto& [key, waiting] : waiting_) {
    if (!waiting.is_parked) due = earlier(due, waiting.due);
  }
  return due;
}

void Scheduler::schedule(const api::ObjectName& key) {
  const ObjectPtr pod = pods_.find(key);
  const auto claims = claims_of(*pod);
  if (!claims) {
    waiting_[key].is_parked = true;
    return;
  }
  const Refusal refusal = place(*pod, *claims);
  if (!refusal) {
    waiting_.erase(key);
    return;
  }
  park(key, *pod, *refusal);
}

std::optional<std::vector<ObjectPtr>> Scheduler::claims_of(const json& pod) const {
  std::vector<ObjectPtr> claims;
  for (const PodClaim& used : pod_claims(pod)) {
    if (used.is_deliberately_absent) continue;
    if (!used.claim) return std::nullopt;
    ObjectPtr claim = claims_.find({key_of(pod).ns, *used.claim});
    if (!claim || is_deleting(*claim)) return std::nullopt;
    const bool is_of_other_pod =
        !used.template_name.empty() && controller_uid(*claim, "Pod") != uid_of(pod);
    if (is_of_other_pod) return std::nullopt;
    claims.push_back(std::move(claim));
  }
  return claims;
}

Scheduler::Refusal Scheduler::place(const json& pod, const std::vector<ObjectPtr>& claims) {
  std::vector<ObjectPtr> unallocated;
  for (const ObjectPtr& claim : claims) {
    if (at(*claim, "/status/allocation").is_null()) unallocated.push_back(claim);
  }
  const Amounts requests = requests_of(pod);
  const ClassesOfResources wanted = classes_of(requests, classes_);
  if (const ObjectPtr left = wanted.empty() ? nullptr : left_extended_claim(pod)) {
    const auto removed = remove_extended(*left);
    return removed ? "" : refusal_of("PostFilter", removed.error());
  }
  std::set<DeviceId> in_use;
  if (!unallocated.empty() || !wanted.empty()) {
    for (const auto& claim : claims_.all()) collect_devices_in_use(*claim->document, in_use);
  }

  const ClusterSnapshot cluster = snapshot_of(nodes_, pods_);
  const PodRules pod_rules(pod, cluster);
  std::map<std::string, int> reasons;
  std::set<std::size_t> unavailable;  // claims, on some node that would do otherwise
  std::vector<std::pair<double, std::size_t>> candidates;
  for (std::size_t i = 0; i < cluster.nodes.size(); ++i) {
    const NodeSnapshot& node = cluster.nodes[i];
    const auto devices = without_offered(wanted, node.allocatable);
    auto reason = reason_against(pod, without_devices(requests, devices), node);
    if (!reason) reason = pod_rules.reason_against(*node.node);
    if (!reason) {
      const auto elsewhere = claims_elsewhere(claims, *node.node);
      if (!elsewhere.empty()) reason = "resourceclaim not available on the node";
      unavailable.insert(elsewhere.begin(), elsewhere.end());
    }
    if (reason) {
      ++reasons[*reason];
    } else {
      candidates.emplace_back(fill_of(node, requests), i);
    }
  }
  if (options_.shuffle_equal_nodes) {
    for (std::size_t i = candidates.size(); i > 1; --i) {
      std::swap(candidates[i - 1], candidates[random_.below(i)]);
    }
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [fill, i] : candidates) {
    const json& node = *cluster.nodes[i].node;
    const ExtendedRequests extended =
        extended_requests(pod, without_offered(wanted, cluster.nodes[i].allocatable));
    std::vector<ObjectPtr> to_allocate = unallocated;
    if (!extended.requests.empty()) {
      to_allocate.push_back(std::make_shared<const json>(extended_claim(pod, extended.requests)));
    }
    auto allocations = allocator_.allocate(to_allocate, node, in_use, clock_.now());
    if (!allocations) {
      const std::string& why = allocations.error().message;
      return allocations.error().kind == base::ErrorKind::NotFound
                 ? base::cat("0/", cluster.nodes.size(), " nodes are available: ", why, ".")
                 : base::cat("running \"DynamicResources\" filter plugin: ", why);
    }
    if (*allocations) return bind(pod, key_of(node).name, claims, **allocations, extended);
    ++reasons["cannot allocate all claims"];
  }
  for (const std::size_t claim : unavailable) {
    if (is_free_for(pod, *claims[claim]) && free_claim(*claims[claim])) return "";
  }
  return summary(cluster.nodes.size(), reasons);
}

Scheduler::Refusal Scheduler::bind(const json& pod, const std::string& node,
                                   const std::vector<ObjectPtr>& claims,
                                   const std::vector<json>& allocations,
                                   const ExtendedRequests& extended) {
  std::size_t next = 0;
  for (const ObjectPtr& claim : claims) {
    const bool is_allocated = !at(*claim, "/status/allocation").is_null();
    const auto reserved = reserve(pod, *claim, is_allocated ? nullptr : &allocations[next++]);
    if (!reserved) {
      unreserve(pod, claims);
      return refusal_of("PreBind", reserved.error());
    }
  }
  if (!extended.requests.empty()) {
    const auto reserved = reserve_extended(pod, extended, allocations[next]);
    if (!reserved) {
      unreserve(pod, claims);
      return refusal_of("PreBind", reserved.error());
    }
  }
  const api::ObjectName key = key_of(pod);
  const json binding{
      {"apiVersion", "v1"},
      {"kind", "Binding"},
      {"metadata", {{"name", key.name}, {"namespace", key.ns}, {"uid", uid_of(pod)}}},
      {"target", {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node}}}};
  auto bound = objects_.create_subresource(kPods, key, "binding", binding);
  if (!bound) {
    unreserve(pod, claims);
    return base::cat("binding rejected: ", bound.error().message);
  }
  recorder_.record(reference_to(kPods, pod), "Normal", "Scheduled",
                   base::cat("Successfully assigned ", to_string(key), " to ", node));
  // The answer carries no resource version, and the next pod must count this one: read it back.
  if (auto live = objects_.get(kPods, key)) writes_.note(pods_, *live);
  return std::nullopt;
}

base::Result<void> Scheduler::reserve(const json& pod, const json& claim, const json* allocation) {
  json current = claim;
  if (allocation != nullptr && !has_finalizer(current, kClaimFinalizer)) {
    current["metadata"]["finalizers"].push_back(kClaimFinalizer);
    auto written = objects_.update(kClaims, current);
    if (!written) return during("add finalizer to", claim, written.error());
    writes_.note(claims_, *written);
    current = std::move(*written);
  }
  if (allocation == nullptr && is_reserved_for(current, uid_of(pod))) return {};
  if (allocation != nullptr) current["status"]["allocation"] = *allocation;
  current["status"]["reservedFor"].push_back(
      {{"resource", "pods"}, {"name", key_of(pod).name}, {"uid", uid_of(pod)}});
  auto written = objects_.update(kClaims, current, "status");
  if (!written) {
    return during(
        allocation != nullptr ? "add allocation and reservation to" : "add reservation to", claim,
        written.error());
  }
  writes_.note(claims_, *written);
  return {};
}

void Scheduler::unreserve(const json& pod, const std::vector<ObjectPtr>& claims) {
  for (const ObjectPtr& claim : claims) {
    auto current = objects_.get(kClaims, key_of(*claim));
    if (!current || uid_of(*current) != uid_of(*claim) || !is_reserved_for(*current, uid_of(pod))) {
      continue;
    }
    std::erase_if((*current)["status"]["reservedFor"].get_ref<json::array_t&>(),
                  [&](const json& consumer) { return text_at(consumer, "/uid") == uid_of(pod); });
    // What fails here is the claim controller's, or the next attempt's.
    const auto written = objects_.update(kClaims, *current, "status");
    if (written) writes_.note(claims_, *written);
  }
}

base::Result<void> Scheduler::reserve_extended(const json& pod, const ExtendedRequests& extended,
                                               const json& allocation) {
  auto claim = objects_.create(kClaims, extended_claim(pod, extended.requests));
  if (!claim) return claim.error();
  writes_.note(claims_, *claim);
  if (const auto reserved = reserve(pod, *claim, &allocation); !reserved) return reserved.error();
  const json patch{
      {"metadata", {{"uid", uid_of(pod)}}},
      {"status",
       {{"extendedResourceClaimStatus",
         {{"requestMappings", extended.mappings}, {"resourceClaimName", key_of(*claim).name}}}}}};
  auto told = objects_.merge_patch(kPods, key_of(pod), patch, "status");
  if (!told) return told.error();
  writes_.note(pods_, *told);
  return {};
}

ObjectPtr Scheduler::left_extended_claim(const json& pod) const {
  for (const auto& known : claims_.all()) {
    const ObjectPtr& claim = known->document;
    if (is_extended_claim_of(pod, *claim) && !is_deleting(*claim)) return claim;
  }
  return nullptr;
}

base::Result<void> Scheduler::remove_extended(json claim) {
  if (has_finalizer(claim, kClaimFinalizer)) {
    std::erase(claim["metadata"]["finalizers"].get_ref<json::array_t&>(), json(kClaimFinalizer));
    auto written = objects_.update(kClaims, claim);
    if (!written) return written.error();
    writes_.note(claims_, *written);
  }
  const auto gone = objects_.remove(kClaims, key_of(claim), {.uid = uid_of(claim)});
  if (!gone && gone.error().kind != base::ErrorKind::NotFound) return gone.error();
  return {};
}

bool Scheduler::free_claim(json claim) {
  for (const char* field : {"allocation", "reservedFor", "devices"}) claim["status"].erase(field);
  auto written = objects_.update(kClaims, claim, "status");
  if (written) writes_.note(claims_, *written);
  return written.has_value();
}

void Scheduler::park(const api::ObjectName& key, const json& pod, const std::string& message) {
  Waiting& waiting = waiting_[key];
  const auto delay = kFirstBackOff * (1 << std::min(waiting.attempts, 4));
  if (message.empty()) {  // a race: at once, with what the informers then show
    waiting.due = clock_.elapsed();
    return;
  }
  waiting.is_parked = true;
  ++waiting.attempts;
  waiting.due = clock_.elapsed() + std::min<base::Duration>(delay, kLastBackOff);
  if (message != waiting.last_message) tell(pod, message);
  waiting.last_message = message;
}

void Scheduler::tell(const json& pod, const std::string& message) {
  recorder_.record(reference_to(kPods, pod), "Warning", "FailedScheduling", message);
  json conditions = json::array();
  for (const json& condition : at(pod, "/status/conditions")) {
    if (text_at(condition, "/type") != "PodScheduled") conditions.push_back(condition);
  }
  conditions.push_back({{"type", "PodScheduled"},
                        {"status", "False"},
                        {"reason", is_failure(message) ? "SchedulerError" : "Unschedulable"},
                        {"message", message},
                        {"lastProbeTime", nullptr},
                        {"lastTransitionTime", base::to_rfc3339(clock_.now())}});
  const json patch{{"metadata", {{"uid", uid_of(pod)}}},
                   {"status", {{"phase", "Pending"}, {"conditions", std::move(conditions)}}}};
  auto told = objects_.merge_patch(kPods, key_of(pod), patch, "status");
  if (told) writes_.note(pods_, *told);
}

}  // namespace cdom::sandbox
