// Automatic domains in the whole system: what they cost, and controllers that die at every step.
#include <gmock/gmock.h>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "compute_domain/sandbox/faults.h"
#include "system/rig.h"

namespace cdom::system_test {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;

std::string template_in(const std::string& ns, const std::string& name = "fabric") {
  return base::cat(R"(
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: )",
                   name, ", namespace: ", ns, R"(}
spec:
  spec:
    devices:
      requests:
      - {name: channel, exactly: {deviceClassName: compute-domain-default-channel.nvidia.com}}
)");
}

std::string job_in(const std::string& ns, int pods, const std::string& labels = {}) {
  return base::cat(R"(
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: )",
                   ns, "}\nspec:\n  completionMode: Indexed\n  completions: ", pods,
                   "\n  parallelism: ", pods, R"(
  template:
    metadata: {labels: {)",
                   labels, R"(}}
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 1
      containers:
      - name: worker
        image: busybox
        command: [sleep, infinity]
        resources: {claims: [{name: channel}]}
      resourceClaims: [{name: channel, resourceClaimTemplateName: fabric}]
)");
}

constexpr char kJob[] = "/apis/batch/v1/namespaces/default/jobs/train";

// As a Deployment's controller makes it; nobody here makes its pods, or takes them away with it.
constexpr char kReplicaSet[] = R"(
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: serve-7d9c, namespace: default}
spec:
  replicas: 2
  selector: {matchLabels: {app: serve}}
  template:
    metadata: {labels: {app: serve}}
    spec: {containers: [{name: worker, image: busybox}]}
)";

std::string pod_of_replica_set(const std::string& name, const std::string& uid) {
  return base::cat(R"(
apiVersion: v1
kind: Pod
metadata:
  name: )",
                   name, R"(
  namespace: default
  labels: {app: serve}
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: serve-7d9c, controller: true, uid: )",
                   uid, R"(}]
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - {name: worker, image: busybox, command: [sleep, infinity], resources: {claims: [{name: channel}]}}
  resourceClaims: [{name: channel, resourceClaimTemplateName: fabric}]
)");
}

bool has_formed(const Rig& rig, std::size_t domains) {
  const auto all = rig.domains();
  return all.size() == domains && std::ranges::all_of(all, [](const api::ComputeDomain& domain) {
           return domain.status && domain.status->ready;
         });
}

TEST(AutomaticDomain, CostsAtMostThreeReads) {
  Rig rig({.seed = 4, .nodes_per_rack = 18});
  rig.apply(template_in("default"));
  rig.run_for(10s);
  rig.requests().clear();
  rig.apply(job_in("default", 18));
  ASSERT_TRUE(rig.run_until([&] { return has_formed(rig, 1); }, 60s));
  rig.run_for(30s);
  EXPECT_LE(rig.requests().reads([](const WriteRequest& read) {
    return read.user.ends_with(":compute-domain-controller");
  }),
            3);
  EXPECT_EQ(rig.domains().front().status->ready_nodes, "18/18");
}

// Pods of one namespace are read together, and seldom: no Job waits for that because of another.
TEST(AutomaticDomain, OfAJobRightBehindAnotherComesAsSoon) {
  Rig rig({.seed = 5, .nodes_per_rack = 4});
  rig.apply(template_in("default"));
  rig.run_for(10s);
  rig.apply(job_in("default", 2));
  ASSERT_TRUE(rig.run_until([&] { return rig.domains().size() == 1; }, 500ms));
  std::string next = job_in("default", 2);
  next.replace(next.find("name: train"), 11, "name: later");
  rig.run_for(50ms);
  rig.apply(next);
  EXPECT_TRUE(rig.run_until([&] { return rig.domains().size() == 2; }, 500ms));
}

TEST(AutomaticDomain, ComesAtOnceThoughTheWallClockWasSetBack) {
  Rig rig({.seed = 9, .nodes_per_rack = 4});
  rig.apply(template_in("default"));
  rig.run_for(10s);
  rig.apply(job_in("default", 2));
  ASSERT_TRUE(rig.run_until([&] { return has_formed(rig, 1); }, 60s));
  rig.set_wall_clock(-1h);
  std::string next = job_in("default", 2);
  next.replace(next.find("name: train"), 11, "name: later");
  rig.apply(next);
  EXPECT_TRUE(rig.run_until([&] { return has_formed(rig, 2); }, 60s));
}

std::string job_named(const std::string& name, const std::string& labels = {}) {
  std::string job = job_in("default", 1, labels);
  job.replace(job.find("name: train"), 11, "name: " + name);
  return job;
}

