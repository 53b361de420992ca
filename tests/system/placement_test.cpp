// Domains that want one clique, in the whole system: with races, restarts, and two controllers that
// both lead.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>

#include "compute_domain/base/text.h"
#include "compute_domain/core/reservations.h"
#include "compute_domain/sandbox/faults.h"
#include "system/rig.h"

namespace cdom::system_test {
namespace {

using base::cat;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

constexpr char kPodPath[] = "/api/v1/namespaces/default/pods/";
constexpr char kDomainPath[] =
    "/apis/resource.nvidia.com/v1beta1/namespaces/default/computedomains/";

std::string placed_yaml(const std::string& name, int num_nodes) {
  return domain_yaml(name, num_nodes) + "  placement: {clique: Single}\n";
}

void apply_placed(Rig& rig, const std::string& name, int nodes) {
  rig.apply(placed_yaml(name, nodes));
  for (int i = 0; i < nodes; ++i) rig.apply(pod_yaml(cat(name, "-", i), name));
}

void remove_domain(Rig& rig, const std::string& name, int nodes) {
  for (int i = 0; i < nodes; ++i) rig.remove(cat(kPodPath, name, "-", i));
  rig.remove(cat(kDomainPath, name));
}

api::ComputeDomain domain_named(const Rig& rig, const std::string& name) {
  const auto found = rig.kubectl().get<api::ComputeDomain>({"default", name});
  return found ? *found : api::ComputeDomain{};
}

api::Condition condition_of(const Rig& rig, const std::string& name, const std::string& type) {
  const api::ComputeDomain domain = domain_named(rig, name);
  const auto* found =
      domain.status ? api::find_condition(domain.status->conditions, type) : nullptr;
  return found == nullptr ? api::Condition{} : *found;
}

std::string clique_of(const Rig& rig, const std::string& name) {
  const api::ComputeDomain domain = domain_named(rig, name);
  return domain.status ? domain.status->placed_clique : "";
}

std::set<std::string> nodes_in(const Rig& rig, const std::string& clique) {
  std::set<std::string> nodes;
  const auto slices = rig.kubectl().list_all<api::ResourceSlice>();
  for (const api::ResourceSlice& slice : *slices) {
    if (slice.node.empty()) continue;  // one that the clique shares
    for (const api::Device& device : slice.devices) {
      const auto it = device.attributes.find("clique");
      if (it != device.attributes.end() && it->second == api::AttributeValue(clique)) {
        nodes.insert(slice.node);
      }
    }
  }
  return nodes;
}

std::set<std::string> nodes_of_pods(const Rig& rig, const std::string& domain) {
  std::set<std::string> nodes;
  const auto pods = rig.kubectl().list_all<api::Pod>({.ns = "default"});
  for (const api::Pod& pod : *pods) {
    if (pod.meta.name.starts_with(domain + "-") && !pod.node.empty()) nodes.insert(pod.node);
  }
  return nodes;
}

std::optional<api::ConfigMap> reservations_of(const Rig& rig) {
  const auto reservations =
      rig.kubectl().get<api::ConfigMap>({"compute-domain-operator", core::kReservationsName});
  return reservations ? std::optional(*reservations) : std::nullopt;
}

// By the reservations, and by the templates that are there; "" or what is reserved twice.
std::string overbooked(const Rig& rig, int seats_per_clique) {
  std::map<std::string, std::int64_t> reserved, asked;
  if (const auto map = reservations_of(rig)) {
    for (const auto& [uid, reservation] : core::reservations_in(*map).by_domain) {
      reserved[reservation.clique] += reservation.seats;
      if (!reservation.leaving.empty()) reserved[reservation.leaving] += reservation.leaving_seats;
    }
  }
  const auto templates = rig.kubectl().list_all<api::ResourceClaimTemplate>();
  for (const api::ComputeDomain& domain : rig.domains()) {
    if (domain.meta.is_deleting()) continue;
    for (const api::ResourceClaimTemplate& object : *templates) {
      if (object.meta.name != domain.spec.channel->template_name) continue;
      if (const auto made = core::placement_of(object)) {
        asked[made->clique] += domain.spec.num_nodes;
      }
    }
  }
  for (const auto* counts : {&reserved, &asked}) {
    for (const auto& [clique, count] : *counts) {
      if (count > seats_per_clique) {
        return cat(counts == &reserved ? "reserved " : "asked for by templates ", count, " of ",
                   clique);
      }
    }
  }
  return {};
}

TEST(PlacedDomains, HaveAllTheirPodsInTheCliqueThatFitsBest) {
  Rig rig({.seed = 3, .racks = 2});
  rig.apply(domain_yaml("other", 1));
  rig.apply(pod_yaml("other-0", "other"));
  ASSERT_TRUE(rig.run_until([&] { return rig.is_ready("other"); }, 60s));
  apply_placed(rig, "train", 3);
  ASSERT_TRUE(rig.run_until([&] { return rig.is_ready("train"); }, 60s));
  const std::set<std::string> of_clique = nodes_in(rig, clique_of(rig, "train"));
  EXPECT_TRUE(of_clique.contains(*nodes_of_pods(rig, "other").begin())) << "the fuller rack";
  EXPECT_TRUE(std::ranges::includes(of_clique, nodes_of_pods(rig, "train")));
  EXPECT_EQ(condition_of(rig, "train", "SingleClique").status, api::ConditionStatus::True);
  EXPECT_EQ(condition_of(rig, "train", "Placed").status, api::ConditionStatus::True);
}

TEST(PlacedDomains, WaitForSeatsWithTheNumbersAndGetThemWhenTheyFree) {
  Rig rig({.seed = 4});
  apply_placed(rig, "first", 3);
  ASSERT_TRUE(rig.run_until([&] { return rig.is_ready("first"); }, 60s));
  apply_placed(rig, "second", 2);
  rig.run_for(30s);
  const api::Condition placed = condition_of(rig, "second", "Placed");
  EXPECT_EQ(placed.reason, "NoCliqueFits");
  EXPECT_THAT(placed.message, HasSubstr("has 1 free of 4: 3 in use"));
  EXPECT_EQ(condition_of(rig, "second", "TemplateReady").reason, "NotPlaced");
  EXPECT_EQ(condition_of(rig, "second", "Ready").reason, "NotPlaced");
  remove_domain(rig, "first", 3);
  EXPECT_TRUE(rig.run_until([&] { return rig.is_ready("second"); }, 120s));
  remove_domain(rig, "second", 2);
  ASSERT_TRUE(rig.run_until([&] { return rig.domains().empty(); }, 120s));
  rig.run_for(1s);
  EXPECT_THAT(rig.node_lists(), IsEmpty());  // and no reservations
}

TEST(PlacedDomains, LargerThanAnyCliqueSaySoAndFormOnceTheyAskForLess) {
  Rig rig({.seed = 9, .racks = 2});
  apply_placed(rig, "train", 5);
  rig.run_for(30s);
  const api::Condition placed = condition_of(rig, "train", "Placed");
  EXPECT_EQ(placed.reason, "NoCliqueIsLargeEnough");
  EXPECT_THAT(placed.message, HasSubstr("needs 5 seats"));
  EXPECT_THAT(placed.message, HasSubstr("has 4: lower spec.numNodes"));
  EXPECT_THAT(nodes_of_pods(rig, "train"), IsEmpty());
  EXPECT_EQ(reservations_of(rig), std::nullopt);
  rig.remove(cat(kPodPath, "train-4"));
  rig.apply(placed_yaml("train", 4));
  EXPECT_TRUE(rig.run_until([&] { return rig.is_ready("train"); }, 60s));
}

TEST(PlacedDomains, AreQuietOnceTheyAreReady) {
  Rig rig({.seed = 5, .racks = 2});
  apply_placed(rig, "train", 3);
  rig.apply(placed_yaml("waits", 4));
  rig.apply(placed_yaml("waits-too", 4));
  ASSERT_TRUE(rig.run_until([&] { return rig.is_ready("train"); }, 60s));
  rig.run_for(30s);
  rig.requests().clear();
  rig.run_for(10min);
  EXPECT_EQ(rig.requests().count([](const WriteRequest& write) {
    return write.user.starts_with("system:serviceaccount:") && write.resource != "leases";
  }),
            0);
}

TEST(PlacedDomains, CostOneWriteMoreThanOthersWhenTheySetOut) {
  Rig rig({.seed = 6});
  rig.run_for(5s);
  const auto writes_of = [&](const std::string& yaml) {
    rig.requests().clear();
    rig.apply(yaml);
    rig.run_for(5s);
    return rig.requests().count([](const WriteRequest& write) {
      return write.user.ends_with(":compute-domain-controller") && write.resource != "leases" &&
             write.resource != "events";
    });
  };
  const auto others = writes_of(domain_yaml("other", 2));
  EXPECT_EQ(writes_of(placed_yaml("train", 2)), others + 1);
}

TEST(PlacedDomains, WithoutNumNodesArePlacedOnceTheyAreGiven) {
  Rig rig({.seed = 7});
  rig.apply(placed_yaml("train", 0));
  rig.run_for(5s);
  EXPECT_EQ(condition_of(rig, "train", "Placed").reason, "NumNodesMissing");
  EXPECT_THAT(condition_of(rig, "train", "Ready").message, HasSubstr("kubectl patch"));
  rig.apply(placed_yaml("train", 2));
  rig.run_for(5s);
  EXPECT_EQ(condition_of(rig, "train", "Placed").reason, "CliqueChosen");
}

TEST(PlacedDomains, AreNeverReservedTheSameSeatsByControllersThatBothLeadAndCrash) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    Rig rig({.seed = seed, .racks = 3, .nodes_per_rack = 4, .controllers = 2});
    for (int d = 0; d < 5; ++d) apply_placed(rig, cat("d", d), d < 4 ? 3 : 1);
    std::string wrong;
    const auto ready = [&] {
      const auto domains = rig.domains();
      return std::ranges::count_if(domains, [](const api::ComputeDomain& domain) {
        return domain.status && domain.status->ready;
      });
    };
    int steps = 0;
    const auto is_done = [&] {
      if (++steps % 97 == 0 && rig.random().below(8) == 0)
        rig.crash_controller(rig.random().below(2));
      if (steps % 5 != 0) return false;
      wrong = overbooked(rig, 4);
      return !wrong.empty() || (steps % 50 == 0 && ready() == 4);
    };
    ASSERT_TRUE(rig.run_until(is_done, 120s)) << "seed " << seed;
    ASSERT_EQ(wrong, "") << "seed " << seed;
    // Whoever waits gets the seats of one that goes.
    const auto domains = rig.domains();
    const auto placed = std::ranges::find_if(domains, [](const api::ComputeDomain& domain) {
      return domain.status->ready && domain.spec.num_nodes == 3;
    });
    ASSERT_NE(placed, domains.end());
    remove_domain(rig, placed->meta.name, 3);
    const auto is_taken_over = [&] {
      if (++steps % 50 != 0) return false;
      wrong = overbooked(rig, 4);
      return !wrong.empty() || (rig.domains().size() == 4 && ready() == 4);
    };
    EXPECT_TRUE(rig.run_until(is_taken_over, 240s)) << "seed " << seed;
    EXPECT_EQ(wrong, "") << "seed " << seed;
  }
}

