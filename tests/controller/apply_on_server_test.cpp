// What Apply writes and proves on an API server that keeps it: what the plan did not know of is
// there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compute_domain/base/text.h"
#include "compute_domain/controller/apply.h"
#include "compute_domain/core/membership.h"
#include "compute_domain/sandbox/api_server.h"
#include "controller/shell_rig.h"
#include "source_tree/source_tree.h"

namespace cdom::controller {
namespace {

using base::cat;
using base::ErrorKind;
using testing::HasSubstr;

constexpr char kOwnNamespace[] = "compute-domain-operator";

class ApplyOnServer : public testing::Test {
 protected:
  ApplyOnServer() {
    for (const char* name : {"team-a", kOwnNamespace}) {
      load(cat("{apiVersion: v1, kind: Namespace, metadata: {name: ", name, "}}"));
    }
  }
  void load(const std::string& yaml) {
    const auto loaded = server_.load(yaml);
    ASSERT_TRUE(loaded) << loaded.error().message;
  }
  Applied apply(core::Action action) {
    return apply_({.actions = {std::move(action)}, .look_again = std::nullopt});
  }
  // The domain team-a/train as the server has it.
  api::ComputeDomain train() {
    const auto domain = client_.get<api::ComputeDomain>({"team-a", "train"});
    return domain ? *domain : api::ComputeDomain{};
  }
  void make_train(const std::string& definition) {
    load(definition);
    load(R"({apiVersion: resource.nvidia.com/v1beta1, kind: ComputeDomain,
        metadata: {name: train, namespace: team-a},
        spec: {numNodes: 1, channel: {resourceClaimTemplate: {name: train-channel}}}})");
    memory_.domain_seen(train().meta.uid, clock_.elapsed());
  }

