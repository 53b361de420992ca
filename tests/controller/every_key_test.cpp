// The law "at rest every key is empty" asks these keys: one that is missing asks nothing.
#include "controller/every_key.h"

#include <gmock/gmock.h>

#include "controller/shell_rig.h"

namespace cdom::controller {
namespace {

TEST(EveryKey, IsOfEachKindThatHasReason) {
  ShellRig rig;
  rig.settings.labels_nodes = rig.settings.shares_claims = rig.settings.fills_cliques = true;
  const api::ComputeDomain train = domain_named("train");
  rig.put(train);
  rig.put(node_named("n1"));
  api::ComputeDomainNode report = report_of("n1");
  report.status.boot_id = "boot-1";
  report.status.isolation = api::Isolation::Channel;
  report.status.clique = "a.1";
  rig.put(report);
  rig.put(node_list_of(train, "a.1", {"n1"}));
  auto slice = object_named<api::ResourceSlice>("shared", "");
  slice.clique = "a.1";
  rig.put(slice);
  std::set<Key::Kind> kinds;
  for (const Key& key : every_key(rig.sources)) kinds.insert(key.kind);
  std::set<Key::Kind> all;
  for (int i = 0; i <= static_cast<int>(Key::Kind::CliqueObjects); ++i) {
    all.insert(static_cast<Key::Kind>(i));
  }
  EXPECT_EQ(kinds, all);
}

// Its domain may have gone while no controller was there.
TEST(EveryKey, IsOfAComputeDomainCliqueWithoutADomain) {
  ShellRig rig;
  rig.put(object_named<api::ComputeDomainClique>("uid-gone.a.1", "compute-domain-operator"));
  EXPECT_FALSE(every_key(rig.sources).contains(clique_objects_key("uid-gone")));
  rig.settings.fills_cliques = true;
  EXPECT_TRUE(every_key(rig.sources).contains(clique_objects_key("uid-gone")));
}

}  // namespace
}  // namespace cdom::controller
