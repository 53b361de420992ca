// The whole system under faults, from many seeds. A seed that fails replays bit for bit:
// CDOM_SYSTEM_FIRST_SEED=N CDOM_SYSTEM_SEEDS=1.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <map>
#include <set>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/membership.h"
#include "compute_domain/core/node_lists.h"
#include "compute_domain/sandbox/faults.h"
#include "system/quiet_domain.h"
#include "system/rig.h"

namespace cdom::system_test {
namespace {

using base::cat;
using namespace std::chrono_literals;

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
  return value == nullptr ? otherwise : std::stoull(value);
}

// One story in three is of isolation by channel, with no channel to spare.
RigOptions options_of(std::uint64_t seed) {
  RigOptions options{.seed = seed, .racks = 1, .nodes_per_rack = 9};
  if (seed % 3 != 0) return options;
  options.node_settings = {.isolation = api::Isolation::Channel, .seats = 4};
  options.channels = 4;
  return options;
}

// Two domains on one rack, faults in a random order, then rest; and what has to be true then. One
// of another namespace must not notice.
class Story {
 public:
  explicit Story(std::uint64_t seed)
      : by_channel_(options_of(seed).node_settings.isolation == api::Isolation::Channel),
        rig_(options_of(seed)),
        quiet_(rig_, by_channel_) {
    if (by_channel_) ++happened_["isolation-by-channel"];
  }

  std::string run() {
    if (!quiet_.form()) return "the domain that is to have no fault does not form";
    for (const std::string& name : kDomains) make(name);
    rig_.run_for(random_span(5s));
    const int faults = 5 + static_cast<int>(rig_.random().below(4));
    for (int i = 0; i < faults; ++i) {
      happen();
      rig_.run_for(random_span(20s));
      if (std::string wrong = broken_law(); !wrong.empty()) return wrong;
    }
    heal_all();
    // Longer than the longest back-off of an IMEX daemon and than any eviction.
    if (!rig_.run_until([&] { return at_rest().empty(); }, 30min)) return at_rest();
    return broken_law();
  }

  [[nodiscard]] const std::map<std::string, int>& happened() const { return happened_; }

 private:
  static constexpr int kPods = 3;
  inline static const std::vector<std::string> kDomains{"train", "serve"};

  void heal_all() {
    for (const auto& [node, fault] : standing_) rig_.cluster().heal(node, fault);
    standing_.clear();
    for (const std::string& node : in_maintenance_) maintain(node, false, false);
    in_maintenance_.clear();
  }

  base::Duration random_span(base::Duration most) {
    return base::Duration(static_cast<base::Duration::rep>(
        rig_.random().below(static_cast<std::uint64_t>(most.count()))));
  }

  // Pods of a former domain of this name may still be there.
  std::string pod_of(const std::string& domain, std::uint64_t number) const {
    return cat(domain, "-", made_.at(domain), "-", number);
  }
  static std::string pod_path(const std::string& name) {
    return cat("/api/v1/namespaces/default/pods/", name);
  }
  static std::string domain_path(const std::string& name) {
    return cat("/apis/resource.nvidia.com/v1beta1/namespaces/default/computedomains/", name);
  }

  void make(const std::string& domain) {
    ++made_[domain];
    rig_.apply(domain_yaml(domain, kPods));
    for (int i = 0; i < kPods; ++i) rig_.apply(pod_yaml(pod_of(domain, i), domain));
  }

  // A domain that is gone comes again; or this one goes with its pods.
  void make_or_dissolve(const std::string& domain) {
    for (const std::string& name : kDomains) {
      if (rig_.kubectl().get<api::ComputeDomain>({"default", name})) continue;
      make(name);
      ++happened_["domain-made-anew"];
      return;
    }
    rig_.remove(domain_path(domain));
    for (int i = 0; i < kPods; ++i) rig_.remove(pod_path(pod_of(domain, i)));
    ++happened_["domain-dissolved"];
  }

  std::string some_node() {
    auto nodes = rig_.cluster().nodes();
    std::erase_if(nodes, QuietDomain::is_on);
    return nodes[rig_.random().below(nodes.size())];
  }

