#include "compute_domain/agent/server_agent.h"

#include "agent/rig.h"

namespace cdom::agent {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

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
