// Bundles of kubectl compute-domain, which may come from anywhere, and what its reports make of any
// cluster.
#include <map>
#include <string>
#include <vector>

#include "compute_domain/base/text.h"
#include "compute_domain/plugin/bundle.h"
#include "fuzz/laws.h"
#include "plugin/archive.h"

namespace cdom::fuzz {

namespace {

using base::cat;
using Items = std::map<std::string, std::vector<std::string>>;

// "PLURAL OBJECT" a line.
Items items_in(std::string_view bytes) {
  Items items;
  for (const std::string& line : base::split(bytes, '\n')) {
    const std::size_t space = line.find(' ');
    if (space == std::string::npos) continue;
    items[line.substr(0, space)].push_back(line.substr(space + 1));
  }
  return items;
}

std::string bundle_of(const Items& items) {
  // The types of lists, of whatever kind.
  const std::map<std::string, const char*> kinds = {
      {"customresourcedefinitions",
       R"("apiextensions.k8s.io/v1","kind":"CustomResourceDefinitionList")"},
      {"deviceclasses", R"("resource.k8s.io/v1","kind":"DeviceClassList")"},
      {"leases", R"("coordination.k8s.io/v1","kind":"LeaseList")"},
      {"deployments", R"("apps/v1","kind":"DeploymentList")"},
      {"daemonsets", R"("apps/v1","kind":"DaemonSetList")"},
      {"computedomains", R"("resource.nvidia.com/v1beta1","kind":"ComputeDomainList")"},
      {"computedomainnodes", R"("resource.nvidia.com/v1beta1","kind":"ComputeDomainNodeList")"},
      {"nodes", R"("v1","kind":"NodeList")"},
      {"resourceslices", R"("resource.k8s.io/v1","kind":"ResourceSliceList")"},
      {"resourceclaims", R"("resource.k8s.io/v1","kind":"ResourceClaimList")"},
      {"resourceclaimtemplates", R"("resource.k8s.io/v1","kind":"ResourceClaimTemplateList")"},
      {"configmaps", R"("v1","kind":"ConfigMapList")"},
      {"pods", R"("v1","kind":"PodList")"},
      {"events", R"("v1","kind":"EventList")"}};
  std::vector<plugin::ArchivedFile> files;
  std::vector<std::string> counts;
  for (const auto& [plural, objects] : items) {
    const auto kind = kinds.find(plural);
    if (kind == kinds.end()) continue;
    files.push_back({cat("objects/", plural, ".json"),
                     cat(R"({"apiVersion":)", kind->second, R"(,"metadata":{},"items":[)",
                         base::join(objects, ","), "]}")});
    counts.push_back(cat('"', plural, "\":", objects.size()));
  }
  files.push_back(
      {"manifest.json",
       cat(R"({"bundle":"compute-domain-bundle","format":1,"taken":"2026-01-02T03:04:05Z","serverVersion":"v1.37.2","operatorNamespace":"compute-domain-operator","nodeNamespace":"compute-domain-nodes","objects":{)",
           base::join(counts, ","), "}}")});
  const auto packed = plugin::packed(files, {});
  require(packed.has_value(), "files are packed");
  return *packed;
}

}  // namespace

void read_bundles(std::string_view bytes) {
  const MemoryFile file(bytes);
  (void)plugin::read_bundle(file.path());
  const MemoryFile whole(bundle_of(items_in(bytes)));
  const auto view = plugin::read_bundle(whole.path());
  require(view || view.error().message.starts_with("cannot read bundle "),
          "an error names the bundle");
  if (!view) return;
  const plugin::ClusterView again = plugin::reduced(*view);
  require(
      again.domains == view->domains && again.claims == view->claims && again.nodes == view->nodes,
      "what is reduced is reduced");
}

}  // namespace cdom::fuzz
