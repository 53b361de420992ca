#include "compute_domain/controller/stores.h"

#include <gmock/gmock.h>

#include "compute_domain/api/channel_config.h"
#include "compute_domain/api/domain_config.h"
#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/membership.h"
#include "compute_domain/core/node_lists.h"
#include "compute_domain/core/reservations.h"
#include "compute_domain/core/templates.h"

namespace cdom::controller {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Kind = api::DomainRef::Kind;

api::ResourceClaim claim_with(const std::vector<std::string>& parameters) {
  api::ResourceClaim claim;
  claim.meta = {.name = "c", .ns = "team-a", .uid = "u-c"};
  for (const std::string& each : parameters) {
    claim.spec.configs.push_back({.requests = {}, .driver = api::kDriver, .parameters = each});
  }
  claim.spec.configs.push_back({.requests = {}, .driver = "gpu.example", .parameters = "{}"});
  return claim;
}

api::ResourceClaim trimmed(api::ResourceClaim claim) {
  trim(claim);
  return claim;
}

api::ComputeDomain with_default_status() {
  api::ComputeDomain domain;
  domain.status.emplace();
  domain.status->conditions = {
      {.type = "Ready", .status = api::ConditionStatus::Unknown, .reason = "WaitingForController"}};
  return domain;
}

TEST(TrimmedDomain, HasNoStatusWhileNobodyHasWrittenOne) {
  api::ComputeDomain domain = with_default_status();
  trim(domain);
  EXPECT_FALSE(domain.status);
}

TEST(TrimmedDomain, KeepsTheNodesThatAnotherDriverWroteBesideTheDefaultStatus) {
  api::ComputeDomain domain = with_default_status();
  domain.status->nodes = {{.name = "n1", .ip_address = "10.0.0.1", .ready = true}};
  trim(domain);
  ASSERT_TRUE(domain.status);
  EXPECT_EQ(domain.status->nodes.size(), 1U);
  EXPECT_THAT(domain.status->conditions, IsEmpty());
}

TEST(TrimmedDomain, HasNoRoomForMoreNodesThanItHas) {
  api::ComputeDomain domain;
  domain.status.emplace();
  domain.status->nodes.resize(18);
  domain.status->nodes.reserve(32);
  trim(domain);
  EXPECT_EQ(domain.status->nodes.size(), 18U);
  EXPECT_EQ(domain.status->nodes.capacity(), 18U);
}

void add_what_a_tenant_may_write(api::ObjectMeta& meta) {
  for (int i = 0; i < 50'000; ++i) meta.labels.emplace(base::cat("l", i), "");
  for (int i = 0; i < 5'000; ++i) {
    meta.owners.push_back({"example.com/v1", "ComputeDomain", "x", base::cat("u", i)});
  }
}

TEST(TrimmedDomain, KeepsOfItsLabelsTheOneThatIsRead) {
  api::ComputeDomain domain;
  domain.meta.labels = {{api::kWorkloadLabel, "w"}};
  domain.meta.finalizers = {api::kDomainFinalizer};
  add_what_a_tenant_may_write(domain.meta);
  trim(domain);
  EXPECT_THAT(domain.meta.labels, ElementsAre(std::pair(api::kWorkloadLabel, "w")));
  EXPECT_THAT(domain.meta.owners, IsEmpty());
  EXPECT_TRUE(domain.meta.has_finalizer(api::kDomainFinalizer));
}

TEST(TrimmedDomain, ThatIsAutomaticKeepsItsOwners) {
  api::ComputeDomain domain;
  domain.spec.workload = {.kind = "Job", .name = "j", .uid = "u-j"};
  domain.meta.owners = {{"batch/v1", "Job", "j", "u-j"}, {"batch/v1", "Job", "i", "u-i"}};
  const auto owners = domain.meta.owners;
  trim(domain);
  EXPECT_EQ(domain.meta.owners, owners) << "they are written back with those that come";
}

TEST(TrimmedTemplate, KeepsOfLabelsAndOwnersWhatTellsWhoseItIs) {
  const api::OwnerReference ours{"resource.nvidia.com/v1beta1", "ComputeDomain", "d", "u-d"};
  api::ResourceClaimTemplate object;
  object.meta.labels = {{api::kDomainLabel, "u-d"}, {api::kTargetLabel, api::kTargetWorkload}};
  const auto labels = object.meta.labels;
  add_what_a_tenant_may_write(object.meta);
  object.meta.owners.push_back(ours);
  object.meta.finalizers = {"example.com/held"};
  trim(object);
  EXPECT_EQ(object.meta.labels, labels);
  EXPECT_TRUE(core::is_owned_by(object.meta, "u-d"));
  EXPECT_LT(object.meta.owners.size(), 70U);
  EXPECT_GT(object.meta.owners.size(), 1U) << "that it has others is read too";
  EXPECT_THAT(object.meta.finalizers, IsEmpty());
}

TEST(TrimmedTemplate, KeepsNoTextOfAnyLength) {
  api::ResourceClaimTemplate object;
  object.meta.owners = {{"example.com/v1", "X", std::string(1'000'000, 'n'), "u"}};
  object.meta.annotations[api::kPlacementGeneration] = std::string(200'000, '7');
  trim(object);
  EXPECT_LT(object.meta.owners.at(0).name.size(), 300U);
  EXPECT_THAT(object.meta.annotations, IsEmpty());
}

TEST(TrimmedClaim, KeepsNoNameOfAPodThatNoPodCanHave) {
  api::ResourceClaim claim = claim_with({api::encode_domain_config({.num_nodes = 3})});
  claim.meta.owners = {{"v1", "Pod", std::string(1'000'000, 'n'), "u-pod"}};
  EXPECT_LT(trimmed(claim).meta.owners.at(0).name.size(), 300U);
}

TEST(TrimmedSlice, KeepsOfItsDevicesTheAttributesThatAreRead) {
  api::ResourceSlice slice;
  slice.node = "n1";
  slice.devices = {{.name = "channel-0",
                    .attributes = {{api::kAttributeType, std::string("channel")},
                                   {api::kAttributeId, std::int64_t{0}},
                                   {api::kAttributeClique, std::string("a.1")}}}};
  const api::ResourceSlice wanted = slice;
  for (int i = 0; i < 32; ++i) {
    slice.devices.front().attributes[base::cat("other", i)] = std::string(64, 'x');
  }
  add_what_a_tenant_may_write(slice.meta);
  trim(slice);
  EXPECT_EQ(slice, wanted);
}

TEST(TrimmedReport, KeepsOfItsConditionsWhatTheySayAndNotTheirText) {
  api::ComputeDomainNode report;
  report.status.conditions = {{.type = api::kConditionCanServe,
                               .status = api::ConditionStatus::False,
                               .reason = "NoDriver",
                               .message = "load the driver",
                               .text = R"({"type":"CanServe"})"}};
  const api::ComputeDomainNode before = report;
  trim(report);
  EXPECT_EQ(report, before);
  EXPECT_EQ(report.status.conditions.front().text, "");
}

TEST(TrimmedClaim, IsReadForItsDomainOnceAndHoldsNoConfigurationThatNobodyReadsAgain) {
  const std::string named = api::encode_channel_config({.domain_uid = "u-d"});
  const std::string automatic = api::encode_domain_config({.num_nodes = 3});

  const api::ResourceClaim of_domain = trimmed(claim_with({named}));
  EXPECT_EQ(of_domain.domain_ref, (api::DomainRef{Kind::Named, "u-d"}));
  EXPECT_THAT(of_domain.spec.configs, IsEmpty());
  EXPECT_EQ(core::domain_of(of_domain), "u-d");

  const api::ResourceClaim of_workload = trimmed(claim_with({"{}", automatic}));
  EXPECT_EQ(of_workload.domain_ref, api::DomainRef{});
  const api::ResourceClaim of_one = trimmed(claim_with({automatic, automatic}));
  EXPECT_EQ(of_one.domain_ref, (api::DomainRef{Kind::Automatic, ""}));
  ASSERT_EQ(of_one.spec.configs.size(), 1U);
  EXPECT_EQ(of_one.spec.configs[0].parameters, automatic);

  const api::ResourceClaim of_both = trimmed(claim_with({named, automatic}));
  EXPECT_EQ(of_both.domain_ref, (api::DomainRef{Kind::Contradictory, "u-d"}));
  EXPECT_THAT(of_both.spec.configs, IsEmpty());
}

// A tenant decides how much of these there is, and how long it is.
TEST(TrimmedClaim, ThatWaitsKeepsOfWhatATenantWritesOnlyWhatIsRead) {
  const std::string asks =
      "'aaaa.1' == device.attributes['compute-domain.nvidia.com'].?clique.orValue('')";
  api::ResourceClaim claim = claim_with({api::encode_domain_config({.num_nodes = 3})});
  claim.spec.requests.resize(2);
  for (api::DeviceRequest& request : claim.spec.requests) {
    request.selectors.assign(32, std::string(10'000, 'x'));
    request.selectors.push_back(asks);
    request.selectors.push_back(asks);
  }
  claim.meta.owners.assign(5'000, {"example.com/v1", "Pod", std::string(200, 'n'), "u-other"});
  claim.meta.owners.push_back({"v1", "Pod", "train-0", "u-pod"});
  claim.meta.annotations[api::kPodClaimAnnotation] = std::string(200'000, 'a');
  const api::ResourceClaim kept = trimmed(claim);
  EXPECT_EQ(core::asked_clique(kept.spec), "aaaa.1");
  for (const auto& request : kept.spec.requests) EXPECT_THAT(request.selectors, ElementsAre(asks));
  EXPECT_THAT(kept.meta.owners, ElementsAre(api::OwnerReference{"v1", "Pod", "train-0", "u-pod"}));
  EXPECT_THAT(kept.meta.annotations, IsEmpty());
}

TEST(TrimmedTemplate, KeepsOfItsSelectorsTheCliqueThatItsClaimsAskFor) {
  const std::string asks =
      "'aaaa.1' == device.attributes['compute-domain.nvidia.com'].?clique.orValue('')";
  api::ResourceClaimTemplate object;
  object.spec.requests.resize(1);
  object.spec.requests[0].selectors = {std::string(10'000, 'x'), asks};
  trim(object);
  EXPECT_THAT(object.spec.requests.at(0).selectors, ElementsAre(asks));
}

api::NodeList list_of_two() {
  return {.group = core::group_id({"", "a.1"}),
          .clique = "a.1",
          .entries = {{.node = "n1", .slot = 0}, {.node = "n2", .slot = 1}}};
}

TEST(StoredConfigMap, HasItsNodeListDecodedAndNoText) {
  const api::ConfigMap map = core::config_map_of(list_of_two(), {});
  const core::StoredList kept = stored(map);
  EXPECT_EQ(kept.meta.name, map.meta.name);
  EXPECT_EQ(kept.list, list_of_two());
  EXPECT_FALSE(kept.reservations);
  EXPECT_THAT(indexes_of<core::StoredList>().at(kByNode)(kept), ElementsAre("n1", "n2"));
}

TEST(StoredConfigMap, SaysOfAListThatSomebodyEditedWhatIsWrong) {
  api::ConfigMap map = core::config_map_of(list_of_two(), {});
  map.data[api::kNodeListKey] += " ";
  const core::StoredList kept = stored(map);
  EXPECT_FALSE(kept.list);
  EXPECT_EQ(kept.problem, "was edited by somebody else");
}

TEST(StoredConfigMap, KeepsTheReservationsMapAsItIs) {
  core::Reservations reservations;
  reservations.by_domain["u1"] = {.clique = "a.1", .seats = 4, .generation = 1};
  api::ConfigMap map = core::config_map_of(reservations, "ns");
  map.data["u2"] = "written by hand";
  EXPECT_EQ(stored(map).reservations->data, map.data);
}

core::StoredList list_of(const std::string& clique_or_domain_label) {
  core::StoredList stored;
  stored.meta = {.name = "list", .ns = "operator", .uid = "u-l", .resource_version = "7"};
  stored.meta.labels = {{clique_or_domain_label, "u-d"}};
  api::NodeList list;
  list.group = "g";
  list.slots = 18;
  list.entries = {{"n1", 0, "10.0.0.1", "i-1", "boot-1", 3, true, {{"u-c1", 0}}}};
  stored.list = std::move(list);
  return stored;
}

TEST(PackedList, ComesBackAsItWas) {
  const core::StoredList with_list = list_of(api::kDomainLabel);
  core::StoredList with_problem, reservations, of_both = with_list;
  with_problem.meta = with_list.meta;
  with_problem.problem = "nodes is missing";
  reservations.meta = with_list.meta;
  reservations.reservations = api::ConfigMap{with_list.meta, {{"u-d", "{}"}}};
  of_both.problem = "odd";
  for (const core::StoredList& stored :
       {with_list, with_problem, reservations, of_both, core::StoredList()}) {
    EXPECT_EQ(api::unpack<core::StoredList>(api::pack(stored).view()), stored);
  }
  EXPECT_EQ(api::name_in(api::pack(with_list).view()), (api::PackedName{"operator", "list"}));
}

// Each of many domains would unpack it.
// Whether each who reads the one object of the store gets the same value.
bool is_one_value(const api::ComputeDomain& domain) {
  StoreOf<api::ComputeDomain> store;
  store.put(domain);
  const api::ObjectName name = api::name_of(domain.meta);
  EXPECT_EQ(*store.get(name), domain);
  return store.get(name) == store.get(name);
}

TEST(StoredDomains, AreOneValueForAllWhoReadThemWhereThatIsMoreThanTheirOwnKeys) {
  api::ComputeDomain domain;
  domain.meta = {.name = "d", .ns = "team-a", .uid = "u-d"};
  EXPECT_FALSE(is_one_value(domain));

  api::ComputeDomain placed = domain;
  placed.spec.placement = api::ComputeDomainPlacement{.clique = api::CliquePlacement::Single};
  EXPECT_TRUE(is_one_value(placed));
  api::ComputeDomain deleted = domain;
  deleted.meta.deletion_time = base::Time(std::chrono::seconds(1));
  EXPECT_TRUE(is_one_value(deleted));
  api::ComputeDomain automatic = domain;
  automatic.spec.workload.emplace();
  EXPECT_TRUE(is_one_value(automatic));
  // A tenant writes as many finalizers as an object holds.
  api::ComputeDomain large = domain;
  for (int i = 0; i < 2'000; ++i) large.meta.finalizers.push_back(base::cat("example.com/f", i));
  EXPECT_TRUE(is_one_value(large));
}

TEST(StoredLists, AreOneValueForAllWhoReadThemWhereThatIsMoreThanOneDomain) {
  FilledStores stores;
  const auto is_shared = [&](core::StoredList stored) {
    stores.of<api::ConfigMap>().put(std::move(stored));
    const auto& lists = stores.view().lists;
    return lists.get({"operator", "list"}) == lists.get({"operator", "list"});
  };
  core::StoredList reservations;
  reservations.meta = {.name = "list", .ns = "operator"};
  reservations.reservations = api::ConfigMap{};
  EXPECT_FALSE(is_shared(list_of(api::kDomainLabel)));
  EXPECT_TRUE(is_shared(reservations));
  core::StoredList of_clique = list_of(api::kCliqueLabel);
  of_clique.meta.labels[api::kIsolationLabel] = api::to_string(api::Isolation::Channel);
  ASSERT_TRUE(core::is_of_clique(of_clique.meta));
  EXPECT_TRUE(is_shared(of_clique));
  EXPECT_FALSE(is_shared(list_of(api::kDomainLabel)));
}

}  // namespace
}  // namespace cdom::controller