TEST(PlacedDomains, ArePlacedAnewWhenACliqueLosesANodeBeforeTheirPodsCome) {
  Rig rig({.seed = 8, .racks = 2});
  rig.apply(placed_yaml("train", 4));
  rig.run_for(5s);
  const std::string first = clique_of(rig, "train");
  const std::string lost = *nodes_in(rig, first).begin();
  rig.cluster().inject(lost, sandbox::Fault::PowerOff);
  ASSERT_TRUE(rig.run_until([&] { return clique_of(rig, "train") != first; }, 300s));
  rig.cluster().heal(lost, sandbox::Fault::PowerOff);
  // Kubernetes makes claims of the template that it has seen, which may be the old one for a
  // moment.
  rig.run_for(1s);
  for (int i = 0; i < 4; ++i) rig.apply(pod_yaml(cat("train-", i), "train"));
  ASSERT_TRUE(rig.run_until([&] { return rig.is_ready("train"); }, 120s));
  EXPECT_EQ(nodes_of_pods(rig, "train"), nodes_in(rig, clique_of(rig, "train")));
}

TEST(PlacedDomains, WhosePodsHaveSeatsStayAndSayWhatTheyLack) {
  Rig rig({.seed = 9, .racks = 2});
  rig.apply(placed_yaml("train", 4));
  rig.apply(pod_yaml("train-0", "train"));
  ASSERT_TRUE(rig.run_until(
      [&] { return !nodes_of_pods(rig, "train").empty() && !clique_of(rig, "train").empty(); },
      60s));
  const std::string clique = clique_of(rig, "train");
  std::set<std::string> others = nodes_in(rig, clique);
  others.erase(*nodes_of_pods(rig, "train").begin());
  rig.cluster().inject(*others.begin(), sandbox::Fault::PowerOff);
  rig.run_for(120s);
  EXPECT_EQ(clique_of(rig, "train"), clique);
  EXPECT_EQ(condition_of(rig, "train", "Placed").reason, "CliqueLacksSeats");
  EXPECT_THAT(condition_of(rig, "train", "Placed").message,
              HasSubstr(*others.begin() + " NotReady"));
  rig.cluster().heal(*others.begin(), sandbox::Fault::PowerOff);
  for (int i = 1; i < 4; ++i) rig.apply(pod_yaml(cat("train-", i), "train"));
  EXPECT_TRUE(rig.run_until([&] { return rig.is_ready("train"); }, 180s));
}

