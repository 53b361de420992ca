// The ComputeDomainCliques of a domain: one for each clique, which repeats what the status says.
#include <gmock/gmock.h>

#include <algorithm>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/reconcile.h"

namespace cdom::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kUid[] = "6f0a3c52-1c7e-4b1f-9d53-0c2f6c2b7a10";

api::ComputeDomainNodeStatus member(const std::string& name, const std::string& clique,
                                    std::int64_t index, bool ready = true) {
  api::ComputeDomainNodeStatus node;
  node.name = name;
  node.ip_address = base::cat("10.0.0.", index + 1);
  node.clique = clique;
  node.index = index;
  node.ready = ready;
  return node;
}

class CliqueObjects : public ::testing::Test {
 protected:
  CliqueObjects() {
    world_.uid = kUid;
    world_.ns = "compute-domain-operator";
    world_.domain.emplace().meta.uid = kUid;
    status().nodes = {member("n2", "a.1", 1, false), member("n1", "a.1", 0)};
  }
  api::ComputeDomainStatus& status() {
    if (!world_.domain->status) world_.domain->status.emplace();
    return *world_.domain->status;
  }
  [[nodiscard]] std::vector<Action> actions() const {
    return reconcile_clique_objects(world_).actions;
  }
  // Carries out the writes and removals, and gives their number.
  std::size_t settle() {
    const std::vector<Action> done = actions();
    for (const Action& action : done) {
      if (const auto* write = std::get_if<WriteCliqueObject>(&action)) {
        forget(write->desired.meta.name);
        api::ComputeDomainClique& object = world_.stored.emplace_back(write->desired);
        object.meta.uid = base::cat("uid-", object.meta.name);
        object.meta.resource_version = base::cat(++version_);
        object.meta.owners = {{.kind = "ConfigMap", .name = api::kCliquesOwner}};
      }
      if (const auto* gone = std::get_if<RemoveCliqueObject>(&action)) forget(gone->object.name);
    }
    return done.size();
  }
  void forget(const std::string& name) {
    std::erase_if(world_.stored, [&](const auto& object) { return object.meta.name == name; });
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& object : world_.stored) all.push_back(object.meta.name);
    std::ranges::sort(all);
    return all;
  }

  CliqueObjectsWorld world_;
  int version_ = 0;
};

TEST_F(CliqueObjects, AreNamedAndLabelledAsTheReferenceDriverHasThem) {
  ASSERT_EQ(settle(), 1U);
  const api::ComputeDomainClique& object = world_.stored.front();
  EXPECT_EQ(object.meta.name, base::cat(kUid, ".a.1"));
  EXPECT_EQ(object.meta.ns, "compute-domain-operator");
  EXPECT_EQ(object.meta.label("resource.nvidia.com/computeDomain"), kUid);
  EXPECT_EQ(object.meta.label("resource.nvidia.com/computeDomain.cliqueID"), "a.1");
  EXPECT_THAT(object.daemons,
              ElementsAre(api::ComputeDomainCliqueDaemon{"n1", "10.0.0.1", "a.1", 0, true},
                          api::ComputeDomainCliqueDaemon{"n2", "10.0.0.2", "a.1", 1, false}));
}

TEST_F(CliqueObjects, AreWrittenOnceForEachChangeOfMembersOrReadinessAndNeverAtRest) {
  EXPECT_EQ(settle(), 1U);
  EXPECT_THAT(actions(), IsEmpty());
  std::ranges::reverse(status().nodes);
  EXPECT_THAT(actions(), IsEmpty()) << "in another order";
  status().nodes.front().ready = !status().nodes.front().ready;
  EXPECT_EQ(settle(), 1U);
  status().nodes.push_back(member("n3", "a.1", 2));
  status().nodes.push_back(member("n4", "a.1", 3));
  EXPECT_EQ(settle(), 1U) << "both members in one write";
  EXPECT_THAT(actions(), IsEmpty());
}

TEST_F(CliqueObjects, AreOneForEachClique) {
  status().nodes.push_back(member("n3", "b.2", 0));
  EXPECT_EQ(settle(), 2U);
  EXPECT_THAT(names(), ElementsAre(base::cat(kUid, ".a.1"), base::cat(kUid, ".b.2")));
  status().nodes.pop_back();
  EXPECT_EQ(settle(), 1U);
  EXPECT_THAT(names(), ElementsAre(base::cat(kUid, ".a.1"))) << "the clique has no member left";
  EXPECT_THAT(actions(), IsEmpty());
}

