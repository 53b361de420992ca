// What manifests/ says, as far as it can be held against itself without a cluster.
#include <gmock/gmock.h>

#include <set>

#include "api/repository.h"
#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "source_tree/source_tree.h"

namespace cdom::api {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

// The text at each place named `key`, at any depth.
void collect(const json& value, const std::string& key, std::set<std::string>& out) {
  for (const auto& [name, member] : value.items()) {
    if (name == key && member.is_string()) out.insert(member.get<std::string>());
    if (member.is_structured()) collect(member, key, out);
  }
}

TEST(Manifests, AreObjectsOfKubernetes) {
  for (const auto& file : yaml_files("manifests")) {
    for (const json& object : objects_in(file)) EXPECT_TRUE(object.contains("kind")) << file;
  }
}

TEST(Manifests, ConstrainTheServiceAccountThatTheAgentHas) {
  for (const json& account : objects_in("manifests/base/agent-rbac.yaml")) {
    if (account["kind"] != "ServiceAccount") continue;
    const auto user =
        base::cat("system:serviceaccount:", account["metadata"]["namespace"].get<std::string>(),
                  ":", account["metadata"]["name"].get<std::string>());
    int policies = 0;
    for (const json& policy : objects_in("manifests/base/agent-policy.yaml")) {
      if (policy["kind"] != "ValidatingAdmissionPolicy") continue;
      ++policies;
      EXPECT_THAT(policy["spec"]["matchConditions"].dump(), HasSubstr(user));
    }
    EXPECT_EQ(policies, 2);
  }
}

// The pod template of the first workload in a file of manifests/default.
json pods_of(const std::string& file) {
  for (const json& object : objects_in(base::cat("manifests/default/", file))) {
    const json spec = object.value("spec", json::object());
    if (spec.contains("template")) return spec["template"];
  }
  return nullptr;
}

TEST(Manifests, GiveTheAgentTheLabelByWhichTheControllerKnowsItsPods) {
  EXPECT_EQ(pods_of("agent.yaml")["metadata"]["labels"][kAgentAppLabel], kAgentApp);
}

TEST(Manifests, HaveAnAgentWhereverThereIsAnOwnerOfImex) {
  const json agent = pods_of("agent.yaml")["spec"], imex = pods_of("imex.yaml")["spec"];
  EXPECT_EQ(agent["affinity"], imex["affinity"]);
  EXPECT_EQ(agent["tolerations"], imex["tolerations"]);
}

// It holds an API token and listens on a port; what it writes on the node is what it is for.
TEST(Manifests, GiveTheAgentNoPrivilegeAndOnlyTheFoldersThatItUses) {
  const json agent = pods_of("agent.yaml")["spec"];
  const json context = agent["containers"][0]["securityContext"];
  EXPECT_FALSE(context.contains("privileged"));
  EXPECT_EQ(context["allowPrivilegeEscalation"], false);
  EXPECT_EQ(context["capabilities"], json::parse(R"({"drop": ["ALL"]})"));
  EXPECT_EQ(context["readOnlyRootFilesystem"], true);
  EXPECT_EQ(context["seccompProfile"]["type"], "RuntimeDefault");
  std::set<std::string> folders;
  for (const json& volume : agent["volumes"]) {
    folders.insert(volume["hostPath"]["path"].get<std::string>());
  }
  EXPECT_EQ(folders,
            (std::set<std::string>{"/var/lib/kubelet/plugins/compute-domain.nvidia.com",
                                   "/var/lib/kubelet/plugins_registry", "/var/lib/kubelet/pods-api",
                                   "/var/run/cdi", "/run/compute-domain"}));
  const json imex = pods_of("imex.yaml")["spec"];
  EXPECT_EQ(imex["automountServiceAccountToken"], false);
  for (const json& mount : imex["containers"][0]["volumeMounts"]) {
    const bool is_own = mount["name"] == "run";
    EXPECT_EQ(mount.value("readOnly", false), !is_own) << mount;
  }
}

TEST(Manifests, NameTheImagesOfThisVersion) {
  const std::string text = source_text("CMakeLists.txt");
  const std::size_t at = text.find("VERSION ", text.find("project(")) + 8;
  const std::string version = text.substr(at, text.find(' ', at) - at);
  const json kustomization = objects_in("manifests/default/kustomization.yaml").at(0);
  EXPECT_EQ(kustomization["images"].size(), 3U);
  for (const json& image : kustomization["images"]) EXPECT_EQ(image["newTag"], version);
  int labelled = 0;
  for (const auto& file : yaml_files("manifests")) {
    for (const json& object : objects_in(file)) {
      if (!object.contains("labels")) continue;
      ++labelled;
      EXPECT_EQ(object["labels"][0]["pairs"]["app.kubernetes.io/version"], version) << file;
    }
  }
  EXPECT_EQ(labelled, 10);
}

TEST(Manifests, CheckNodesByTheProgramThatIsInstalled) {
  const json kustomization = objects_in("manifests/default/kustomization.yaml").at(0);
  std::set<std::string> images, named;
  for (const json& image : kustomization["images"]) {
    images.insert(
        base::cat(image["name"].get<std::string>(), ":", image["newTag"].get<std::string>()));
  }
  collect(objects_in("manifests/examples/recipe/01-install-and-verify.yaml").at(0), "image", named);
  EXPECT_THAT(images, testing::IsSupersetOf(named));
}

// Of privileged programs: a name that anybody could register would be anybody's way to all nodes.
TEST(Manifests, NameImagesThatNoRegistryHasUntilOneIsSet) {
  std::set<std::string> images;
  for (const auto& file : yaml_files("manifests/default")) {
    for (const json& object : objects_in(file)) collect(object, "image", images);
  }
  EXPECT_EQ(images.size(), 3U);
  for (const std::string& image : images) EXPECT_THAT(image, StartsWith("registry.invalid/"));
  const json kustomization = objects_in("manifests/default/kustomization.yaml").at(0);
  for (const json& image : kustomization["images"]) {
    EXPECT_TRUE(images.contains(image["name"].get<std::string>())) << image;
  }
}

// The names of the templates that objects make, by themselves or by a ComputeDomain, and of those
// that their pods name.
struct Templates {
  std::set<std::string> made, named;
};

void collect(const std::vector<json>& objects, Templates& out) {
  for (const json& object : objects) {
    if (object["kind"] == "ComputeDomain") {
      out.made.insert(
          object["spec"]["channel"]["resourceClaimTemplate"]["name"].get<std::string>());
    } else if (object["kind"] == "ResourceClaimTemplate") {
      out.made.insert(object["metadata"]["name"].get<std::string>());
    } else {
      collect(object, "resourceClaimTemplateName", out.named);
    }
  }
}

bool is_in_recipe(const std::filesystem::path& file) {
  return file.parent_path().filename() == "recipe";
}

TEST(Examples, BringEveryTemplateThatTheirPodsNameOrTheDomainOfIt) {
  for (const auto& file : yaml_files("manifests/examples")) {
    if (is_in_recipe(file)) continue;
    Templates templates;
    collect(objects_in(file), templates);
    EXPECT_FALSE(templates.named.empty()) << file;
    EXPECT_EQ(templates.named, templates.made) << file;
  }
}

TEST(Recipe, BringsEveryTemplateThatItsPodsNameInSomeFile) {
  Templates templates;
  for (const auto& file : yaml_files("manifests/examples/recipe")) {
    collect(objects_in(file), templates);
  }
  EXPECT_EQ(templates.named, templates.made);
}

TEST(Recipe, TellsInEachFileWhatItNeedsAndWhatItShows) {
  const std::string page = source_text("docs/recipe.md");
  for (const auto& file : yaml_files("manifests/examples/recipe")) {
    const std::string text = source_text(file);
    EXPECT_THAT(text, StartsWith("# ")) << file;
    EXPECT_THAT(text, HasSubstr("\n# Needs: ")) << file;
    EXPECT_THAT(text, HasSubstr("\n# You will see")) << file;
    EXPECT_THAT(page, HasSubstr(base::cat("recipe/", file.filename().string()))) << file;
  }
}

TEST(Recipe, VerifiesAnInstallOnKubernetes132TheSameWay) {
  std::vector<json> newer, older = objects_in("manifests/kubernetes-1.32/verify-install.yaml");
  for (const json& object : objects_in("manifests/examples/recipe/01-install-and-verify.yaml")) {
    if (object["metadata"]["name"] == "verify-install") newer.push_back(object);
  }
  ASSERT_EQ(newer.size(), 2U);
  newer[0]["apiVersion"] = "resource.k8s.io/v1beta1";
  json& request = newer[0]["spec"]["spec"]["devices"]["requests"][0];
  request.update(json(request["exactly"]));
  request.erase("exactly");
  EXPECT_EQ(older, newer);
}

TEST(Examples, CanBeAppliedSideBySide) {
  std::set<std::string> names;
  for (const auto& file : yaml_files("manifests/examples")) {
    for (const json& object : objects_in(file)) {
      const auto name = base::cat(object["kind"].get<std::string>(), "/",
                                  object["metadata"]["name"].get<std::string>());
      EXPECT_TRUE(names.insert(name).second) << name << " is in two examples";
    }
  }
}

}  // namespace
}  // namespace cdom::api
