// Every file of manifests/examples/recipe, applied as it is, and what its reader sees then.
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "compute_domain/base/text.h"
#include "scenarios/homes/scenario.h"
#include "source_tree/source_tree.h"

namespace cdom::scenarios {
namespace {

using base::cat;
using json = nlohmann::json;
using testing::ElementsAre;
using testing::MatchesRegex;
using testing::SizeIs;

constexpr char kFolder[] = "manifests/examples/recipe";
constexpr char kInstall[] = "01-install-and-verify.yaml";
constexpr char kTemplate[] = "02-class-and-template.yaml";
constexpr char kFourPods[] = "03-four-pod-job.yaml";
constexpr char kGpus[] = "04-gpus-beside-it.yaml";
constexpr char kCoordinator[] = "05-coordinator-and-workers.yaml";
constexpr char kNccl[] = "06-nccl-settings.yaml";
constexpr char kMonitoring[] = "07-monitoring.yaml";
constexpr char kConnectivity[] = "08-connectivity-check.yaml";
constexpr char kMpiJob[] = "09-mpijob.yaml";

class Recipe : public Scenario {
 protected:
  // The scheduler picks the nodes, so a recipe has the cluster for itself.
  Recipe() : Scenario({.racks = 2, .nodes_per_rack = 19, .shares_claims = true}) {}
  void TearDown() override {
    for (const char* kind : {"Job", "Pod", "ResourceClaimTemplate", "ResourceClaim"}) {
      kubectl().remove_all(kind);
    }
    Scenario::TearDown();
    // What is in no namespace.
    kubectl().remove("DeviceClass", "nvlink.example.com");
    kubectl().remove("ClusterRole", "nvlink-monitoring");
    kubectl().remove("CustomResourceDefinition", "mpijobs.kubeflow.org");
    kubectl().remove("DeviceClass", "gpu.nvidia.com");
    for (const char* node : {"r1n01", "r1n02", "r1n03", "r1n04"}) {
      kubectl().remove("ResourceSlice", cat(node, "-gpu.nvidia.com"));
    }
  }

  void apply(const std::string& file) { kubectl().apply_file(path_of(file)); }
  static std::string path_of(const std::string& file) { return cat(kFolder, "/", file); }
  void bring_gpus() { kubectl().apply_file("tests/workloads/gpus.yaml"); }
  [[nodiscard]] json read(const std::string& kind, const std::string& name) const {
    const std::string text = kubectl().get(kind, name);
    return text.empty() ? json() : json::parse(text);
  }
  // The only domain; waits for it.
  std::string only_domain() {
    EXPECT_TRUE(
        eventually("there is one domain", [&] { return all<api::ComputeDomain>().size() == 1; }));
    const auto domains = all<api::ComputeDomain>();
    return domains.empty() ? "" : domains.front().meta.name;
  }
  testing::AssertionResult runs(std::size_t pods) {
    return eventually(cat(pods, " pods run"), [&] {
      const auto all_pods = all<api::Pod>();
      return all_pods.size() == pods &&
             std::ranges::all_of(all_pods, [](const auto& pod) { return pod.phase == "Running"; });
    });
  }
  testing::AssertionResult completes(const std::string& job, int pods) {
    const auto done = [&] {
      return read("Job", job).value("/status/succeeded"_json_pointer, 0) == pods;
    };
    return eventually(cat(job, " completes"), done, kLate);
  }
  // The name of the domain of `workload`, which gets Ready with that many members.
  std::string forms(const std::string& workload, std::size_t nodes) {
    std::string name = only_domain();
    EXPECT_THAT(name, MatchesRegex(workload + "-[0-9a-f]{8}"));
    EXPECT_TRUE(becomes(name, "Ready", cat(nodes, "/", nodes), "AllNodesReady"));
    EXPECT_EQ(domain(name).status->nodes.size(), nodes);
    return name;
  }
};

std::string with_uid(std::string yaml, const std::string& uid) {
  constexpr std::string_view kPlace = "MPIJOB_UID";
  for (auto at = yaml.find(kPlace); at != std::string::npos; at = yaml.find(kPlace, at)) {
    yaml.replace(at, kPlace.size(), uid);
  }
  return yaml;
}

TEST_F(Recipe, HasATestForEachFile) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(source_tree() / kFolder)) {
    files.push_back(entry.path().filename().string());
  }
  std::ranges::sort(files);
  EXPECT_THAT(files, ElementsAre(kInstall, kTemplate, kFourPods, kGpus, kCoordinator, kNccl,
                                 kMonitoring, kConnectivity, kMpiJob));
}