  // An administrator, or a controller of the cluster, takes away what the operator relies on.
  void delete_some_object(std::uint64_t which) {
    const std::string node = some_node();
    std::vector<std::string> paths;
    switch (which) {
      case 0:
        paths = {cat("/apis/resource.nvidia.com/v1beta1/computedomainnodes/", node)};
        break;
      case 1:
        for (const api::ConfigMap& map : rig_.node_lists()) {
          if (map.meta.label(api::kDomainNamespaceLabel) == QuietDomain::kNamespace) continue;
          paths.push_back(cat("/api/v1/namespaces/", map.meta.ns, "/configmaps/", map.meta.name));
        }
        break;
      default:
        for (const std::string& name : kDomains) {
          paths.push_back(cat("/apis/resource.k8s.io/v1/namespaces/default/resourceclaimtemplates/",
                              name, "-channel"));
        }
    }
    static constexpr const char* kNames[] = {"report-deleted", "node-list-deleted",
                                             "template-deleted"};
    if (paths.empty()) return;
    rig_.remove(paths[rig_.random().below(paths.size())]);
    ++happened_[kNames[std::min<std::uint64_t>(which, 2)]];
  }

  // An administrator deletes a Node. kubelet registers only when it starts: sooner or later the
  // machine boots, at the latest with those that heal at the end.
  void delete_node() {
    const std::string node = some_node();
    rig_.remove(cat("/api/v1/nodes/", node));
    ++happened_["node-deleted"];
    if (rig_.random().chance(0.5)) rig_.run_for(random_span(2min));
    rig_.cluster().inject(node, sandbox::Fault::PowerOff);
    standing_.emplace(node, sandbox::Fault::PowerOff);
    if (rig_.random().chance(0.5)) return;
    rig_.run_for(random_span(15s));
    rig_.cluster().heal(node, sandbox::Fault::PowerOff);
    standing_.erase({node, sandbox::Fault::PowerOff});
  }

  void upgrade_api_server() {
    rig_.upgrade_api_server(rig_.served_version() == "v1" ? "v1beta2" : "v1");
    ++happened_["api-server-in-another-version"];
  }

  void lose_leadership() {
    rig_.lead(false);
    rig_.run_for(random_span(10s));
    rig_.lead(true);
    ++happened_["leadership-lost"];
  }

  // As an administrator and the GPU Operator write it; of a Node that has been deleted they have
  // nothing to write.
  void maintain(const std::string& node, bool is_cordoned, bool is_paused) {
    const auto done = rig_.kubectl().patch<api::Node>(
        {"", node}, "",
        cat(R"({"spec":{"unschedulable":)", is_cordoned ? "true" : "null",
            R"(},"metadata":{"labels":{"nvidia.com/gpu.deploy.client":)",
            is_paused ? R"("paused-for-driver-upgrade")" : "null", "}}}"));
    if (!done && done.error().kind == base::ErrorKind::NotFound) return;
    ASSERT_TRUE(done) << done.error().message;
  }
  void maintain_some_node() {
    const std::string node = some_node();
    const bool is_paused = rig_.random().chance(0.5);
    maintain(node, true, is_paused);
    in_maintenance_.insert(node);
    ++happened_[is_paused ? "driver-paused" : "cordoned"];
  }

  void set_clock() {
    rig_.set_wall_clock(rig_.random().chance(0.5) ? 1h : -1h);
    ++happened_["wall-clock-set"];
  }

  // The controller sees all of one kind late, for a while.
  void hold_a_watch_back() {
    static constexpr const char* kWatched[] = {
        "computedomains",     "resourceclaims", "resourceclaimtemplates", "configmaps",
        "computedomainnodes", "nodes",          "resourceslices",         "pods"};
    const std::string resource = kWatched[rig_.random().below(std::size(kWatched))];
    const std::string controller = "*:compute-domain-controller";
    const auto cut = [&] {
      rig_.faults().add({.kind = sandbox::FaultKind::CutWatch,
                         .user = controller,
                         .verb = "watch",
                         .resource = resource,
                         .count = 1});
    };
    const int rule = rig_.faults().add({.kind = sandbox::FaultKind::Delay,
                                        .user = controller,
                                        .verb = "watch",
                                        .resource = resource,
                                        .delay = 200ms + random_span(3s)});
    cut();
    rig_.run_for(random_span(20s));
    rig_.faults().remove(rule);
    cut();
    ++happened_[cat("watch-held-back-", resource)];
  }