TEST_F(CliqueObjects, GoWithTheirDomain) {
  settle();
  world_.domain.reset();
  EXPECT_THAT(actions(), ElementsAre(Action(RemoveCliqueObject{world_.stored.front().meta})))
      << "without a LIST of all domains";
  EXPECT_EQ(settle(), 1U);
  EXPECT_THAT(names(), IsEmpty());
  EXPECT_THAT(actions(), IsEmpty());
}

TEST_F(CliqueObjects, AreNotWrittenForNodesWithoutASlotOrAnAddressOrAFabric) {
  status().nodes = {member("n1", "", 0), member("n2", "a.1", -1), member("n3", "a.1", 0)};
  status().nodes.back().ip_address = "";
  EXPECT_THAT(actions(), IsEmpty());
}

// Of a node's own word: another node's token must not make the API server refuse the others'.
TEST_F(CliqueObjects, AreNotWrittenForACliqueThatCannotBePartOfAName) {
  status().nodes.push_back(member("n3", "A_b", 0));
  status().nodes.push_back(member("n4", std::string(64, 'a'), 0));
  status().nodes.push_back(member("n5", "../other", 0));
  EXPECT_EQ(settle(), 1U);
  EXPECT_THAT(names(), ElementsAre(base::cat(kUid, ".a.1")));
}

TEST_F(CliqueObjects, OfSomebodyElseAreLeftAloneWithOneEvent) {
  api::ComputeDomainClique theirs;
  theirs.meta.name = base::cat(kUid, ".a.1");
  theirs.meta.ns = world_.ns;
  theirs.meta.uid = "uid-theirs";
  theirs.meta.labels = {{api::kDomainLabel, kUid}, {api::kCliqueIdLabel, "a.1"}};
  world_.stored = {theirs};
  const std::vector<Action> found = actions();
  ASSERT_THAT(found, SizeIs(1));
  const auto* event = std::get_if<RecordEvent>(&found.front());
  ASSERT_NE(event, nullptr) << to_string(found.front());
  EXPECT_EQ(event->reason, "NotOurs");
  EXPECT_EQ(event->involved.uid, "uid-theirs");
  world_.reported = {"uid-theirs"};
  EXPECT_THAT(actions(), IsEmpty());
  world_.domain.reset();
  EXPECT_THAT(actions(), IsEmpty()) << "nor deleted";
}

TEST_F(CliqueObjects, AreLeftToTheDriverThatStillServesTheDomain) {
  world_.has_predecessor = true;
  EXPECT_THAT(actions(), IsEmpty());
}

TEST_F(CliqueObjects, ThatSomebodyHasChangedAreWrittenAgain) {
  settle();
  world_.stored.front().daemons.pop_back();
  EXPECT_EQ(settle(), 1U);
  world_.stored.front().meta.labels.erase(api::kCliqueIdLabel);
  EXPECT_EQ(settle(), 1U);
  world_.stored.front().meta.owners.front().kind = "Secret";
  EXPECT_EQ(settle(), 1U) << "it would outlive what has switched it on";
  EXPECT_THAT(actions(), IsEmpty());
}

TEST_F(CliqueObjects, OfWhichAnOlderDefinitionKeepsLessAreNotWrittenForEver) {
  status().nodes.push_back(member("n3", "b.2", 0));
  settle();
  for (api::ComputeDomainClique& object : world_.stored) {
    const auto sent = object.daemons;
    for (api::ComputeDomainCliqueDaemon& daemon : object.daemons) daemon.index = -1;
    world_.pruned[object.meta.uid] = {sent, object.daemons};
  }
  EXPECT_THAT(actions(), IsEmpty());
  status().nodes.back().ready = false;
  EXPECT_EQ(settle(), 1U) << "what has changed is another thing";
  world_.stored.front().daemons.clear();
  EXPECT_THAT(actions(), SizeIs(1)) << "and so is what somebody else has cut";
}

TEST_F(CliqueObjects, ThatAreBeingDeletedAreWaitedFor) {
  settle();
  world_.stored.front().meta.deletion_time = base::Time{};
  EXPECT_THAT(actions(), IsEmpty());
  world_.domain.reset();
  EXPECT_THAT(actions(), IsEmpty());
}

}  // namespace
}  // namespace cdom::core
