// The field tables of the kinds of resource.nvidia.com. crds/ has the same fields; a test compares.
#pragma once

#include "api/fields/fields.h"
#include "api/fields/meta_fields.h"
#include "compute_domain/api/channel_config.h"
#include "compute_domain/api/compute_domain.h"
#include "compute_domain/api/compute_domain_node.h"

namespace cdom::api {

// A bool that is the word Ready or NotReady.
struct AsReadyWord {
  static void read(Decoding& decoding, const JsonView& json, bool& out);
  static void write(Json& json, bool value);
};

// A report; one that an older CRD let pass may be of any size.
struct WithinBounds {
  template <class T>
  static void read(Decoding& decoding, const JsonView& json, T& out) {
    api::read(decoding, json, out);
    out = bounded(std::move(out));
  }
  template <class T>
  static void write(Json& json, const T& report) {
    api::write(json, report);
  }
};

// Conditions, each with its text (Condition::text). Read as far as they can be: what another writer
// has put there must not make a domain unreadable, and one of our own is soon written again.
struct AsConditions {
  static Wanted wanted() { return {.as_text = true}; }
  static void read(Decoding& decoding, const JsonView& json, std::vector<Condition>& out);
  static void write(Json& json, const std::vector<Condition>& conditions);
};

template <>
inline constexpr std::array kWords<AllocationMode> = {
    Word<AllocationMode>{AllocationMode::Single, "Single"},
    Word<AllocationMode>{AllocationMode::All, "All"}};
// What a later release may have added is read as one of these, so that a domain that has it is
// still served after a way back. Where something is about to be applied, it is a mistake.
template <>
inline constexpr std::optional kOtherwise<AllocationMode> = AllocationMode::Single;

template <>
inline constexpr std::array kWords<CliquePlacement> = {
    Word<CliquePlacement>{CliquePlacement::Any, "Any"},
    Word<CliquePlacement>{CliquePlacement::Single, "Single"}};
// The one that gives nothing away: seats that are kept for the domain stay so.
template <>
inline constexpr std::optional kOtherwise<CliquePlacement> = CliquePlacement::Single;

template <>
inline constexpr std::array kWords<PlacementPolicy> = {
    Word<PlacementPolicy>{PlacementPolicy::BestFit, "BestFit"}};
template <>
inline constexpr std::optional kOtherwise<PlacementPolicy> = PlacementPolicy::BestFit;

template <>
inline constexpr std::array kWords<Isolation> = {Word<Isolation>{Isolation::Domain, "domain"},
                                                 Word<Isolation>{Isolation::Channel, "channel"}};

template <>
inline constexpr std::array kWords<DaemonState> = {
    Word<DaemonState>{DaemonState::None, "None"},
    Word<DaemonState>{DaemonState::Starting, "Starting"},
    Word<DaemonState>{DaemonState::Recovering, "Recovering"},
    Word<DaemonState>{DaemonState::Ready, "Ready"},
    Word<DaemonState>{DaemonState::Failed, "Failed"},
    Word<DaemonState>{DaemonState::Stopped, "Stopped"}};
// Neither ready nor failed: agents of the next release work beside this controller.
template <>
inline constexpr std::optional kOtherwise<DaemonState> = DaemonState::Starting;

template <>
inline constexpr std::array kWords<StaleState> = {Word<StaleState>{StaleState::Unknown, "Unknown"}};
template <>
inline constexpr std::optional kOtherwise<StaleState> = StaleState::Unknown;

template <>
inline constexpr auto kFields<ComputeDomainChannel> = std::tuple{
    field("resourceClaimTemplate.name", &ComputeDomainChannel::template_name, Presence::Always),
    field("allocationMode", &ComputeDomainChannel::allocation_mode, Presence::Always)};

template <>
inline constexpr auto kFields<Workload> =
    std::tuple{field("kind", &Workload::kind, Presence::Always),
               field("name", &Workload::name, Presence::Always), field("uid", &Workload::uid)};

template <>
inline constexpr auto kFields<ComputeDomainPlacement> =
    std::tuple{field("clique", &ComputeDomainPlacement::clique, Presence::Always),
               field("policy", &ComputeDomainPlacement::policy)};

template <>
inline constexpr auto kFields<ComputeDomainSpec> = std::tuple{
    field("numNodes", &ComputeDomainSpec::num_nodes, Presence::Always),
    field("channel", &ComputeDomainSpec::channel), field("workload", &ComputeDomainSpec::workload),
    field("placement", &ComputeDomainSpec::placement)};

template <>
inline constexpr auto kFields<DaemonFailure> =
    std::tuple{field("time", &DaemonFailure::time, Presence::Always),
               field("message", &DaemonFailure::message, Presence::Always)};

template <>
inline constexpr auto kFields<ComputeDomainNodeStatus> =
    std::tuple{field("name", &ComputeDomainNodeStatus::name, Presence::Always),
               field("ipAddress", &ComputeDomainNodeStatus::ip_address, Presence::Always),
               field("cliqueID", &ComputeDomainNodeStatus::clique, Presence::Always),
               field("index", &ComputeDomainNodeStatus::index, Presence::Always),
               field("channel", &ComputeDomainNodeStatus::channel),
               field<AsReadyWord>("status", &ComputeDomainNodeStatus::ready, Presence::Always),
               field("reason", &ComputeDomainNodeStatus::reason),
               field("message", &ComputeDomainNodeStatus::message),
               field("restarts", &ComputeDomainNodeStatus::restarts),
               field("lastFailure", &ComputeDomainNodeStatus::last_failure),
               field("lastLoss", &ComputeDomainNodeStatus::last_loss)};

template <>
inline constexpr auto kFields<ComputeDomainStatus> =
    std::tuple{field<AsReadyWord>("status", &ComputeDomainStatus::ready, Presence::Always),
               field("observedGeneration", &ComputeDomainStatus::observed_generation),
               field("summary.ready", &ComputeDomainStatus::ready_nodes),
               field("summary.cliques", &ComputeDomainStatus::cliques),
               field("placedClique", &ComputeDomainStatus::placed_clique),
               field("nodes", &ComputeDomainStatus::nodes),
               field<AsConditions>("conditions", &ComputeDomainStatus::conditions)};

template <>
inline constexpr auto kFields<ComputeDomain> = std::tuple{
    field("metadata", &ComputeDomain::meta, Presence::Always),
    field("spec", &ComputeDomain::spec, Presence::Always), field("status", &ComputeDomain::status)};

template <>
inline constexpr auto kFields<ComputeDomainCliqueDaemon> =
    std::tuple{field("nodeName", &ComputeDomainCliqueDaemon::node_name, Presence::Always),
               field("ipAddress", &ComputeDomainCliqueDaemon::ip_address, Presence::Always),
               field("cliqueID", &ComputeDomainCliqueDaemon::clique, Presence::Always),
               field("index", &ComputeDomainCliqueDaemon::index, Presence::Always),
               field<AsReadyWord>("status", &ComputeDomainCliqueDaemon::ready, Presence::Always)};

template <>
inline constexpr auto kFields<ComputeDomainClique> =
    std::tuple{field("metadata", &ComputeDomainClique::meta, Presence::Always),
               field("daemons", &ComputeDomainClique::daemons)};

template <>
inline constexpr auto kFields<ClaimChannel> =
    std::tuple{field("claim", &ClaimChannel::claim_uid, Presence::Always),
               field("channel", &ClaimChannel::channel, Presence::Always)};

template <>
inline constexpr auto kFields<ImexGroupReport> =
    std::tuple{field("group", &ImexGroupReport::group, Presence::Always),
               field("tableHash", &ImexGroupReport::table_hash),
               field("slot", &ImexGroupReport::slot, Presence::Always),
               field("term", &ImexGroupReport::term),
               field("state", &ImexGroupReport::state, Presence::Always),
               field("instance", &ImexGroupReport::instance),
               field("since", &ImexGroupReport::since),
               field("connected", &ImexGroupReport::connected),
               field("unreachable", &ImexGroupReport::unreachable),
               field("domains", &ImexGroupReport::domains),
               field("claims", &ImexGroupReport::claims),
               field("channels", &ImexGroupReport::channels),
               field("claimChannels", &ImexGroupReport::claim_channels),
               field("releases", &ImexGroupReport::releases),
               field("message", &ImexGroupReport::message),
               field("restarts", &ImexGroupReport::restarts),
               field("lastFailure", &ImexGroupReport::last_failure),
               field("lastLoss", &ImexGroupReport::last_loss),
               field("lostClaims", &ImexGroupReport::lost_claims)};

template <>
inline constexpr auto kFields<PendingClaim> =
    std::tuple{field("uid", &PendingClaim::uid, Presence::Always),
               field("message", &PendingClaim::message, Presence::Always)};

template <>
inline constexpr auto kFields<ReportSummary> = std::tuple{
    field("state", &ReportSummary::state), field("since", &ReportSummary::since),
    field("domains", &ReportSummary::domains), field("unreachable", &ReportSummary::unreachable),
    field("message", &ReportSummary::message)};

template <>
inline constexpr auto kFields<ComputeDomainNodeReport> =
    std::tuple{field("bootID", &ComputeDomainNodeReport::boot_id),
               field("clique", &ComputeDomainNodeReport::clique),
               field("nextClique", &ComputeDomainNodeReport::next_clique),
               field("isolation", &ComputeDomainNodeReport::isolation),
               field("nextIsolation", &ComputeDomainNodeReport::next_isolation),
               field("hostManaged", &ComputeDomainNodeReport::host_managed),
               field("fabricError", &ComputeDomainNodeReport::fabric_error),
               field("address", &ComputeDomainNodeReport::address),
               field("groups", &ComputeDomainNodeReport::groups),
               field("pendingClaims", &ComputeDomainNodeReport::pending_claims),
               field("conditions", &ComputeDomainNodeReport::conditions),
               field("summary", &ComputeDomainNodeReport::summary)};

template <>
inline constexpr auto kFields<Staleness> =
    std::tuple{field("state", &Staleness::state, Presence::Always),
               field("reason", &Staleness::reason, Presence::Always),
               field("message", &Staleness::message, Presence::Always),
               field("since", &Staleness::since, Presence::Always)};

template <>
inline constexpr auto kFields<ComputeDomainNode> =
    std::tuple{field("metadata", &ComputeDomainNode::meta, Presence::Always),
               field<WithinBounds>("status", &ComputeDomainNode::status),
               field("status.stale", &ComputeDomainNode::stale)};

}  // namespace cdom::api