TEST_F(Recipe, AnInstallIsVerifiedByAJobThatCompletes) {
  apply(kInstall);
  const std::string name = forms("verify-install", 1);
  EXPECT_TRUE(completes("verify-install", 1));
  // One pod on each of as many nodes as it names.
  std::set<std::string> checked;
  for (const auto& pod : all<api::Pod>()) {
    if (pod.meta.name.starts_with("node-check-")) checked.insert(pod.node);
  }
  EXPECT_THAT(checked, SizeIs(18));
  kubectl().remove("Job", "verify-install");
  EXPECT_TRUE(goes(name));
}

TEST_F(Recipe, ATemplateOfAClassOfOnesOwnGivesAChannel) {
  apply(kTemplate);
  EXPECT_THAT(all<api::ComputeDomain>(), testing::IsEmpty());
  kubectl().apply(pod_yaml("mine", "nvlink-channel", nodes(1)[0]));
  EXPECT_TRUE(runs(1));
  EXPECT_TRUE(becomes(only_domain(), "Ready", "1/1", "AllNodesReady"));
}

TEST_F(Recipe, FourPodsHaveADomainThatNobodyHasWritten) {
  apply(kTemplate);
  apply(kFourPods);
  const std::string name = forms("four-pods", 4);
  EXPECT_EQ(domain(name).spec.workload->kind, "Job");
  EXPECT_TRUE(runs(4));
  kubectl().remove("Job", "four-pods");
  EXPECT_TRUE(goes(name));
}

TEST_F(Recipe, GpusAreClaimedOnTheNodeOfTheChannel) {
  bring_gpus();
  apply(kTemplate);
  apply(kGpus);
  forms("gpus-and-nvlink", 2);
  ASSERT_TRUE(runs(2));
  std::map<std::string, std::map<std::string, int>> devices;  // by pod and driver
  std::map<std::string, std::set<std::string>> pools;         // nodes by pod
  for (const auto& claim : all<api::ResourceClaim>()) {
    ASSERT_TRUE(claim.allocation);
    for (const auto& device : claim.allocation->devices) {
      ++devices[claim.reserved_for.at(0).name][device.driver];
      pools[claim.reserved_for.at(0).name].insert(device.pool);
    }
  }
  ASSERT_THAT(devices, SizeIs(2));
  for (const auto& [pod, by_driver] : devices) {
    EXPECT_THAT(by_driver, ElementsAre(testing::Pair("compute-domain.nvidia.com", 1),
                                       testing::Pair("gpu.nvidia.com", 4)));
    EXPECT_THAT(pools[pod], SizeIs(1));
  }
}

TEST_F(Recipe, ACoordinatorAndItsWorkersShareAClaimThatHasAName) {
  apply(kCoordinator);
  const std::string name = forms("nvlink-mesh", 4);
  EXPECT_TRUE(runs(4));
  ASSERT_THAT(all<api::ResourceClaim>(), SizeIs(1));
  EXPECT_THAT(all<api::ResourceClaim>().front().reserved_for, SizeIs(4));
  EXPECT_EQ(domain(name).spec.num_nodes, 4);
  kubectl().remove_all("Job");
  ASSERT_TRUE(eventually("the pods are gone", [&] { return all<api::Pod>().empty(); }));
  kubectl().remove("ResourceClaim", "nvlink-mesh");
  EXPECT_TRUE(goes(name));
}