// What the controller has seen of claims is all that it sees of them from now on.
void hold_claims_back(Rig& rig) {
  sandbox::FaultRule rule{.kind = sandbox::FaultKind::Delay,
                          .user = "*:compute-domain-controller",
                          .verb = "watch",
                          .resource = "resourceclaims",
                          .delay = 1h};
  rig.faults().add(rule);
  rule.kind = sandbox::FaultKind::CutWatch;
  rule.count = 1;
  rig.faults().add(rule);
  rig.run_for(5s);
}

TEST(PlacedDomains, WhoseMoveCannotBeProvedStayAndHoldBackNobody) {
  Rig rig({.seed = 13, .racks = 2});
  rig.apply(placed_yaml("train", 4));
  ASSERT_TRUE(rig.run_until([&] { return !clique_of(rig, "train").empty(); }, 10s));
  const std::string clique = clique_of(rig, "train");
  hold_claims_back(rig);
  rig.apply(pod_yaml("train-0", "train"));
  ASSERT_TRUE(rig.run_until([&] { return !nodes_of_pods(rig, "train").empty(); }, 30s));
  rig.run_for(5s);
  ASSERT_THAT(domain_named(rig, "train").status->nodes, IsEmpty()) << "its seat has been seen";
  std::set<std::string> others = nodes_in(rig, clique);
  others.erase(*nodes_of_pods(rig, "train").begin());
  rig.cluster().inject(*others.begin(), sandbox::Fault::PowerOff);
  const auto is_lost = [&] {
    const auto node = rig.kubectl().get<api::Node>({"", *others.begin()});
    return node && node->ready != api::ConditionStatus::True;
  };
  ASSERT_TRUE(rig.run_until(is_lost, 120s));
  rig.apply(placed_yaml("serve", 2));
  rig.run_for(2s);
  EXPECT_EQ(condition_of(rig, "serve", "Placed").reason, "CliqueChosen");
  EXPECT_EQ(clique_of(rig, "train"), clique);
  EXPECT_EQ(condition_of(rig, "train", "Placed").reason, "CliqueLacksSeats");
}