  base::ManualClock clock_;
  sandbox::ApiServer server_{clock_};
  std::unique_ptr<http::Client> transport_ = server_.client(sandbox::admin_user());
  kube::Client client_{*transport_, clock_, "test"};
  kube::EventRecorder events_{client_, clock_, {.component = "test", .instance = "test"}};
  Memory memory_;
  Workloads workloads_;
  Apply apply_{client_, events_, memory_, workloads_, clock_, nullptr};
};

TEST_F(ApplyOnServer, DeletesATemplateOfItsDomainOnlyWhateverHasTakenItsName) {
  const auto is_left = [&](const std::string& owners,
                           const std::string& labels =
                               "resource.nvidia.com/computeDomain: uid-train") {
    load(cat(R"({apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate,
        metadata: {namespace: team-a, name: train-channel, labels: {)",
             labels, "}, ownerReferences: [", owners, "]}, spec: {spec: {}}}"));
    const Applied applied =
        apply(core::EnsureTemplateAbsent{{"team-a", "train-channel"}, "uid-train"});
    EXPECT_TRUE(applied.result) << applied.result.error().message;
    return client_.get<api::ResourceClaimTemplate>({"team-a", "train-channel"}).has_value();
  };
  const auto owner = [](const std::string& uid) {
    return cat("{apiVersion: resource.nvidia.com/v1beta1, kind: ComputeDomain, name: train, uid: ",
               uid, "}");
  };
  EXPECT_TRUE(is_left("")) << "a user's own";
  EXPECT_TRUE(is_left(owner("uid-other"))) << "of another domain";
  EXPECT_FALSE(is_left(owner("uid-train")));
  EXPECT_TRUE(is_left(owner("uid-train"), "")) << "without its label we may not";
}

// The watch of Nodes rests between reads: a key that went on before it has shown the write would
// decide as before, of a version that is gone, and run into one conflict after the other.
TEST_F(ApplyOnServer, TellsWhichNodeItHasWritten) {
  load("{apiVersion: v1, kind: Node, metadata: {name: n1}}");
  const auto written = [&](const auto& action_of) {
    const auto node = client_.get<api::Node>({"", "n1"});
    if (!node) return std::uint64_t{0};
    const Applied applied = apply(action_of(node->meta));
    EXPECT_TRUE(applied.result) << applied.result.error().message;
    const auto after = client_.get<api::Node>({"", "n1"});
    EXPECT_EQ(applied.written.nodes, kube::version_number(after->meta.resource_version));
    return applied.written.nodes;
  };
  EXPECT_GT(written([](const auto& meta) { return core::LabelNode{meta, "u.1"}; }), 0U);
  EXPECT_GT(written([](const auto& meta) { return core::UnmarkNode{meta}; }), 0U);
  EXPECT_GT(written([](const auto& meta) { return core::LabelForAgents{meta, true}; }), 0U);
  EXPECT_EQ(apply(core::UnmarkNode{{.name = "gone", .resource_version = "1"}}).written, Written{})
      << "a Node that is gone is no failure";
}

class CliqueObjectsOnServer : public ApplyOnServer {
 protected:
  CliqueObjectsOnServer() {
    desired_.meta.name = "6f0a3c52-1c7e-4b1f-9d53-0c2f6c2b7a10.a.1";
    desired_.meta.ns = kOwnNamespace;
    desired_.meta.labels = {{api::kManagedByLabel, api::kManagedByController}};
    desired_.daemons = {{"n1", "10.0.0.1", "a.1", 0, true}, {"n2", "10.0.0.2", "a.1", 1, false}};
  }
  void load_owner() { load(source_text("manifests/compute-domain-cliques/owner.yaml")); }
  api::ComputeDomainClique stored() {
    const auto found = client_.get<api::ComputeDomainClique>(api::name_of(desired_.meta));
    return found ? *found : api::ComputeDomainClique{};
  }
  api::ComputeDomainClique desired_;
};

TEST_F(CliqueObjectsOnServer, AreOwnedByWhatHasSwitchedThemOn) {
  load(source_text("crds/computedomaincliques.yaml"));
  Applied applied = apply(core::WriteCliqueObject{{}, desired_});
  ASSERT_FALSE(applied.result);
  EXPECT_EQ(applied.result.error().kind, ErrorKind::Invalid);
  EXPECT_THAT(applied.result.error().message,
              HasSubstr("with the component compute-domain-cliques again"));
  load_owner();
  applied = apply(core::WriteCliqueObject{{}, desired_});
  ASSERT_TRUE(applied.result) << applied.result.error().message;
  EXPECT_GT(applied.written.cliques, 0U);
  const api::ComputeDomainClique first = stored();
  EXPECT_EQ(first.daemons, desired_.daemons);
  ASSERT_EQ(first.meta.owners.size(), 1U);
  EXPECT_EQ(first.meta.owners[0].name, api::kCliquesOwner);

  desired_.daemons.pop_back();
  applied = apply(core::WriteCliqueObject{first.meta, desired_});
  ASSERT_TRUE(applied.result) << applied.result.error().message;
  EXPECT_EQ(stored().daemons, desired_.daemons);
  EXPECT_EQ(stored().meta.owners, first.meta.owners);
  EXPECT_EQ(apply(core::WriteCliqueObject{first.meta, desired_}).result.error().kind,
            ErrorKind::Conflict)
      << "of another version";
}

TEST_F(CliqueObjectsOnServer, GetTheirOwnerBackBesideTheOthers) {
  load(source_text("crds/computedomaincliques.yaml"));
  load_owner();
  ASSERT_TRUE(apply(core::WriteCliqueObject{{}, desired_}).result);
  const api::OwnerReference own = stored().meta.owners.front();
  const api::OwnerReference other{
      .api_version = "v1", .kind = "Secret", .name = "s", .uid = "uid-s"};
  const auto stripped = client_.patch<api::ComputeDomainClique>(
      api::name_of(desired_.meta), "", api::owners_patch({stored().meta.uid, {}}, {other}));
  ASSERT_TRUE(stripped) << stripped.error().message;
  api::ComputeDomainClique kept = *stripped;
  trim(kept);
  const Applied applied = apply(core::WriteCliqueObject{kept.meta, desired_});
  ASSERT_TRUE(applied.result) << applied.result.error().message;
  EXPECT_EQ(stored().meta.owners, (std::vector{other, own}));
}

// Otherwise the controller would write it again for ever.
TEST_F(CliqueObjectsOnServer, OfWhichAnOlderDefinitionKeepsLessAreRemembered) {
  std::string definition = source_text("crds/computedomaincliques.yaml");
  const std::size_t at = definition.find("                index:");
  ASSERT_NE(at, std::string::npos);
  load(definition.substr(0, at));
  load_owner();
  ASSERT_TRUE(apply(core::WriteCliqueObject{{}, desired_}).result);
  const std::string uid = stored().meta.uid;
  EXPECT_EQ(memory_.pruned_daemons(uid), (core::PrunedDaemons{desired_.daemons, stored().daemons}));
  load(source_text("crds/computedomaincliques.yaml"));
  ASSERT_TRUE(apply(core::WriteCliqueObject{stored().meta, desired_}).result);
  EXPECT_EQ(memory_.pruned_daemons(uid), std::nullopt);
}

TEST_F(ApplyOnServer, LeavesAConfigMapOfSomebodyElseInTheWayOfANodeList) {
  api::ConfigMap desired = node_list_of(domain_named("train"), "a.1", {"n1"});
  desired.meta.ns = kOwnNamespace;
  desired.meta.uid = desired.meta.resource_version = "";
  const api::ObjectName name = api::name_of(desired.meta);
  load(cat("{apiVersion: v1, kind: ConfigMap, metadata: {name: ", name.name,
           ", namespace: ", name.ns, "}, data: {a: somebody's}}"));
  const Applied applied = apply(core::WriteNodeList{{}, desired});
  ASSERT_FALSE(applied.result);
  EXPECT_THAT(applied.result.error().message, HasSubstr("was not written by the controller"));
  const auto left = client_.get<api::ConfigMap>(name);
  ASSERT_TRUE(left);
  EXPECT_TRUE(left->meta.labels.empty());
}

TEST_F(ApplyOnServer, HoldsAClaimThatANodeListAdmits) {
  load(R"({apiVersion: resource.k8s.io/v1, kind: ResourceClaim,
      metadata: {name: c, namespace: team-a},
      spec: {devices: {requests: [{name: channel, exactly: {deviceClassName: x}}]}}})");
  const auto claim = client_.patch<api::ResourceClaim>({"team-a", "c"}, "status", R"({"status":
      {"allocation": {"devices": {
        "results": [{"request": "channel", "driver": "compute-domain.nvidia.com", "pool": "n1",
          "device": "channel-0"}],
        "config": [{"source": "FromClaim", "requests": ["channel"], "opaque": {
          "driver": "compute-domain.nvidia.com", "parameters": {
            "apiVersion": "resource.nvidia.com/v1beta1", "kind": "ComputeDomainChannelConfig",
            "domainID": "6f0a3c52-1c7e-4b1f-9d53-0c2f6c2b7a10"}}}]}}}})");
  ASSERT_TRUE(claim) << claim.error().message;
  api::ComputeDomain domain = domain_named("train");
  domain.meta.uid = "6f0a3c52-1c7e-4b1f-9d53-0c2f6c2b7a10";
  const auto released = [&] {
    return apply(core::EnsureClaimsReleased{.claims_ns = "team-a",
                                            .lists_ns = kOwnNamespace,
                                            .domain_uid = domain.meta.uid})
        .result.has_value();
  };
  EXPECT_TRUE(released()) << "no node may serve it";
  api::NodeList list;
  list.group = core::group_id({domain.meta.uid, "a.1"});
  list.clique = "a.1";
  list.slots = 18;
  list.entries.push_back({.node = "n1", .slot = 0, .admits = {{.claim_uid = claim->meta.uid}}});
  api::ConfigMap map = core::config_map_of(list, domain, {});
  map.meta.ns = kOwnNamespace;
  ASSERT_TRUE(client_.create(map));
  EXPECT_FALSE(released());
}