  void happen() {
    using sandbox::Fault;
    static constexpr Fault kFaults[] = {Fault::ImexKill,  Fault::ImexHang, Fault::AgentCrash,
                                        Fault::Partition, Fault::SlowApi,  Fault::WatchCut,
                                        Fault::PowerOff};
    const std::size_t kind = rig_.random().below(std::size(kFaults) + 14);
    note_claims();
    if (kind >= std::size(kFaults) + 5) {
      const std::size_t which = kind - std::size(kFaults) - 5;
      if (which < 3) return delete_some_object(which);
      if (which == 3) return lose_leadership();
      if (which == 4) return set_clock();
      if (which == 5) return hold_a_watch_back();
      if (which == 6) return delete_node();
      return which == 7 ? maintain_some_node() : upgrade_api_server();
    }
    if (kind < std::size(kFaults)) {
      const std::string node = some_node();
      rig_.cluster().inject(node, kFaults[kind]);
      standing_.emplace(node, kFaults[kind]);
      ++happened_[std::string(name_of(kFaults[kind]))];
      // Some heal soon, others with the rest at the end.
      if (rig_.random().chance(0.5)) {
        rig_.run_for(random_span(15s));
        rig_.cluster().heal(node, kFaults[kind]);
        standing_.erase({node, kFaults[kind]});
      }
    } else if (kind == std::size(kFaults)) {
      rig_.crash_controller();
      ++happened_["controller-crash"];
    } else {
      const std::string& domain = kDomains[rig_.random().below(kDomains.size())];
      if (kind == std::size(kFaults) + 1) {
        rig_.remove(pod_path(pod_of(domain, rig_.random().below(kPods))), true);
        ++happened_["pod-force-deleted"];
      } else if (kind == std::size(kFaults) + 2) {
        rig_.remove(domain_path(domain));
        ++happened_["domain-deleted"];
      } else {
        make_or_dissolve(domain);
      }
    }
  }

  // Laws that hold at any time, whatever is broken.
  std::string broken_law() {
    for (const api::ConfigMap& map : rig_.node_lists()) {
      const core::StoredList stored = core::stored_list(map);
      if (!stored.list) return cat(map.meta.name, " ", stored.problem);
      std::set<std::int64_t> slots;
      for (const api::NodeListEntry& entry : stored.list->entries) {
        if (!slots.insert(entry.slot).second) return cat("slot ", entry.slot, " for two nodes");
      }
      std::set<std::int64_t> channels;
      for (const api::Channel& channel : stored.list->channels) {
        if (!channels.insert(channel.number).second) {
          return cat("channel ", channel.number, " twice");
        }
      }
    }
    if (std::string wrong = shared_channel(); !wrong.empty()) return wrong;
    if (std::string wrong = quiet_.disturbance(false); !wrong.empty()) return wrong;
    const auto reports = rig_.kubectl().list_all<api::ComputeDomainNode>();
    std::set<std::pair<std::string, std::int64_t>> running;
    for (const api::ComputeDomainNode& report : *reports) {
      for (const api::ImexGroupReport& group : report.status.groups) {
        if (group.state != api::DaemonState::Ready || group.slot < 0) continue;
        if (!running.emplace(group.group, group.slot).second) {
          return cat("two nodes say READY in slot ", group.slot, " of group ", group.group);
        }
      }
    }
    return {};
  }

  // Pods that are deleted leave claims that only nodes remember.
  void note_claims() {
    const auto claims = rig_.kubectl().list_all<api::ResourceClaim>();
    for (const api::ResourceClaim& claim : *claims) {
      domain_of_claim_[claim.meta.uid] = core::domain_of(claim).value_or("");
    }
  }

  // Containers of two domains never see one channel; where it is dark there are none.
  std::string shared_channel() {
    if (!by_channel_) return {};
    note_claims();
    std::map<std::int64_t, std::string> domains;
    for (const std::string& node : rig_.cluster().nodes()) {
      if (standing_.contains({node, sandbox::Fault::PowerOff})) continue;
      for (const auto& [claim, channels] : rig_.injected(node)) {
        const auto known = domain_of_claim_.find(claim);
        if (known == domain_of_claim_.end()) return cat(node, " serves unknown claim ", claim);
        if (channels.first < 1 || channels.count != 1) {
          return cat(node, " gives claim ", claim, " ", channels.count, " channels from ",
                     channels.first, " on");
        }
        const auto user = domains.try_emplace(channels.first, known->second).first;
        if (user->second != known->second) {
          return cat("containers of ", user->second, " and, on ", node, ", of ", known->second,
                     " see channel ", channels.first);
        }
      }
    }
    return {};
  }