// A claim that a clique's nodes share.
std::string claim_that_is_shared(const std::string& domain_uid) {
  return cat(R"(
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: mesh, namespace: default}
spec:
  devices:
    requests:
    - {name: channel, exactly: {deviceClassName: compute-domain-shared-channel.nvidia.com}}
    config:
    - requests: [channel]
      opaque:
        driver: compute-domain.nvidia.com
        parameters: {apiVersion: resource.nvidia.com/v1beta1, kind: ComputeDomainChannelConfig, domainID: )",
             domain_uid, "}\n");
}

std::string sharer_yaml(const std::string& name) {
  return cat(R"(
apiVersion: v1
kind: Pod
metadata: {name: )",
             name, R"(, namespace: default}
spec:
  containers:
  - {name: worker, image: busybox, command: [sleep, infinity], resources: {claims: [{name: channel}]}}
  resourceClaims: [{name: channel, resourceClaimName: mesh}]
)");
}

TEST(PlacedDomains, ThatClaimsShareKeepTheirCliqueAndHoldBackNobody) {
  Rig rig({.seed = 12, .racks = 2, .shares_claims = true});
  rig.apply(placed_yaml("train", 4));
  ASSERT_TRUE(rig.run_until([&] { return !clique_of(rig, "train").empty(); }, 10s));
  const std::string clique = clique_of(rig, "train");
  rig.apply(claim_that_is_shared(domain_named(rig, "train").meta.uid));
  rig.apply(sharer_yaml("sharer"));
  ASSERT_TRUE(rig.run_until(
      [&] {
        const auto pod = rig.kubectl().get<api::Pod>({"default", "sharer"});
        return pod && !pod->node.empty();
      },
      30s));
  const std::string used = rig.kubectl().get<api::Pod>({"default", "sharer"})->node;
  std::set<std::string> others = nodes_in(rig, clique);
  others.erase(used);
  rig.cluster().inject(*others.begin(), sandbox::Fault::PowerOff);
  rig.run_for(120s);
  rig.apply(placed_yaml("serve", 2));
  rig.run_for(2s);
  EXPECT_EQ(condition_of(rig, "serve", "Placed").reason, "CliqueChosen");
  EXPECT_EQ(clique_of(rig, "train"), clique);
  EXPECT_EQ(condition_of(rig, "train", "Placed").reason, "CliqueLacksSeats");
}

