#include "agent/main/first_contact.h"

#include "agent/rig.h"

namespace cdom::program {
namespace {

using agent::kNamespace;
using agent::kNode;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(FirstContact, FindsTheNode) {
  agent::Rig rig;
  const auto node = first_contact(rig.client, kNode, kNamespace);
  ASSERT_TRUE(node) << node.error().message;
  EXPECT_EQ(node->meta.name, kNode);
}

TEST(FirstContact, SaysThatThereIsNoSuchNode) {
  agent::Rig rig;
  const auto node = first_contact(rig.client, "gpu9", kNamespace);
  ASSERT_FALSE(node);
  EXPECT_THAT(node.error().message, HasSubstr("--node-name: the cluster has no Node \"gpu9\""));
}

TEST(FirstContact, SaysWhichPermissionIsMissing) {
  agent::Rig rig;
  const auto http = rig.server.client(sandbox::service_account_user(kNamespace, "nobody", kNode));
  kube::Client client(*http, rig.clock, "test");
  const auto node = first_contact(client, kNode, kNamespace);
  ASSERT_FALSE(node);
  EXPECT_EQ(node.error().kind, base::ErrorKind::Forbidden);
  EXPECT_THAT(node.error().message,
              AllOf(HasSubstr("a permission is missing"), HasSubstr("compute-domain-agent")));
}

TEST(FirstContact, SaysThatTheCrdsAreMissing) {
  const base::ManualClock clock;
  sandbox::ApiServer server{clock};
  ASSERT_TRUE(server.load("apiVersion: v1\nkind: Node\nmetadata: {name: n00}\n"));
  const auto http = server.client(sandbox::admin_user());
  kube::Client client(*http, clock, "test");
  const auto node = first_contact(client, kNode, kNamespace);
  ASSERT_FALSE(node);
  EXPECT_THAT(node.error().message, HasSubstr("apply the CRDs"));
}

TEST(FirstContact, AsksForNoRightWhereTheCredentialsAreRefused) {
  agent::Rig rig;
  const auto refused = [&rig] {
    rig.wire.is_unknown = true;
    const auto node = first_contact(rig.client, kNode, kNamespace);
    EXPECT_FALSE(node);
    return node ? "" : node.error().message;
  };
  const auto is_explained = AllOf(HasSubstr("Unauthorized: the API server does not take the "
                                            "credentials"),
                                  Not(HasSubstr("permission")));
  EXPECT_THAT(refused(), is_explained);
  rig.wire.is_unknown = false;
  ASSERT_TRUE(first_contact(rig.client, kNode, kNamespace)) << "knows the versions now";
  EXPECT_THAT(refused(), is_explained);
}

TEST(FirstContact, IsUnavailableWhileTheServerIsAway) {
  agent::Rig rig;
  rig.wire.is_cut = true;
  const auto node = first_contact(rig.client, kNode, kNamespace);
  ASSERT_FALSE(node);
  EXPECT_EQ(node.error().kind, base::ErrorKind::Unavailable);
}

}  // namespace
}  // namespace cdom::program