// A namespace that has made a domain waits to see it before it makes the next one.
TEST(AutomaticDomain, OfTheNextJobComesWithTheWatchThatShowsTheOneBefore) {
  Rig rig({.seed = 11, .nodes_per_rack = 4});
  rig.faults().add({.kind = sandbox::FaultKind::Delay,
                    .user = "*:compute-domain-controller",
                    .verb = "watch",
                    .resource = "computedomains",
                    .delay = 300ms});
  rig.crash_controller();
  rig.apply(template_in("default"));
  rig.run_for(10s);
  rig.apply(job_named("first"));
  ASSERT_TRUE(rig.run_until([&] { return rig.domains().size() == 1; }, 1s));
  rig.apply(job_named("second"));
  EXPECT_TRUE(rig.run_until([&] { return rig.domains().size() == 2; }, 1s));
}

// As an admission webhook of the namespace refuses it.
constexpr char kRefusesOne[] = R"(
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: not-this-one}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
    - {apiGroups: [resource.nvidia.com], apiVersions: ["*"], operations: [CREATE], resources: [computedomains]}
  validations:
  - {expression: '!object.metadata.name.startsWith("bad")', message: bad names are not allowed}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: not-this-one}
spec: {policyName: not-this-one, validationActions: [Deny]}
)";

TEST(AutomaticDomain, ThatIsRefusedHoldsBackNoOtherAndIsToldOfOnItsClaim) {
  Rig rig({.seed = 10, .nodes_per_rack = 4});
  rig.apply(kRefusesOne);
  rig.apply(template_in("default"));
  rig.run_for(10s);
  rig.apply(job_named("bad"));
  rig.run_for(1s);
  rig.apply(job_named("good"));
  ASSERT_TRUE(rig.run_until([&] { return has_formed(rig, 1); }, 60s));
  EXPECT_TRUE(rig.domains().front().meta.name.starts_with("good-"));
  const auto events = rig.administrator().send({.target = "/api/v1/namespaces/default/events"});
  ASSERT_TRUE(events);
  EXPECT_THAT(events->body, ::testing::HasSubstr("ComputeDomainRefused"));
  EXPECT_THAT(events->body, ::testing::HasSubstr("bad names are not allowed"));
  rig.remove(
      "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/not-this-one");
  EXPECT_TRUE(rig.run_until([&] { return has_formed(rig, 2); }, 60s));
}

TEST(AutomaticDomain, IsNeverSharedByTwoNamespacesWithOneLabel) {
  Rig rig({.seed = 6, .nodes_per_rack = 4});
  const std::string label = base::cat(api::kPodDomainLabel, ": ring");
  for (const char* ns : {"team-a", "team-b"}) {
    rig.apply(base::cat("{apiVersion: v1, kind: Namespace, metadata: {name: ", ns, "}}"));
    rig.apply(template_in(ns));
    rig.apply(job_in(ns, 2, label));
  }
  ASSERT_TRUE(rig.run_until([&] { return has_formed(rig, 2); }, 60s));
  const auto domains = rig.domains();
  EXPECT_NE(domains[0].meta.ns, domains[1].meta.ns);
  EXPECT_NE(domains[0].meta.name, domains[1].meta.name);
  for (const auto& domain : domains) EXPECT_EQ(domain.status->ready_nodes, "2/2");
}

TEST(AutomaticDomain, WaitsForTheNextPodsOfADeploymentThatSleeps) {
  Rig rig({.seed = 8, .nodes_per_rack = 4});
  rig.apply(template_in("default"));
  rig.apply(kReplicaSet);
  const auto answer =
      rig.administrator().send({.target = "/apis/apps/v1/namespaces/default/replicasets",
                                .headers = {{"Accept", std::string(api::kMetadataList)}}});
  ASSERT_TRUE(answer);
  const auto sets = api::decode_metadata_page(answer->body);
  ASSERT_TRUE(sets);
  ASSERT_THAT(sets->items, SizeIs(1));
  const std::string owner = sets->items[0].uid;
  std::string uid;
  for (int awake = 0; awake < 3; ++awake) {
    SCOPED_TRACE(base::cat("awake for the ", awake + 1, ". time"));
    std::vector<std::string> pods;
    for (int i = 0; i < 2; ++i) {
      pods.push_back(base::cat("serve-7d9c-", awake, i));
      rig.apply(pod_of_replica_set(pods.back(), owner));
    }
    ASSERT_TRUE(rig.run_until([&] { return has_formed(rig, 1); }, 60s));
    if (uid.empty()) uid = rig.domains().front().meta.uid;
    EXPECT_EQ(rig.domains().front().meta.uid, uid);
    for (const std::string& pod : pods) {
      rig.remove(base::cat("/api/v1/namespaces/default/pods/", pod));
    }
    ASSERT_TRUE(rig.run_until([&] { return !has_formed(rig, 1); }, 60s));
    rig.run_for(30s);
    ASSERT_THAT(rig.domains(), SizeIs(1));
    const api::ComputeDomain domain = rig.domains().front();
    const auto* ready = api::find_condition(domain.status->conditions, "Ready");
    ASSERT_NE(ready, nullptr);
    EXPECT_EQ(ready->reason, "WaitingForPods");
  }
}