TEST_F(ApplyOnServer, WritesNoStatusOverAChangeThatItHasNotSeen) {
  make_train(source_text("crds/computedomains.yaml"));
  const api::ObjectMeta seen = train().meta;
  load(R"({apiVersion: resource.nvidia.com/v1beta1, kind: ComputeDomain,
      metadata: {name: train, namespace: team-a, labels: {changed: "yes"}},
      spec: {numNodes: 1, channel: {resourceClaimTemplate: {name: train-channel}}}})");
  api::ComputeDomainStatus status;
  const Applied applied = apply(core::SetStatus{seen, status});
  ASSERT_FALSE(applied.result);
  EXPECT_EQ(applied.result.error().kind, ErrorKind::Conflict);
  EXPECT_TRUE(apply(core::SetStatus{train().meta, status}).result);
}

TEST_F(ApplyOnServer, TakesNoDomainForALivingOneThatIsGoneOrOnItsWayOut) {
  make_train(source_text("crds/computedomains.yaml"));
  const api::ObjectName name{"team-a", "train"};
  EXPECT_TRUE(apply(core::EnsureDomainLives{name, train().meta.uid}).result);
  const Applied of_another = apply(core::EnsureDomainLives{name, "uid-of-an-earlier-one"});
  ASSERT_FALSE(of_another.result);
  EXPECT_EQ(of_another.result.error().kind, ErrorKind::Conflict);
  EXPECT_THAT(of_another.result.error().message, HasSubstr("team-a/train"));
  EXPECT_FALSE(apply(core::EnsureDomainLives{{"team-b", "train"}, train().meta.uid}).result);
  ASSERT_TRUE(apply(core::AddFinalizer{train().meta}).result);
  ASSERT_TRUE(client_.remove<api::ComputeDomain>(name, {}));
  ASSERT_TRUE(train().meta.is_deleting());
  EXPECT_FALSE(apply(core::EnsureDomainLives{name, train().meta.uid}).result);
}

TEST_F(ApplyOnServer, TakesANodeThatIsThereForNoneThatIsGone) {
  load("{apiVersion: v1, kind: Node, metadata: {name: n1}}");
  const Applied applied = apply(core::EnsureNodeGone{"n1"});
  ASSERT_FALSE(applied.result);
  EXPECT_THAT(applied.result.error().message, HasSubstr("Node n1 exists"));
  EXPECT_TRUE(apply(core::EnsureNodeGone{"n2"}).result);
}

TEST_F(ApplyOnServer, RemembersAStatusOfWhichAnOlderDefinitionKeepsLess) {
  std::string older = source_text("crds/computedomains.yaml");
  const std::string field = "                    restarts:";
  const auto at = older.find(field);
  ASSERT_NE(at, std::string::npos);
  older.replace(at, field.size(), "                    repeats:");
  make_train(older);
  api::ComputeDomainStatus status;
  status.nodes.push_back({.name = "n1", .restarts = 3});
  ASSERT_TRUE(apply(core::SetStatus{train().meta, status}).result);
  EXPECT_TRUE(memory_.pruned(train().meta.uid).has_value());
}

}  // namespace
}  // namespace cdom::controller
