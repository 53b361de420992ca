// What the API server refuses, what somebody holds, and what somebody takes away, in the whole
// system.
#include <gmock/gmock.h>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/reservations.h"
#include "compute_domain/sandbox/faults.h"
#include "system/rig.h"

namespace cdom::system_test {
namespace {

using base::cat;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using namespace std::chrono_literals;

constexpr char kPathOfPods[] = "/api/v1/namespaces/default/pods/";
constexpr char kPathOfPolicies[] = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic";
constexpr char kPathOfDomains[] =
    "/apis/resource.nvidia.com/v1beta1/namespaces/default/computedomains/";

api::Condition condition_of(const Rig& rig, const std::string& type) {
  const auto domain = rig.kubectl().get<api::ComputeDomain>({"default", "train"});
  const auto* found =
      domain && domain->status ? api::find_condition(domain->status->conditions, type) : nullptr;
  return found == nullptr ? api::Condition{} : *found;
}

void refuse(Rig& rig, const std::string& group, const std::string& resource) {
  rig.apply(cat(R"(
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: none}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
    - {apiGroups: [")",
                group, R"("], apiVersions: ["v1"], operations: [CREATE], resources: [)", resource,
                R"(]}
  validations:
  - {expression: 'false', message: the house has none of these, reason: Forbidden}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: none}
spec: {policyName: none, validationActions: [Deny]}
)"));
}

void refuse_no_more(Rig& rig) {
  rig.remove(cat(kPathOfPolicies, "ybindings/none"));
  rig.remove(cat(kPathOfPolicies, "ies/none"));
}

testing::AssertionResult is_told(Rig& rig, const std::string& part) {
  const auto says = [&] {
    return condition_of(rig, "Ready").reason == "WriteRefused" &&
           condition_of(rig, "Ready").message.find(part) != std::string::npos;
  };
  if (rig.run_until(says, 5s)) return testing::AssertionSuccess();
  const api::Condition ready = condition_of(rig, "Ready");
  return testing::AssertionFailure() << ready.reason << ": " << ready.message;
}

std::size_t events_of(const Rig& rig, const std::string& reason) {
  const auto events = rig.kubectl().list_all<api::Event>();
  return static_cast<std::size_t>(std::ranges::count(*events, reason, &api::Event::reason));
}

TEST(RefusedWrites, OfATemplateAreToldAndTriedUntilTheyAreAccepted) {
  Rig rig({});
  refuse(rig, "resource.k8s.io", "resourceclaimtemplates");
  rig.apply(domain_yaml("train", 1));
  EXPECT_TRUE(is_told(rig, "the house has none of these"));
  EXPECT_EQ(condition_of(rig, "WritesAccepted").reason, "WriteRefused");
  rig.run_for(10min);
  EXPECT_EQ(events_of(rig, "WriteRefused"), 1U);
  const std::uint64_t writes = rig.writes();
  refuse_no_more(rig);
  EXPECT_TRUE(
      rig.run_until([&] { return condition_of(rig, "Ready").reason == "WaitingForPods"; }, 2min));
  EXPECT_EQ(condition_of(rig, "WritesAccepted"), api::Condition{});
  EXPECT_LT(rig.writes(), writes + 200);
}

struct FailedWrite {
  int code;
  const char* reason;
  base::Duration until_again;