TEST_F(Recipe, NcclHasItsSettingsFromAConfigMap) {
  apply(kTemplate);
  apply(kNccl);
  forms("nccl", 2);
  EXPECT_TRUE(runs(2));
  EXPECT_EQ(read("ConfigMap", "nccl-settings")["data"],
            json({{"NCCL_MNNVL_ENABLE", "1"}, {"NCCL_CUMEM_ENABLE", "1"}, {"NCCL_DEBUG", "INFO"}}));
}

TEST_F(Recipe, MonitoringIsKeptInTheCluster) {
  apply(kMonitoring);
  const std::string commands = read("ConfigMap", "nvlink-monitoring")["data"]["commands"];
  EXPECT_THAT(commands, testing::HasSubstr("kubectl get computedomains"));
  EXPECT_EQ(read("ClusterRole", "nvlink-monitoring")["metadata"]["labels"],
            json({{"rbac.authorization.k8s.io/aggregate-to-view", "true"}}));
}

TEST_F(Recipe, ConnectivityIsSeenFromInsideAndFromOutside) {
  apply(kTemplate);
  apply(kConnectivity);
  const std::string name = forms("connectivity", 4);
  const auto formed = domain(name);
  for (const auto& member : formed.status->nodes) {
    const json report = read("ComputeDomainNode", member.name);
    const json& group = report["status"]["groups"].at(0);
    EXPECT_EQ(group.value("state", ""), "Ready") << member.name;
    EXPECT_EQ(group.value("unreachable", json::array()), json::array()) << member.name;
  }
  EXPECT_TRUE(completes("connectivity", 4));
  kubectl().remove("Job", "connectivity");
  EXPECT_TRUE(goes(name));
}

// The MPI Operator is not here: its CustomResourceDefinition is a stand-in, and so are the pods.
TEST_F(Recipe, AnMpiJobHasADomainThatGoesWithIt) {
  bring_gpus();
  kubectl().apply_file("tests/workloads/mpijob-definition.yaml");
  apply(kTemplate);
  apply(kGpus);
  kubectl().remove("Job", "gpus-and-nvlink");
  ASSERT_TRUE(eventually("what came with their template is gone", [&] {
    return all<api::ResourceClaim>().empty() && all<api::ComputeDomain>().empty();
  }));
  ASSERT_TRUE(eventually("MPIJobs are served", [&] {
    return kubectl().refusal_of(source_text(path_of(kMpiJob))).empty();
  }));
  const json mpi_job = read("MPIJob", "nvbandwidth");
  const std::string uid = mpi_job["metadata"]["uid"];
  kubectl().apply(with_uid(source_text("tests/workloads/nvbandwidth-pods.yaml"), uid));
  const std::string name = forms("nvbandwidth", 2);
  EXPECT_EQ(domain(name).spec.workload->kind, "MPIJob");
  EXPECT_TRUE(runs(3));
  // The stand-ins are of this very MPIJob.
  const json& worker = mpi_job["spec"]["mpiReplicaSpecs"]["Worker"];
  EXPECT_EQ(worker["replicas"], 2);
  const json pod = read("Pod", "nvbandwidth-worker-0");
  for (const auto& [field, value] : worker["template"]["spec"]["containers"][0].items()) {
    EXPECT_EQ(pod["spec"]["containers"][0][field], value) << field;
  }
  EXPECT_EQ(pod["spec"]["resourceClaims"], worker["template"]["spec"]["resourceClaims"]);
  kubectl().remove("MPIJob", "nvbandwidth");
  EXPECT_TRUE(goes(name, kLate));
  EXPECT_TRUE(eventually(
      "its pods are gone", [&] { return all<api::Pod>().empty(); }, kLate));
}

}  // namespace
}  // namespace cdom::scenarios
