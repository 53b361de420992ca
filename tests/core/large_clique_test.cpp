// How large the objects of a large clique get: an API server sends each version of a node list to
// the agents of all members.
#include <gmock/gmock.h>

#include "compute_domain/api/codec.h"
#include "core/builders.h"

namespace cdom::core {
namespace {

using namespace testing;

// As API servers, kernels and supervisors make them.
std::string uuid(int number) {
  return base::cat("baee5d82-0cb7-435a-96c5-", 100'000'000'000 + number);
}

std::string name_of(int number) {
  const std::string digits = std::to_string(number);
  return base::cat("node-", std::string(4 - digits.size(), '0'), digits);
}

// The domain of a clique in which each node is a member.
World world_of_clique(int nodes) {
  World world = world_of(domain("train").wants(nodes).finalized(), 0);
  world.view.domain->meta.uid = world.view.uid = uuid(0);
  world.settings.slots_per_group = nodes;
  make_template(world);
  for (int i = 0; i < nodes; ++i) {
    NodeView view = idle_node(name_of(i));
    view.node->boot_id = view.report->status.boot_id = uuid(i);
    view.report->status.address = base::cat("10.88.", 100 + i / 200, ".", 50 + i % 200);
    world.nodes[name_of(i)] = view;
    api::ResourceClaim member = claim(base::cat("c", i)).on(name_of(i));
    member.meta.uid = uuid(i);
    world.view.claims.push_back(member);
  }
  return world;
}

// The same once it is Ready, and nothing is left to do.
World formed(int nodes) {
  World world = world_of_clique(nodes);
  write_list(world);
  report_ready(world);
  for (auto& [name, view] : world.nodes) {
    view.report->status.groups.front().instance = base::hex64(base::fnv1a64(name));
  }
  write_list(world);
  apply_status(world, reconcile(world));
  return world;
}

// As JSON, as the API server takes them.
std::size_t bytes_of_list(const World& world) {
  const api::ConfigMap map = config_map_of(list_in(world), *world.view.domain, world.settings);
  return api::encode(map, "v1").size();
}

std::size_t bytes_of_domain(const World& world) {
  return api::encode(*world.view.domain, "v1beta1").size();
}

TEST(LargeClique, HasANodeListThatIsATableOfItsNodes) {
  const World small = formed(144);
  EXPECT_LE(bytes_of_list(small), 20'000U);
  EXPECT_LE(bytes_of_list(formed(576)), 4 * bytes_of_list(small));

  // Without what only the node itself reads of its line: its boot and its claims.
  api::NodeList table = list_in(small);
  for (api::NodeListEntry& entry : table.entries) {
    entry.boot_id.clear();
    entry.admits.clear();
  }
  EXPECT_LE(api::encode_node_list(table).size(), 9'000U);
}

// Of a member that is ready the status says what NVIDIA's DRA driver says of it, and no more.
TEST(LargeClique, HasAStatusOfTheFiveFieldsThatOtherToolsRead) {
  const World small = formed(144), large = formed(576);
  ASSERT_TRUE(large.view.domain->status->ready);
  const std::string five = base::cat(
      R"({"cliqueID":")", kClique,
      R"(","index":143,"ipAddress":"10.88.100.193","name":"node-0143","status":"Ready"},)");
  EXPECT_LE(bytes_of_domain(small), 20'000U);
  EXPECT_LE(bytes_of_domain(large) - bytes_of_domain(small), (576 - 144) * five.size());
  EXPECT_LE(bytes_of_domain(large), 576 * five.size() + 1'500);
}

}  // namespace
}  // namespace cdom::core