std::string pod_on(const std::string& node, const std::string& yaml) {
  return cat(yaml, "  nodeSelector: {kubernetes.io/hostname: ", node, "}\n");
}

// On which nodes the pods of a shared claim are a controller that starts has to read first.
TEST(PlacedDomains, TakeNoSeatsOfSharedClaimsWhenTheControllerStartsAgain) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE(seed);
    Rig rig({.seed = seed, .racks = 2, .shares_claims = true});
    rig.apply(domain_yaml("mesh", 4));
    rig.apply(claim_that_is_shared(domain_named(rig, "mesh").meta.uid));
    for (const char* node : {"r1n01", "r1n02", "r1n03", "r1n04"}) {
      rig.apply(pod_on(node, sharer_yaml(cat("sharer-", node))));
    }
    rig.apply(domain_yaml("other", 4));
    for (const char* node : {"r2n01", "r2n02", "r2n03", "r2n04"}) {
      rig.apply(pod_on(node, pod_yaml(cat("other-", node), "other")));
    }
    ASSERT_TRUE(rig.run_until([&] { return rig.is_ready("mesh") && rig.is_ready("other"); }, 60s));
    rig.apply(placed_yaml("serve", 4));
    rig.run_for(5s);
    const std::string before = condition_of(rig, "serve", "Placed").message;
    ASSERT_THAT(before, HasSubstr("has 0 free of 4: 4 in use"));
    rig.crash_controller();
    rig.run_for(5s);
    EXPECT_EQ(clique_of(rig, "serve"), "");
    EXPECT_EQ(condition_of(rig, "serve", "Placed").message, before);
    remove_domain(rig, "other", 0);
    for (const char* node : {"r2n01", "r2n02", "r2n03", "r2n04"}) {
      rig.remove(cat(kPodPath, "other-", node));
    }
    EXPECT_TRUE(rig.run_until([&] { return !clique_of(rig, "serve").empty(); }, 60s));
    EXPECT_TRUE(nodes_in(rig, clique_of(rig, "serve")).contains("r2n01"));
  }
}

TEST(PlacedDomains, SurviveAControllerThatDiesAfterAnyStep) {
  Rig rig({.seed = 10, .racks = 2});
  for (int last = 1; last <= 60; last += 3) {
    const std::string name = cat("d", last);
    rig.apply(placed_yaml(name, 3));
    int steps = 0;
    rig.run_until([&] { return ++steps > last; }, 10s);
    rig.crash_controller();
    for (int i = 0; i < 3; ++i) rig.apply(pod_yaml(cat(name, "-", i), name));
    ASSERT_TRUE(rig.run_until([&] { return rig.is_ready(name); }, 60s)) << "after step " << last;
    ASSERT_EQ(overbooked(rig, 4), "");
    remove_domain(rig, name, 3);
    ASSERT_TRUE(rig.run_until([&] { return rig.domains().empty(); }, 120s));
    rig.run_for(1s);
    ASSERT_THAT(rig.node_lists(), IsEmpty()) << "after step " << last;
  }
}

TEST(PlacedDomains, FindTheirCliqueAgainWhenTheReservationsMapIsLost) {
  Rig rig({.seed = 11, .racks = 2});
  rig.apply(placed_yaml("train", 3));
  rig.run_for(5s);
  const std::string clique = clique_of(rig, "train");
  rig.remove(
      cat("/api/v1/namespaces/compute-domain-operator/configmaps/", core::kReservationsName));
  rig.apply(placed_yaml("other", 3));
  rig.run_for(5s);
  EXPECT_EQ(clique_of(rig, "train"), clique);
  EXPECT_NE(clique_of(rig, "other"), clique);
  EXPECT_NE(clique_of(rig, "other"), "");
}

}  // namespace
}  // namespace cdom::system_test
