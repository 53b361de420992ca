// The whole system under faults, from many seeds. A seed that fails replays bit for bit:
// CDOM_SYSTEM_FIRST_SEED=N CDOM_SYSTEM_SEEDS=1.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/membership.h"
#include "compute_domain/core/node_lists.h"
#include "system/rig.h"

namespace cdom::system_test {
namespace {

using base::cat;
using namespace std::chrono_literals;

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
  return value == nullptr ? otherwise : std::stoull(value);
}

// Two domains on one rack, faults in a random order, then rest; and what has to be true then.
class Story {
 public:
  explicit Story(std::uint64_t seed) : rig_({.seed = seed, .racks = 1, .nodes_per_rack = 8}) {}

  std::string run() {
    for (const std::string& name : kDomains) {
      rig_.apply(domain_yaml(name, kPods));
      for (int i = 0; i < kPods; ++i) rig_.apply(pod_yaml(cat(name, "-", i), name));
    }
    rig_.run_for(random_span(5s));
    const int faults = 5 + static_cast<int>(rig_.random().below(4));
    for (int i = 0; i < faults; ++i) {
      happen();
      rig_.run_for(random_span(20s));
      if (std::string wrong = broken_law(); !wrong.empty()) return wrong;
    }
    for (const auto& [node, fault] : standing_) rig_.cluster().heal(node, fault);
    standing_.clear();
    // Longer than the longest back-off of an IMEX daemon and than any eviction.
    if (!rig_.run_until([&] { return at_rest().empty(); }, 30min)) return at_rest();
    return broken_law();
  }

  [[nodiscard]] const std::map<std::string, int>& happened() const { return happened_; }

 private:
  static constexpr int kPods = 3;
  inline static const std::vector<std::string> kDomains{"train", "serve"};

  base::Duration random_span(base::Duration most) {
    return base::Duration(static_cast<base::Duration::rep>(
        rig_.random().below(static_cast<std::uint64_t>(most.count()))));
  }

  std::string some_node() {
    const auto nodes = rig_.cluster().nodes();
    return nodes[rig_.random().below(nodes.size())];
  }

  void happen() {
    using sandbox::Fault;
    static constexpr Fault kFaults[] = {Fault::ImexKill,  Fault::ImexHang, Fault::AgentCrash,
                                        Fault::Partition, Fault::SlowApi,  Fault::WatchCut,
                                        Fault::PowerOff};
    const std::size_t kind = rig_.random().below(std::size(kFaults) + 3);
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
    } else if (kind == std::size(kFaults) + 1) {
      const std::string& domain = kDomains[rig_.random().below(kDomains.size())];
      rig_.remove(cat("/api/v1/namespaces/default/pods/", domain, "-", rig_.random().below(kPods)),
                  true);
      ++happened_["pod-force-deleted"];
    } else {
      const std::string& domain = kDomains[rig_.random().below(kDomains.size())];
      rig_.remove(
          cat("/apis/resource.nvidia.com/v1beta1/namespaces/default/computedomains/", domain));
      ++happened_["domain-deleted"];
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
    }
    const auto reports = rig_.kubectl().list_all<api::ComputeDomainNode>();
    std::set<std::pair<std::string, std::int64_t>> running;
    for (const api::ComputeDomainNode& report : *reports) {
      for (const api::GroupReport& group : report.status.groups) {
        if (group.state != api::DaemonState::Ready || group.slot < 0) continue;
        if (!running.emplace(group.group, group.slot).second) {
          return cat("two nodes say READY in slot ", group.slot, " of group ", group.group);
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
      std::size_t members = 0;
      for (const api::ResourceClaim& claim : *claims) {
        if (claim.allocation && !claim.reserved_for.empty() &&
            core::domain_of(claim) == domain.meta.uid) {
          ++members;
        }
      }
      if (domain.meta.is_deleting() && members == 0) return cat(domain.meta.name, " is never gone");
      if (domain.meta.is_deleting() || !domain.status) continue;
      const bool should_be_ready = members >= kPods;
      if (domain.status->ready != should_be_ready) {
        const auto* ready = api::find_condition(domain.status->conditions, "Ready");
        return cat(domain.meta.name, " is ", domain.status->ready ? "Ready" : "NotReady", " with ",
                   members, " members: ", ready == nullptr ? "" : ready->message);
      }
    }
    for (const api::ConfigMap& map : rig_.node_lists()) {
      if (!uids.contains(map.meta.label(api::kDomainLabel))) return "an orphaned node list";
    }
    const auto templates = rig_.kubectl().list_all<api::ResourceClaimTemplate>();
    for (const api::ResourceClaimTemplate& object : *templates) {
      if (!uids.contains(object.meta.label(api::kDomainLabel))) return "an orphaned template";
    }
    return {};
  }

  Rig rig_;
  std::set<std::pair<std::string, sandbox::Fault>> standing_;
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
    const std::string wrong = story.run();
    for (const auto& [what, times] : story.happened()) happened[what] += times;
    ASSERT_EQ(wrong, "") << "CDOM_SYSTEM_FIRST_SEED=" << seed << " CDOM_SYSTEM_SEEDS=1";
  }
  for (const auto& [what, times] : happened)
    std::printf("took effect: %s %d\n", what.c_str(), times);
}

INSTANTIATE_TEST_SUITE_P(Shard, Seeds, ::testing::Range<std::uint64_t>(0, 4));

}  // namespace
}  // namespace cdom::system_test
