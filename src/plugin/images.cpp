#include "plugin/images.h"

#include <algorithm>
#include <map>
#include <set>

#include "compute_domain/base/text.h"

namespace cdom::plugin {

namespace {

using base::cat;

constexpr std::size_t kDigestLetters = 19;  // "sha256:" and twelve more

// "0.1.0" of "ghcr.io:443/org/agent:0.1.0@sha256:…"; of one without a tag its digest.
std::string tag_of(const std::string& image) {
  const std::size_t at = image.find('@');
  const std::string name = image.substr(0, at);
  const std::size_t slash = name.rfind('/');
  const std::size_t colon = name.find(':', slash == std::string::npos ? 0 : slash);
  if (colon != std::string::npos) return name.substr(colon + 1);
  return at == std::string::npos ? "latest" : image.substr(at + 1, kDigestLetters);
}

// The image of the container of that name; "": it has none, or nobody knows.
std::string image_of(const api::PodState& pod, const std::string& container) {
  const auto it = std::ranges::find(pod.container_specs, container, &api::ContainerSpec::name);
  return it == pod.container_specs.end() ? "" : it->image;
}

// A Deployment's pods are of a ReplicaSet, whose name is its own and a hash.
bool is_made_by(const api::PodState& pod, const char* kind, const std::string& name) {
  return std::ranges::any_of(pod.meta.owners, [&](const api::OwnerReference& owner) {
    if (owner.kind == kind) return owner.name == name;
    const std::size_t hash = owner.name.rfind('-');
    return owner.kind == "ReplicaSet" && std::string_view(kind) == "Deployment" &&
           owner.name.substr(0, hash) == name;
  });
}

// What is left of "registry/org/agent:0.1.0" when another registry gives it.
std::string without_registry(const std::string& image) {
  const std::size_t slash = image.substr(0, image.find('@')).rfind('/');
  return slash == std::string::npos ? image : image.substr(slash + 1);
}

// By without_registry().
using CountByImage = std::map<std::string, std::int64_t>;

// What people see of the images: their tags, or all of them where two have one tag.
std::map<std::string, std::string> labels_of(const CountByImage& counts) {
  std::map<std::string, std::string> labels;
  std::set<std::string> tags;
  for (const auto& [image, count] : counts) {
    labels[image] = tag_of(image);
    tags.insert(labels[image]);
  }
  if (tags.size() == labels.size()) return labels;
  for (auto& [image, label] : labels) label = image;
  return labels;
}

// "14 of 18 pods run image tag 0.1.0, 4 run 0.0.9": that which it would start now comes first.
std::string found_in(const CountByImage& counts, const std::string& wanted) {
  std::int64_t all = 0;
  for (const auto& [image, count] : counts) all += count;
  const auto labels = labels_of(counts);
  const std::int64_t current = counts.at(wanted);
  std::string text =
      cat(current, " of ", all, all == 1 ? " pod" : " pods",
          current == 1 || all == 1 ? " runs" : " run", " image tag ", labels.at(wanted));
  for (const auto& [image, count] : counts) {
    if (image == wanted) continue;
    text += cat(", ", count, count == 1 ? " runs " : " run ", labels.at(image));
  }
  return text;
}

template <class Rollout>
void look_at(const ClusterView& view, const Rollout& set, const char* kind,
             std::vector<Finding>& findings) {
  if (set.containers.empty() || set.containers.front().image.empty()) return;
  const std::string& container = set.containers.front().name;
  const std::string wanted = without_registry(set.containers.front().image);
  CountByImage counts;
  for (const api::PodState& pod : view.pods) {
    if (pod.meta.ns != set.meta.ns || !is_made_by(pod, kind, set.meta.name)) continue;
    // An evicted pod stays there for long, and is in nobody's way.
    const bool has_ended = pod.phase == "Failed" || pod.phase == "Succeeded";
    const std::string image = image_of(pod, container);
    if (!image.empty() && !has_ended && !pod.meta.is_deleting()) ++counts[without_registry(image)];
  }
  if (counts.empty()) return;
  const bool is_current = counts.size() == 1 && counts.contains(wanted);
  counts.try_emplace(wanted, 0);
  Finding finding{cat("images of ", kind, " ", set.meta.name),
                  is_current ? Verdict::Ok : Verdict::Warning, found_in(counts, wanted), ""};
  finding.check = "Images";
  finding.name = cat(kind, "/", set.meta.name);
  if (!is_current && set.strategy == "OnDelete") {
    finding.remedy =
        "nothing has to be done at once; to upgrade, node by node, drain the node and then delete "
        "its pod of the other tag: its end is the end of NVLink memory there (docs/upgrade.md)";
    finding.command = cat("kubectl get pods -n ", set.meta.ns,
                          " -o custom-columns='NAME:.metadata.name,NODE:.spec.nodeName,"
                          "IMAGE:.spec.containers[*].image'");
  } else if (!is_current) {
    finding.remedy =
        "wait until the update is over; if it stands still, see which pod is not ready";
    finding.command = cat("kubectl rollout status ", base::to_lower(kind), "/", set.meta.name,
                          " -n ", set.meta.ns);
  }
  findings.push_back(std::move(finding));
}

}  // namespace

std::vector<Finding> look_at_images(const ClusterView& view) {
  std::vector<Finding> findings;
  for (const auto& set : view.deployments) look_at(view, set, "Deployment", findings);
  for (const auto& set : view.daemon_sets) look_at(view, set, "DaemonSet", findings);
  return findings;
}

}  // namespace cdom::plugin
