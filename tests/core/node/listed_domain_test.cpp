// What a node keeps of the domains that it looks up, and what it says when some cannot be read.
#include "compute_domain/core/listed_domain.h"

#include "compute_domain/core/status.h"
#include "core/node/node_scene.h"

namespace cdom::core {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

ListedDomain odd_domain(const std::string& name) {
  return {.uid = name + "-uid",
          .name = name,
          .problem = "ComputeDomain team-a/" + name + ": spec: must be an object, is number"};
}

// Of a claim that no node list admits, when kubelet has waited for as long as it does.
std::string error_of(NodeScene& scene) {
  scene.settle().prepare("a").settle().advance(std::chrono::seconds(40)).settle();
  return scene.error("a");
}

NodeScene without_a_named_domain() {
  NodeScene scene;
  api::ResourceClaim claim = claim_object("a");
  claim.allocation->configs.clear();
  scene.claim(claim);
  scene.domains = {domain_train()};
  return scene;
}

TEST(ListedDomain, KeepsOfALongMessageNoMoreThanItsBound) {
  api::ComputeDomain domain = domain_train();
  domain.status = {.conditions = {{.type = kConditionReady,
                                   .reason = std::string(kServedByPredecessor.name()),
                                   .message = std::string(32768, 'x')}}};
  const ListedDomain listed = listed_domain(domain);
  EXPECT_THAT(listed.predecessor, SizeIs(ListedDomain::kLongestText));
  EXPECT_LE(listed.predecessor.capacity(), 2 * ListedDomain::kLongestText);
}

TEST(ListedDomain, ThatCannotBeReadHidesNoOther) {
  NodeScene scene;
  scene.unreadable_domains = {odd_domain("odd")};
  scene.domains = {domain_train()};
  EXPECT_THAT(error_of(scene), HasSubstr("see the condition Ready of ComputeDomain team-a/train,"));
}

// A newer controller may read it, and the one that has read its state before goes on with that.
TEST(ListedDomain, ThatCannotBeReadIsWaitedFor) {
  NodeScene scene;
  scene.unreadable_domains = {odd_domain("train")};
  EXPECT_EQ(error_of(scene),
            "ResourceClaim team-a/a is not ready after 40s: no node list admits ResourceClaim "
            "team-a/a, and its domain cannot be read: ComputeDomain team-a/train: spec: must be an "
            "object, is number");
}

TEST(ListedDomain, ThatCannotBeReadMayBeAnAutomaticOne) {
  NodeScene scene = without_a_named_domain();
  scene.unreadable_domains = {odd_domain("other"), odd_domain("odd")};
  EXPECT_THAT(error_of(scene),
              HasSubstr("; there is no automatic one in namespace team-a (ComputeDomain odd, other "
                        "cannot be read); see"));

  scene = without_a_named_domain();
  scene.domains[0].spec.workload = api::Workload{.kind = "Job", .name = "train", .uid = {}};
  scene.unreadable_domains = {odd_domain("odd")};
  EXPECT_THAT(error_of(scene), HasSubstr("; the automatic ones of namespace team-a (ComputeDomain "
                                         "odd cannot be read) are train; see"));
}

TEST(ListedDomain, IsUnknownWhereTheServerIsSilentOrRefuses) {
  NodeScene scene;
  scene.domains_error = base::Error{base::ErrorKind::Unavailable, "connection refused"};
  EXPECT_THAT(error_of(scene), HasSubstr("the API server does not answer: connection refused"));

  scene = NodeScene();
  scene.domains_error = base::Error{base::ErrorKind::Forbidden, "list computedomains: no right"};
  EXPECT_THAT(error_of(scene),
              AllOf(HasSubstr("the ComputeDomains of its namespace cannot be read: list compute"),
                    Not(HasSubstr("does not answer"))));
}

}  // namespace
}  // namespace cdom::core