  friend void PrintTo(const FailedWrite& write, std::ostream* out) {
    *out << write.code << " " << write.reason;
  }
};
class FailedWrites : public testing::TestWithParam<FailedWrite> {};
INSTANTIATE_TEST_SUITE_P(
    Codes, FailedWrites,
    testing::Values(FailedWrite{409, "Conflict", 1s}, FailedWrite{409, "AlreadyExists", 1s},
                    FailedWrite{404, "NotFound", 1s}, FailedWrite{410, "Expired", 1s},
                    FailedWrite{500, "InternalError", 1s},
                    FailedWrite{503, "ServiceUnavailable", 1s}, FailedWrite{403, "Forbidden", 1s},
                    FailedWrite{422, "Invalid", 100s}));

// No change brings a key back whose write was not carried out.
TEST_P(FailedWrites, AreTriedAgainByThemselves) {
  const auto [code, reason, until_again] = GetParam();
  Rig rig({});
  rig.run_for(2s);
  rig.fail_writes({.code = code, .reason = reason, .times = 3});
  rig.apply(domain_yaml("train", 1));
  EXPECT_TRUE(rig.run_until([&] { return condition_of(rig, "TemplateReady").reason == "Created"; },
                            until_again));
}

TEST(RefusedWrites, OfANodeListAreTold) {
  Rig rig({});
  rig.apply(domain_yaml("train", 1));
  rig.run_for(1s);
  refuse(rig, "", "configmaps");
  rig.apply(pod_yaml("train-0", "train"));
  EXPECT_TRUE(is_told(rig, "the house has none of these"));
  refuse_no_more(rig);
  EXPECT_TRUE(rig.run_until([&] { return rig.is_ready("train"); }, 2min));
  rig.run_for(1s);
  EXPECT_EQ(condition_of(rig, "WritesAccepted"), api::Condition{});
}

TEST(RefusedWrites, OfTheReservationsMapAreToldToDomainsThatWantOneClique) {
  Rig rig({.racks = 2});
  refuse(rig, "", "configmaps");
  rig.apply(domain_yaml("train", 1) + "  placement: {clique: Single}\n");
  EXPECT_TRUE(is_told(rig, "the house has none of these"));
  refuse_no_more(rig);
  EXPECT_TRUE(
      rig.run_until([&] { return condition_of(rig, "Ready").reason == "WaitingForPods"; }, 2min));
}

TEST(RefusedWrites, ADeletionThatSomebodyHoldsSaysSo) {
  Rig rig({});
  rig.apply(domain_yaml("train", 1));
  rig.apply(pod_yaml("train-0", "train"));
  ASSERT_TRUE(rig.run_until([&] { return rig.is_ready("train"); }, 1min));
  const api::ConfigMap list = rig.node_lists().at(0);
  ASSERT_TRUE(rig.kubectl().patch<api::ConfigMap>(api::name_of(list.meta), "",
                                                  api::finalizers_patch({}, {"example.com/mine"})));
  rig.remove(cat(kPathOfPods, "train-0"));
  rig.remove(cat(kPathOfDomains, "train"));
  EXPECT_TRUE(rig.run_until(
      [&] {
        return condition_of(rig, "Ready").message.find("finalizer holds it") != std::string::npos;
      },
      1min));
  EXPECT_EQ(condition_of(rig, "Ready").reason, "Deleting");
  EXPECT_FALSE(rig.is_ready("train"));
  ASSERT_TRUE(rig.kubectl().patch<api::ConfigMap>(api::name_of(list.meta), "",
                                                  api::finalizers_patch({}, {})));
  EXPECT_TRUE(rig.run_until([&] { return rig.domains().empty(); }, 2min));
}

TEST(TakenLabels, OfANodeListArePutBackWithItsSlots) {
  for (const char* label : {api::kGroupLabel, api::kDomainLabel}) {
    Rig rig({});
    rig.apply(domain_yaml("train", 2));
    for (const char* pod : {"train-0", "train-1"}) rig.apply(pod_yaml(pod, "train"));
    ASSERT_TRUE(rig.run_until([&] { return rig.is_ready("train"); }, 1min));
    rig.run_for(1s);
    const api::ConfigMap list = rig.node_lists().at(0);
    ASSERT_TRUE(rig.kubectl().patch<api::ConfigMap>(
        api::name_of(list.meta), "", api::metadata_patch({}, {{label, std::nullopt}}, {})));
    rig.run_for(20s);
    ASSERT_THAT(rig.node_lists(), SizeIs(1));
    EXPECT_EQ(rig.node_lists()[0].meta.labels, list.meta.labels) << label;
    EXPECT_EQ(rig.node_lists()[0].data, list.data) << label;
    EXPECT_TRUE(rig.is_ready("train"));
    EXPECT_GE(events_of(rig, "LabelsRestored") + events_of(rig, "NodeListRestored"), 1U) << label;
  }
}

TEST(TakenLabels, OfTheReservationsMapArePutBackWithItsReservations) {
  Rig rig({.racks = 2});
  rig.apply(domain_yaml("train", 1) + "  placement: {clique: Single}\n");
  rig.run_for(2s);
  const api::ObjectName name{"compute-domain-operator", core::kReservationsName};
  const auto reservations = rig.kubectl().get<api::ConfigMap>(name);
  ASSERT_TRUE(reservations);
  ASSERT_TRUE(rig.kubectl().patch<api::ConfigMap>(
      name, "", api::metadata_patch({}, {{api::kGroupLabel, std::nullopt}}, {})));
  rig.run_for(20s);
  const auto now = rig.kubectl().get<api::ConfigMap>(name);
  ASSERT_TRUE(now);
  EXPECT_EQ(now->meta.labels, reservations->meta.labels);
  EXPECT_EQ(now->data, reservations->data);
  EXPECT_EQ(events_of(rig, "LabelsRestored"), 1U);
}

std::string template_of_no_domain(int i) {
  const std::string uid = cat("00000000-0000-4000-8000-000000000", 100 + i);
  return cat(R"(
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata:
  name: forged-)",
             i, R"(
  namespace: default
  labels: {resource.nvidia.com/computeDomain: )",
             uid, R"(}
  ownerReferences:
  - {apiVersion: resource.nvidia.com/v1beta1, kind: ComputeDomain, name: x, uid: )",
             uid, R"(}
spec:
  spec:
    devices:
      requests:
      - {name: channel, exactly: {deviceClassName: compute-domain-default-channel.nvidia.com}}
)");
}

// A tenant may write them by the thousand, and each is removed once its domain is proven gone.
TEST(ForgedTemplates, AreRemovedWithoutAListOfAllDomainsForEach) {
  Rig rig({});
  rig.run_for(5s);
  rig.requests().clear();
  for (int i = 0; i < 100; ++i) rig.apply(template_of_no_domain(i));
  rig.run_for(60s);
  const auto lists = rig.requests().reads([](const WriteRequest& read) {
    return read.user.ends_with(":compute-domain-controller") && read.resource == "computedomains";
  });
  EXPECT_LE(lists, 3);
  EXPECT_THAT(*rig.kubectl().list_all<api::ResourceClaimTemplate>(), testing::IsEmpty());
}

// As an API server that ends in that moment leaves it: the write is done, and nobody hears of it.
TEST(LostAnswers, ToAStatusLoseNoEvent) {
  for (const bool is_lost : {false, true}) {
    Rig rig({});
    rig.apply(domain_yaml("train", 1));
    rig.apply(pod_yaml("train-0", "train"));
    ASSERT_TRUE(rig.run_until([&] { return rig.is_ready("train"); }, 1min));
    rig.run_for(10s);
    if (is_lost) {
      rig.faults().add({.kind = sandbox::FaultKind::LoseAnswer,
                        .user = "*:compute-domain-controller",
                        .verb = "patch",
                        .resource = "computedomains/status",
                        .count = 1});
    }
    const auto pod = rig.kubectl().get<api::Pod>({"default", "train-0"});
    ASSERT_TRUE(pod);
    rig.cluster().inject(pod->node, sandbox::Fault::ImexKill);
    rig.run_for(2min);
    EXPECT_EQ(events_of(rig, "ImexMemoryLost"), 1U) << (is_lost ? "lost" : "heard");
  }
}

// An API server that does not serve a kind for a moment answers as one that has not the object.
TEST(RefusedWrites, OfAFinalizerAreTriedAgainAlsoWhenTheAnswerIsNotFound) {
  Rig rig({});
  std::string domain = domain_yaml("train", 1);
  domain.resize(domain.find("  channel:"));
  rig.apply(domain);
  rig.run_for(10s);
  rig.faults().add({.kind = sandbox::FaultKind::Reject,
                    .user = "*:compute-domain-controller",
                    .verb = "patch",
                    .resource = "computedomains",
                    .count = 1,
                    .status = 404});
  rig.remove(cat(kPathOfDomains, "train"));
  EXPECT_TRUE(rig.run_until([&] { return rig.domains().empty(); }, 10min));
}

}  // namespace
}  // namespace cdom::system_test