  // "" when the goal is reached: domains say what is true of their pods, deleted ones are gone when
  // their pods are, and nothing is left of them.
  std::string at_rest() {
    std::set<std::string> uids;
    const auto claims = rig_.kubectl().list_all<api::ResourceClaim>();
    for (const api::ComputeDomain& domain : rig_.domains()) {
      uids.insert(domain.meta.uid);
      std::set<std::string> nodes;  // with isolation by channel two pods may be on one
      for (const api::ResourceClaim& claim : *claims) {
        if (claim.allocation && !claim.reserved_for.empty() &&
            core::domain_of(claim) == domain.meta.uid) {
          for (std::string& node : core::nodes_of(claim)) nodes.insert(std::move(node));
        }
      }
      const std::size_t members = nodes.size();
      if (domain.meta.is_deleting() && members == 0) return cat(domain.meta.name, " is never gone");
      if (domain.meta.is_deleting() || !domain.status) continue;
      const bool should_be_ready = static_cast<std::int64_t>(members) >= domain.spec.num_nodes;
      if (domain.status->ready != should_be_ready) {
        const auto* ready = api::find_condition(domain.status->conditions, "Ready");
        return cat(domain.meta.name, " is ", domain.status->ready ? "Ready" : "NotReady", " with ",
                   members, " members: ", ready == nullptr ? "" : ready->message);
      }
      for (const auto& node : domain.status->nodes) {
        if ((node.channel > 0) != by_channel_) {
          return cat(domain.meta.name, " has channel ", node.channel, " on ", node.name);
        }
      }
    }
    for (const api::ConfigMap& map : rig_.node_lists()) {
      if (!core::is_of_clique(map.meta)) {
        if (!uids.contains(map.meta.label(api::kDomainLabel))) return "an orphaned node list";
        continue;
      }
      const core::StoredList stored = core::stored_list(map);
      if (!stored.list) return stored.problem;
      for (const api::Channel& channel : stored.list->channels) {
        // A pod that was scheduled when its domain had gone keeps it, and never starts.
        const bool has_claim = std::ranges::any_of(*claims, [&](const api::ResourceClaim& claim) {
          return claim.allocation && core::domain_of(claim) == channel.domain_uid;
        });
        if (channel.release == 0 && !has_claim && !uids.contains(channel.domain_uid)) {
          return cat("channel ", channel.number, " of a domain that is gone");
        }
      }
    }
    const auto reports = rig_.kubectl().list_all<api::ComputeDomainNode>();
    for (const api::ComputeDomainNode& report : *reports) {
      const api::Condition* serves = api::find_condition(report.status.conditions, "CanServe");
      if (serves == nullptr || serves->reason == "Cordoned" || serves->reason == "DriverPaused") {
        return cat(report.meta.name, " still rests");
      }
    }
    const auto templates = rig_.kubectl().list_all<api::ResourceClaimTemplate>();
    for (const api::ResourceClaimTemplate& object : *templates) {
      if (!uids.contains(object.meta.label(api::kDomainLabel))) return "an orphaned template";
    }
    return quiet_.disturbance(true);
  }

  const bool by_channel_;
  Rig rig_;
  QuietDomain quiet_;
  std::map<std::string, int> made_;                     // so often, by name
  std::map<std::string, std::string> domain_of_claim_;  // by UID
  std::set<std::pair<std::string, sandbox::Fault>> standing_;
  std::set<std::string> in_maintenance_;
  std::map<std::string, int> happened_;
};

// Shards, so that ctest can run them side by side.
class Seeds : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(Seeds, EveryStoryEndsWell) {
  constexpr std::uint64_t kShards = 4;
  const std::uint64_t first = from_environment("CDOM_SYSTEM_FIRST_SEED", 1);
  const std::uint64_t count = from_environment("CDOM_SYSTEM_SEEDS", 40);
  std::map<std::string, int> happened;
  for (std::uint64_t seed = first + GetParam(); seed < first + count; seed += kShards) {
    Story story(seed);
    std::string wrong;
    try {
      wrong = story.run();
    } catch (const std::exception& broken_law) {  // the rig's own laws
      wrong = broken_law.what();
    }
    for (const auto& [what, times] : story.happened()) happened[what] += times;
    ASSERT_EQ(wrong, "") << "CDOM_SYSTEM_FIRST_SEED=" << seed << " CDOM_SYSTEM_SEEDS=1";
  }
  for (const auto& [what, times] : happened)
    std::printf("took effect: %s %d\n", what.c_str(), times);
}

INSTANTIATE_TEST_SUITE_P(Shard, Seeds, ::testing::Range<std::uint64_t>(0, 4));

}  // namespace
}  // namespace cdom::system_test