// Nobody owns the domain of pods without a controller, so that the controller deletes it. Other
// watches wake it before that of the domains shows this: it must not delete it again by what it had
// seen before.
TEST(AutomaticDomain, OfPodsWithoutAControllerIsDeletedOnce) {
  const std::vector<std::string> pods{"worker-0", "worker-1", "worker-2"};
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(base::cat("seed ", seed));
    Rig rig({.seed = seed, .nodes_per_rack = 4, .imex_delay = 2s});
    rig.apply(template_in("default", "ring-channel"));
    for (const std::string& pod : pods) rig.apply(pod_yaml(pod, "ring"));
    ASSERT_TRUE(rig.run_until([&] { return has_formed(rig, 1); }, 60s));
    rig.run_for(10s);
    rig.requests().clear();
    for (const std::string& pod : pods) {
      rig.remove(base::cat("/api/v1/namespaces/default/pods/", pod));
      rig.run_for(std::chrono::milliseconds(rig.random().below(300)));
    }
    ASSERT_TRUE(rig.run_until([&] { return rig.domains().empty(); }, 60s));
    rig.run_for(10s);
    const auto is_deletion = [](const WriteRequest& write) {
      return is_ours(write) && write.method == "DELETE" && write.resource == "computedomains";
    };
    EXPECT_EQ(rig.requests().count(is_deletion), 1) << rig.requests().summary(is_deletion);
    const auto is_conflict = [](const WriteRequest& write) {
      return is_ours(write) && write.status == 409;
    };
    EXPECT_EQ(rig.requests().count(is_conflict), 0) << rig.requests().summary(is_conflict);
  }
}

// The queue of Events has room for a thousand.
TEST(AutomaticDomain, ClaimsThatCannotBeUsedAllGetTheirEventHoweverManyThereAre) {
  Rig rig({.nodes_per_rack = 1, .event_ttl = 24h});
  std::string claims;
  for (int i = 0; i < 1500; ++i) {
    claims += base::cat(R"(---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: c)",
                        i, R"(, namespace: default}
spec:
  devices:
    requests:
    - {name: channel, exactly: {deviceClassName: compute-domain-default-channel.nvidia.com}}
    config:
    - requests: [channel]
      opaque:
        driver: compute-domain.nvidia.com
        parameters: {apiVersion: resource.nvidia.com/v1beta1, kind: ComputeDomainConfig, nodes: 2}
)");
  }
  rig.apply(claims);
  // Whenever it is at rest, every key is empty or waits for a place.
  rig.run_for(3min);
  const auto events = rig.kubectl().list_all<api::Event>();
  ASSERT_TRUE(events);
  EXPECT_EQ(std::ranges::count(*events, "InvalidConfig", &api::Event::reason), 1500);
}

// After each write that anybody makes the controller dies once, in a run of its own.
TEST(AutomaticDomain, SurvivesAControllerThatDiesAtAnyStep) {
  for (std::uint64_t writes = 1; writes <= 60; writes += 3) {
    SCOPED_TRACE(base::cat("after ", writes, " writes"));
    Rig rig({.seed = writes, .nodes_per_rack = 2});
    rig.apply(template_in("default"));
    rig.run_for(5s);
    std::uint64_t before = rig.writes();
    const auto dies_here = [&] { return rig.writes() >= before + writes; };
    rig.apply(job_in("default", 2));
    if (rig.run_until(dies_here, 20s)) rig.crash_controller();
    ASSERT_TRUE(rig.run_until([&] { return has_formed(rig, 1); }, 60s));
    const std::string name = rig.domains().front().meta.name;
    rig.run_for(10s);
    ASSERT_THAT(rig.domains(), SizeIs(1));
    ASSERT_EQ(rig.domains().front().meta.name, name);
    before = rig.writes();
    rig.remove(kJob);
    if (rig.run_until(dies_here, 20s)) rig.crash_controller();
    ASSERT_TRUE(rig.run_until([&] { return rig.domains().empty(); }, 60s));
    rig.run_for(30s);
    EXPECT_THAT(rig.domains(), IsEmpty());
    EXPECT_THAT(rig.node_lists(), IsEmpty());
  }
}

