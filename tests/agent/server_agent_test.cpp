#include "compute_domain/agent/server_agent.h"

#include <malloc.h>

#include "agent/rig.h"
#include "compute_domain/base/text.h"

namespace cdom::agent {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// In bytes; none under a sanitizer.
std::size_t used_memory() {
  const struct mallinfo2 heap = mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

class ServerAgentTest : public testing::Test {
 protected:
  void settle() {
    while (server_.step()) {
    }
  }
  // Steps until the server agent has carried out what it was asked, and nothing else.
  std::vector<ServerResult> carry_out(std::vector<core::ServerIntent> intents) {
    mail_.orders.post(CarryOut{std::move(intents)});
    std::vector<ServerResult> results;
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(server_.next_due(), rig_.clock.elapsed());
      server_.step();
      while (auto result = mail_.results.take()) {
        results.push_back(std::move(*result));
        if (std::holds_alternative<CarriedOut>(results.back())) return results;
      }
    }
    ADD_FAILURE() << "it does not come to the end";
    return results;
  }
  template <class Kind>
  std::vector<Kind> taken() {
    std::vector<Kind> found;
    while (const auto result = mail_.results.take()) {
      if (const auto* kind = std::get_if<Kind>(&*result)) found.push_back(*kind);
    }
    return found;
  }

  Rig rig_;
  ServerMail mail_;
  ServerAgent server_{rig_.client,
                      mail_,
                      rig_.clock,
                      {.self = {.name = kNode, .boot_id = "boot-1", .address = {}, .agent = {}},
                       .times = {},
                       .operator_namespace = kNamespace}};
};

TEST_F(ServerAgentTest, AnswersInTheOrderOfThePlan) {
  const core::ClaimRef claim = rig_.make_claim("a");
  const auto results = carry_out({core::LookUpPeer{"n07"}, core::LookUpClaim{claim}});
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(std::get<PeerRead>(results[0]).node, "n07");
  EXPECT_EQ(std::get<ClaimRead>(results[1]).reading.claim->meta.uid, claim.uid);
}

TEST_F(ServerAgentTest, LeavesTheRestOfAPlanAfterAWriteThatFails) {
  rig_.wire.is_cut = true;
  const auto results =
      carry_out({core::PublishReport{.current = {}, .report = {}}, core::LookUpPeer{"n07"}});
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(std::get<ReportNotWritten>(results[0]).error.kind, base::ErrorKind::Unavailable);
}

TEST_F(ServerAgentTest, KeepsAFewHundredBytesOfADomainHoweverLongItIs) {
  api::ComputeDomain domain;
  std::tie(domain.meta.ns, domain.meta.name) = std::tuple("team-a", "train");
  for (int i = 0; i < 50'000; ++i) domain.meta.labels[base::cat("label-", i)] = "of-a-tenant";
  const auto made = rig_.admin.create(domain);
  ASSERT_TRUE(made) << made.error().message;

  auto results = carry_out({core::LookUpDomains{"team-a"}});
  ASSERT_THAT(results, SizeIs(2));
  const auto& listed = std::get<DomainsRead>(results[0]).reading.domains;
  EXPECT_THAT(*listed, ElementsAre(core::ListedDomain{.uid = made->meta.uid, .name = "train"}));
  const std::size_t before = used_memory();
  results.clear();
  EXPECT_LT(before - used_memory(), 1000U);
}

TEST_F(ServerAgentTest, ListsADomainBesideOneThatCannotBeRead) {
  // By this definition any object is a ComputeDomain.
  const auto loaded = rig_.server.load(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: computedomains.resource.nvidia.com}
spec:
  group: resource.nvidia.com
  scope: Namespaced
  names: {kind: ComputeDomain, listKind: ComputeDomainList, plural: computedomains, singular: computedomain}
  versions:
  - name: v1beta1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
---
apiVersion: resource.nvidia.com/v1beta1
kind: ComputeDomain
metadata: {name: odd, namespace: team-a}
spec: {numNodes: many}
---
apiVersion: resource.nvidia.com/v1beta1
kind: ComputeDomain
metadata: {name: train, namespace: team-a}
spec: {numNodes: 2}
)");
  ASSERT_TRUE(loaded) << loaded.error().message;
  const auto results = carry_out({core::LookUpDomains{"team-a"}});
  const core::DomainsReading& reading = std::get<DomainsRead>(results.at(0)).reading;
  EXPECT_FALSE(reading.error);
  ASSERT_THAT(*reading.domains, SizeIs(2));
  const core::ListedDomain& train = reading.domains->at(0);
  EXPECT_EQ(train.name, "train");
  EXPECT_TRUE(train.is_readable());
  const core::ListedDomain& odd = reading.domains->at(1);
  EXPECT_EQ(odd.name, "odd");
  EXPECT_NE(odd.uid, "");
  EXPECT_THAT(odd.problem, HasSubstr("ComputeDomain team-a/odd: spec.numNodes: must be"));
}

TEST_F(ServerAgentTest, ShowsTheListsOfTheCliqueThatItFollows) {
  settle();
  EXPECT_THAT(taken<ListsFollowed>(), IsEmpty());
  rig_.write_list({});
  mail_.orders.post(FollowLists{"another"});
  settle();
  EXPECT_THAT(taken<ListSeen>(), IsEmpty());
  mail_.orders.post(FollowLists{kClique});
  settle();
  std::vector<std::string> seen;
  while (const auto result = mail_.results.take()) {
    if (const auto* followed = std::get_if<ListsFollowed>(&*result)) {
      seen.push_back("follows " + followed->clique);
    } else if (const auto* list = std::get_if<ListSeen>(&*result)) {
      seen.push_back("sees " + list->name.name);
    } else if (std::holds_alternative<ListsSynced>(*result)) {
      seen.emplace_back("has synced");
    }
  }
  EXPECT_THAT(seen, ElementsAre(std::string("follows ") + kClique,
                                "sees " + core::node_list_name(Rig::group()), "has synced"));
}

}  // namespace
}  // namespace cdom::agent
