#include "compute_domain/controller/dry_run.h"

#include <gmock/gmock.h>

#include "compute_domain/base/text.h"
#include "compute_domain/controller/filled_cluster.h"

namespace cdom::controller {
namespace {

using base::cat;
using ::testing::HasSubstr;
using ::testing::Not;

std::string node_yaml(const std::string& name, const std::string& clique, const char* ready) {
  return cat("apiVersion: v1\nkind: Node\nmetadata: {name: ", name,
             "}\nstatus: {conditions: [{type: Ready, status: '", ready, "'}]}\n---\n",
             "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: ", name,
             "-slice}\nspec:\n  driver: compute-domain.nvidia.com\n  nodeName: ", name,
             "\n  pool: {name: ", name, ", generation: 1, resourceSliceCount: 1}\n",
             "  devices:\n  - name: channel-0\n    attributes:\n      type: {string: channel}\n",
             "      id: {int: 0}\n      clique: {string: ", clique, "}\n---\n");
}

std::string placed_domain_yaml(int nodes) {
  return cat(
      "apiVersion: resource.nvidia.com/v1beta1\nkind: ComputeDomain\n"
      "metadata: {name: train, namespace: team-a, uid: u1}\nspec:\n  numNodes: ",
      nodes,
      "\n  channel: {resourceClaimTemplate: {name: train-channel}}\n  placement: {clique: "
      "Single}\n");
}

std::string plan_of_cluster(int wanted) {
  const std::string text = node_yaml("n1", "a.1", "True") + node_yaml("n2", "a.1", "False") +
                           node_yaml("n3", "b.1", "True") + node_yaml("n4", "b.1", "True") +
                           placed_domain_yaml(wanted);
  const base::SystemClock clock;
  return page_of(dry_run({{"cluster.yaml", text}}, {}, clock));
}

std::vector<std::string> problems_of(const std::string& text) {
  const base::SystemClock clock;
  return dry_run({{"train.yaml", text}}, {}, clock).problems;
}

constexpr char kDomain[] = R"(
apiVersion: resource.nvidia.com/v1beta1
kind: ComputeDomain
metadata: {name: train, namespace: team-a}
spec: {numNodes: 2, channel: {resourceClaimTemplate: {name: train-channel}}}
---
)";

std::string job_with(const std::string& claim_template, int pods) {
  return cat("apiVersion: batch/v1\nkind: Job\nmetadata: {name: run, namespace: team-a}\nspec:\n",
             "  parallelism: ", pods, "\n  completions: ", pods,
             "\n  template: {spec: {containers: [{name: c, resources: {claims: [{name: a}]}}], "
             "resourceClaims: [{name: a, resourceClaimTemplateName: ",
             claim_template, "}]}}\n");
}

std::string domain_with(const std::string& spec) {
  return cat(
      "apiVersion: resource.nvidia.com/v1beta1\nkind: ComputeDomain\n"
      "metadata: {name: other, namespace: team-a}\nspec: ",
      spec, "\n---\n");
}

// What the controller waits for there is not in files.
TEST(DryRun, HoldsNoNodeList) {
  const base::SystemClock clock;
  const FilledCluster cluster({}, clock);
  EXPECT_EQ(cluster.sources().settings.arrivals_pause, base::Duration::zero());
}

TEST(DryRun, HasNoProblemWithADomainAndItsJob) {
  EXPECT_THAT(problems_of(kDomain + job_with("train-channel", 2)), ::testing::IsEmpty());
}

TEST(DryRun, NamesAFieldThatTheApiServerDoesNotKnow) {
  std::string text = kDomain;
  text.replace(text.find("numNodes"), 8, "numnodes");
  EXPECT_THAT(problems_of(text),
              ::testing::ElementsAre("train.yaml: ComputeDomain team-a/train: unknown field "
                                     "\"spec.numnodes\"; did you mean numNodes?"));
}

TEST(DryRun, NamesAWordThatTheApiServerRefuses) {
  EXPECT_THAT(problems_of(domain_with("{numNodes: 2, channel: {resourceClaimTemplate: {name: t}}, "
                                      "placement: {clique: Singel}}")),
              ::testing::Contains("train.yaml: ComputeDomain team-a/other: spec.placement.clique: "
                                  "must be one of Any, Single, is \"Singel\""));
}

TEST(DryRun, NamesAKindThatThereIsNot) {
  std::string text = kDomain;
  text.replace(text.find("kind: ComputeDomain"), 19, "kind: ComputeDomian");
  EXPECT_THAT(problems_of(text), ::testing::ElementsAre(HasSubstr(
                                     "no kind \"ComputeDomian\" in "
                                     "resource.nvidia.com/v1beta1: it has ComputeDomain")));
}

TEST(DryRun, NamesAVersionThatThereIsNot) {
  std::string text = kDomain;
  text.replace(text.find("v1beta1"), 7, "v1");
  EXPECT_THAT(problems_of(text),
              ::testing::Contains("train.yaml: no version \"v1\" of ComputeDomain: it is "
                                  "resource.nvidia.com/v1beta1"));
}

TEST(DryRun, NamesAConfigurationThatTheAgentsRefuse) {
  const std::string text =
      "apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\n"
      "metadata: {name: by-hand, namespace: team-a}\nspec: {spec: {devices: {config: [{opaque: "
      "{driver: compute-domain.nvidia.com, parameters: {apiVersion: resource.nvidia.com/v1beta1, "
      "kind: ComputeDomainChannelConfig, domainID: d, allocationMod: All}}}]}}}\n";
  EXPECT_THAT(problems_of(text),
              ::testing::ElementsAre(HasSubstr(
                  "ResourceClaimTemplate team-a/by-hand: its configuration for "
                  "compute-domain.nvidia.com cannot be used: strict decoding error: unknown field "
                  "\"allocationMod\"")));
}

TEST(DryRun, NamesValuesThatTheApiServerRefuses) {
  EXPECT_THAT(problems_of(domain_with("{numNodes: -1}")),
              ::testing::ElementsAre(HasSubstr("spec.numNodes is -1: give 0")));
  EXPECT_THAT(problems_of(domain_with("{numNodes: 0, workload: {kind: Job, name: a}, channel: "
                                      "{resourceClaimTemplate: {name: t}}}")),
              ::testing::ElementsAre(HasSubstr("spec.channel and spec.workload exclude each")));
  EXPECT_THAT(
      problems_of(domain_with("{numNodes: 0, channel: {resourceClaimTemplate: {}}}")),
      ::testing::ElementsAre(HasSubstr("spec.channel.resourceClaimTemplate.name is missing")));
}

TEST(DryRun, GoesOnAfterAnObjectThatItCannotRead) {
  const base::SystemClock clock;
  const api::PlanReport report = dry_run(
      {{"bad.yaml", domain_with("{numNodes: many}")}, {"no.yaml", "{"}, {"train.yaml", kDomain}},
      {}, clock);
  EXPECT_THAT(report.problems,
              ::testing::ElementsAre(HasSubstr("bad.yaml: ComputeDomain"), HasSubstr("no.yaml")));
  EXPECT_THAT(page_of(report), HasSubstr("ComputeDomain team-a/train"));
}

TEST(DryRun, CountsSeatsOfThisDriverOnly) {
  std::string text = node_yaml("n1", "a.1", "True") + node_yaml("n2", "a.1", "True");
  const std::string driver = "compute-domain.nvidia.com";
  text.replace(text.rfind(driver), driver.size(), "gpu.nvidia.com");
  EXPECT_THAT(problems_of(kDomain + text), ::testing::ElementsAre(HasSubstr("offer 1 seat")));
}

TEST(DryRun, LeavesOutPodsThatRunOrThatSomethingElseHasMade) {
  const auto pod = [](const std::string& meta, const std::string& spec) {
    return cat("apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: team-a", meta,
               "}\nspec: {", spec,
               "containers: [{name: c}], resourceClaims: [{name: a, resourceClaimTemplateName: "
               "gone}]}\n---\n");
  };
  const char owner[] =
      ", ownerReferences: [{apiVersion: batch/v1, kind: Job, name: run, uid: u, controller: true}]";
  EXPECT_THAT(problems_of(pod("", "nodeName: n1, ")), ::testing::IsEmpty());
  EXPECT_THAT(problems_of(pod(owner, "")), ::testing::IsEmpty());
  EXPECT_THAT(problems_of(pod("", "")), ::testing::SizeIs(1));
}

TEST(DryRun, NamesPodsWhoseTemplateNobodyMakes) {
  EXPECT_THAT(problems_of(kDomain + job_with("tain-channel", 2)),
              ::testing::ElementsAre(
                  HasSubstr("Job team-a/run names ResourceClaimTemplate \"tain-channel\"")));
}

TEST(DryRun, NamesAClaimThatNoContainerUses) {
  std::string job = job_with("train-channel", 2);
  const std::string use = ", resources: {claims: [{name: a}]}";
  job.erase(job.find(use), use.size());
  EXPECT_THAT(problems_of(kDomain + job),
              ::testing::ElementsAre("Job team-a/run: no container uses claim a, so its pods would "
                                     "run without an IMEX channel: add resources.claims: [{name: "
                                     "a}] to the container that needs it"));
}

TEST(DryRun, ComparesNodesWithPodsAndSeats) {
  EXPECT_THAT(problems_of(kDomain + job_with("train-channel", 1)),
              ::testing::ElementsAre(HasSubstr("wants 2 nodes, and 1 pod names its template")));
  EXPECT_THAT(problems_of(kDomain + node_yaml("n1", "a.1", "True")),
              ::testing::ElementsAre(
                  HasSubstr("wants 2 nodes, and the nodes among these objects offer 1 seat")));
}

// As in a bundle: what is in a cluster, where two pods of a Job run.
api::PlanReport beside(const std::string& there, const std::string& planned,
                       const std::string& ns = "") {
  const base::SystemClock clock;
  return dry_run({{"bundle", there, /*is_there=*/true}, {"train.yaml", planned}}, {}, clock, ns);
}

std::string running_pod(const std::string& name, const std::string& job,
                        const char* phase = "Running") {
  return cat(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: ", name,
      ", namespace: team-a, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: ", job,
      ", uid: u, controller: true}]}\nspec: {nodeName: n1, containers: [{name: c, resources: "
      "{claims: [{name: a}]}}], resourceClaims: [{name: a, resourceClaimTemplateName: "
      "train-channel}]}\nstatus: {phase: ",
      phase, "}\n---\n");
}

TEST(DryRun, PutsObjectsWithoutANamespaceIntoTheOneThatIsMeant) {
  std::string domain = kDomain;
  domain.erase(domain.find(", namespace: team-a"), 19);
  const std::string job = job_with("train-channel", 2);
  EXPECT_THAT(problems_of(domain + job), ::testing::SizeIs(1)) << "they are in two namespaces";
  const api::PlanReport report = beside("", domain + job, "team-a");
  EXPECT_THAT(report.problems, ::testing::IsEmpty());
  EXPECT_THAT(page_of(report), HasSubstr("ComputeDomain team-a/train"));
}

TEST(DryRun, TellsApartWhatIsWrongWithOtherObjectsThatAreThere) {
  const std::string other = domain_with("{numNodes: 3}") + node_yaml("n1", "a.1", "True") +
                            node_yaml("n2", "a.1", "True");
  const api::PlanReport report = beside(other, kDomain + job_with("train-channel", 2));
  EXPECT_THAT(report.problems, ::testing::IsEmpty());
  EXPECT_THAT(report.earlier_problems,
              ::testing::ElementsAre(HasSubstr("team-a/other wants 3 nodes, and the nodes")));
  EXPECT_THAT(page_of(report),
              HasSubstr("Problems of objects that are there already, which these do not touch\n"));
  // A pod more makes it a matter of what is planned.
  EXPECT_THAT(beside(kDomain, job_with("train-channel", 1)).problems,
              ::testing::ElementsAre(HasSubstr("wants 2 nodes, and 1 pod names its template")));
}

TEST(DryRun, CountsPodsThatAreThereAndRun) {
  const std::string pods = running_pod("run-0", "run") + running_pod("run-1", "run");
  EXPECT_THAT(beside(pods, kDomain).problems, ::testing::IsEmpty());
  EXPECT_THAT(beside(running_pod("run-0", "run"), kDomain).problems,
              ::testing::ElementsAre(HasSubstr("wants 2 nodes, and 1 pod names its template")));
  EXPECT_THAT(
      beside(running_pod("run-0", "run") + running_pod("run-1", "run", "Failed"), kDomain).problems,
      ::testing::SizeIs(1))
      << "one has ended";
  EXPECT_THAT(beside(running_pod("run-0", "run"), kDomain + job_with("train-channel", 1)).problems,
              ::testing::ElementsAre(HasSubstr("1 pod names its template")))
      << "of the Job itself";
}

TEST(DryRun, TakesPodsForThoseOfAJobOnlyByItsWholeName) {
  const std::string eval = running_pod("run-eval-0", "run-eval");
  EXPECT_THAT(beside(eval, kDomain + job_with("train-channel", 1)).problems, ::testing::IsEmpty())
      << "one of each Job";
}

TEST(DryRun, ChangesADomainThatIsThere) {
  std::string there = kDomain, planned = kDomain;
  there.replace(there.find("namespace: team-a"), 17, "namespace: team-a, uid: u1");
  planned.replace(planned.find("numNodes: 2"), 11, "numNodes: 3");
  const std::string page = page_of(beside(there, planned));
  EXPECT_THAT(page, HasSubstr("ComputeDomain team-a/train, UID u1\n  wants 3 nodes"));
  EXPECT_THAT(page, Not(HasSubstr("not created")));
}

// As a gate of a pipeline with a wrong path would be.
TEST(DryRun, NamesAFileWithoutAnObject) {
  for (const char* nothing : {"", "# a note\n", "---\n---\n"}) {
    EXPECT_THAT(problems_of(nothing),
                ::testing::ElementsAre("train.yaml: there is no object in this file"));
    EXPECT_FALSE(dry_run({{"train.yaml", nothing}}, {}, base::SystemClock()).is_whole);
  }
  const base::SystemClock clock;
  EXPECT_TRUE(dry_run({{"train.yaml", "kind: Unknown\nspec: }"}}, {}, clock).is_whole)
      << "a mistake in a file is found, and its exit code is another one";
  EXPECT_FALSE(
      dry_run({{.name = "note.yaml", .text = "", .may_be_empty = true}}, {}, clock).is_whole);
  const ObjectFile note{.name = "note.yaml", .text = "# a note", .may_be_empty = true};
  EXPECT_THAT(dry_run({note, {"train.yaml", kDomain}}, {}, clock).problems, ::testing::IsEmpty());
  EXPECT_THAT(dry_run({note, {"bundle", kDomain, /*is_there=*/true}}, {}, clock).problems,
              ::testing::ElementsAre("there is no object in note.yaml"));
}

TEST(DryRun, GivesAReasonForEachStep) {
  const base::SystemClock clock;
  const api::PlanReport report = dry_run({{"train.yaml", kDomain}}, {}, clock);
  EXPECT_THAT(page_of(report), HasSubstr("because spec.channel asks for it"));
  EXPECT_THAT(
      api::encode_plan_report(report),
      HasSubstr(
          R"({"action":"create ResourceClaimTemplate team-a/train-channel","reason":"spec.channel asks for it)"));
}

// docs/kubectl-plugin.md promises them, as long as `format` is 1.
TEST(DryRun, HasTheMembersThatProgramsRead) {
  const base::SystemClock clock;
  const api::PlanReport report = dry_run({{"train.yaml", kDomain}}, {}, clock);
  EXPECT_THAT(
      api::encode_plan_report(report),
      ::testing::AllOf(HasSubstr(R"("format":1)"), HasSubstr(R"("problems":[])"),
                       HasSubstr(R"("earlierProblems":[])"), HasSubstr(R"("sections":[{)")));
}

TEST(DryRun, ShowsWhichCliqueADomainWouldGetAndTheTemplateForIt) {
  const std::string page = plan_of_cluster(2);
  EXPECT_THAT(page, HasSubstr("reserve 2 seats of clique b.1 for domain u1"));
  EXPECT_THAT(page, HasSubstr("2 nodes of one clique: 2 seats of clique b.1 are kept for it"));
  EXPECT_THAT(page, HasSubstr("create ResourceClaimTemplate team-a/train-channel for clique b.1"));
}

TEST(DryRun, ShowsWhyThereIsNone) {
  const std::string page = plan_of_cluster(3);
  EXPECT_THAT(page, Not(HasSubstr("Placement of all domains")));
  EXPECT_THAT(page, HasSubstr("3 nodes of one clique: needs 3 seats, and the largest clique, a.1, "
                              "has 2"));
  EXPECT_THAT(page, Not(HasSubstr("create ResourceClaimTemplate")));
}

}  // namespace
}  // namespace cdom::controller