// How often the controller asks for one thing in ten minutes in which it is answered so. A suite of
// its own: a controller that has just started knows nothing of what it was answered.
int attempts(sandbox::FaultRule answer) {
  Rig rig({.seed = 4, .nodes_per_rack = 4});
  rig.apply(template_in("default"));
  rig.run_for(10s);
  answer.user = "*:compute-domain-controller";
  rig.faults().add(answer);
  rig.requests().clear();
  rig.apply(job_named("first"));
  rig.run_for(5min);
  rig.apply(job_named("second"));
  rig.run_for(5min);
  return static_cast<int>(rig.faults().met()[answer.kind]);
}

// Also where a claim waits for what is in the answer, and where another one comes meanwhile.
TEST(AutomaticDomainPace, ReadsNoPodsSoonerThanAnOverloadedServerWants) {
  const int reads =
      attempts({.verb = "list", .resource = "pods", .status = 429, .retry_after_seconds = 30});
  EXPECT_LE(reads, 10 * 60 / 30);
  EXPECT_GE(reads, 10);
}

TEST(AutomaticDomainPace, ReadsNoPodsEachSecondWhereItMayNot) {
  const int reads = attempts({.verb = "list", .resource = "pods", .status = 422});
  EXPECT_LE(reads, 10 * 60 / 30);
  EXPECT_GE(reads, 10);
}

TEST(AutomaticDomainPace, ReadsNoJobSoonerThanAnOverloadedServerWants) {
  const int reads =
      attempts({.verb = "get", .resource = "jobs", .status = 429, .retry_after_seconds = 30});
  EXPECT_LE(reads, 5 * 60 / 30 + 2 * 5 * 60 / 30 + 10) << "of two Jobs at last, and with changes";
  EXPECT_GE(reads, 10);
}

TEST(AutomaticDomainPace, MakesNoDomainSoonerThanAnOverloadedServerWants) {
  const int creates = attempts(
      {.verb = "create", .resource = "computedomains", .status = 429, .retry_after_seconds = 120});
  EXPECT_LE(creates, 2 + 5 * 60 / 120 + 10 * 60 / 120);
  EXPECT_GE(creates, 5);
}

TEST(AutomaticDomainPace, IsThatOfEachJobWhileAnotherOneCannotBeRead) {
  Rig rig({.seed = 4, .nodes_per_rack = 4});
  rig.apply(template_in("default"));
  rig.run_for(10s);
  rig.faults().add({.kind = sandbox::FaultKind::Reject,
                    .user = "*:compute-domain-controller",
                    .verb = "get",
                    .resource = "jobs",
                    .name = "first"});
  rig.apply(job_named("first"));
  rig.run_for(2min);
  for (int i = 0; i < 3; ++i) {
    rig.apply(job_named(base::cat("other-", i)));
    EXPECT_TRUE(rig.run_until([&] { return has_formed(rig, i + 1); }, 5s)) << i;
    rig.run_for(20s);
  }
}

// Whoever asks for the metrics each quarter of a minute has to see it: the alert wants it to last.
TEST(AutomaticDomainPace, ShowsAReadThatIsForbiddenForAsLongAsItIs) {
  Rig rig({.seed = 4, .nodes_per_rack = 4});
  rig.apply(template_in("default"));
  rig.run_for(10s);
  rig.faults().add({.kind = sandbox::FaultKind::Reject,
                    .user = "*:compute-domain-controller",
                    .verb = "list",
                    .resource = "pods",
                    .status = 403});
  rig.apply(job_named("first"));
  rig.run_for(1min);
  for (int i = 0; i < 20; ++i) {
    rig.run_for(15s);
    EXPECT_EQ(rig.refused_keys(), 1) << i;
    if (i == 10) rig.apply(job_named("second"));
  }
  rig.faults().clear();
  rig.run_for(1min);
  EXPECT_EQ(rig.refused_keys(), 0);
}

// A load balancer in maintenance asks for an hour, and is back in two minutes.
TEST(AutomaticDomainPace, WaitsNoLongerThanTwoMinutesForAServer) {
  for (const auto& [verb, resource] : {std::pair("create", "computedomains"), {"list", "pods"}}) {
    EXPECT_GE(
        attempts({.verb = verb, .resource = resource, .status = 503, .retry_after_seconds = 3600}),
        5)
        << verb << " " << resource;
  }
}

}  // namespace
}  // namespace cdom::system_test
