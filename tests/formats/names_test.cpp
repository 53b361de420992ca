// Names that are made of others (tests/formats/0.1.0/names.json): those of objects, of groups and
// of the slots of a node table. Programs of two releases, and of one before and after its restart,
// make them each for itself; with another one the node list, the daemon or the device is nobody's.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "compute_domain/api/names.h"
#include "compute_domain/api/node_list.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/membership.h"
#include "compute_domain/core/reconcile.h"
#include "compute_domain/core/workloads.h"
#include "source_tree/source_tree.h"

namespace cdom {
namespace {

using Json = nlohmann::json;

constexpr char kDomainUid[] = "0d6f3a5e-7a55-4a43-9d3b-3f1f3d0c7c11";
constexpr char kClique[] = "6f0a3c52-1c7e-4b1f-9d53-0c2f6c2b7a10.7";

Json names() {
  const std::string group = core::group_id({kDomainUid, kClique});
  api::NodeList list;
  list.group = group;
  list.slots = 18;
  return {{"group of a domain", group},
          {"group of a domain without a fabric", core::group_id({kDomainUid, ""})},
          {"group of a clique", core::group_id({"", kClique})},
          {"node list", core::node_list_name(group)},
          {"host of slot 3", api::slot_host_name(group, 3)},
          {"hash of a node table", api::table_hash(list)},
          {"slice of a clique", core::shared_slice_name(kClique)},
          {"label of pods that name their workload", api::kPodDomainLabel},
          {"label of nodes with an agent", api::kAgentNodeLabel},
          {"annotation of a fenced node", api::kFencedAnnotation},
          {"finalizer", api::kDomainFinalizer},
          {"workload with a UID", core::workload_id("team-a", {"Job", "train", kDomainUid})},
          {"workload without one", core::workload_id("team-a", {"Label", "train", ""})}};
}

TEST(Formats, NamesAreThoseOfEachRelease) {
  constexpr char kFile[] = "tests/formats/0.1.0/names.json";
  if (std::getenv("UPDATE") != nullptr) {  // NOLINT(concurrency-mt-unsafe): nobody sets it
    std::ofstream(source_tree() / kFile) << names().dump(2) << "\n";
  }
  EXPECT_EQ(names(), Json::parse(source_text(kFile)));
}

}  // namespace
}  // namespace cdom
