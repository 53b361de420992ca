#include "compute_domain/controller/predecessor.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "compute_domain/api/names.h"
#include "compute_domain/api/program.h"
#include "compute_domain/api/review.h"
#include "compute_domain/base/log.h"
#include "compute_domain/base/text.h"

namespace cdom::controller {

namespace {

using base::cat;

constexpr std::string_view kProgram = "compute-domain-controller";
// Labels of its pods: in its chart today, in the charts that were released as 25.x, and in the GPU
// Operator. A chart puts its own name in front of "-component"; a value can replace that name.
constexpr const char* kPodLabels[] = {"dra-driver-nvidia-gpu-component=controller",
                                      "nvidia-dra-driver-gpu-component=controller",
                                      "app=nvidia-dra-driver-controller"};

// Something that runs it, if its account is one that can.
struct Suspect {
  std::string what;  // "Pod gpu/controller-0"
  std::string ns, service_account;
};

template <class T>
Suspect suspect(const T& object) {
  return {.what = cat(api::kind_of<T>().kind, " ", api::to_string(api::name_of(object.meta))),
          .ns = object.meta.ns,
          .service_account = object.service_account.empty() ? "default" : object.service_account};
}

// Keeps only the objects that `is_it` takes: tenants decide how many there are, and how long.
template <class T, class IsIt>
void find(const kube::Client& client, const kube::Selection& of, const IsIt& is_it,
          const std::function<void()>& beat, std::vector<Suspect>& found) {
  auto suspects = client.list_kept<T>(of, [&](const T& object) {
    beat();
    return is_it(object) ? std::optional(suspect(object)) : std::nullopt;
  });
  if (suspects) return void(std::ranges::move(*suspects, std::back_inserter(found)));
  base::log_debug(
      "cannot see whether NVIDIA's ComputeDomain controller runs",
      {{"kind", std::string(api::kind_of<T>().kind)}, {"error", suspects.error().message}});
}

bool runs_it(const std::vector<api::ContainerProgram>& containers) {
  return std::ranges::any_of(containers, [](const api::ContainerProgram& container) {
    return std::ranges::any_of(container.command, [](const std::string& word) {
      return base::split(word, '/').back() == kProgram;
    });
  });
}

std::vector<Suspect> suspects(const kube::Client& client, Look look,
                              const std::string& own_namespace, const std::function<void()>& beat) {
  std::vector<Suspect> found;
  for (const char* label : kPodLabels) {
    find<api::PodProgram>(
        client, {.label_selector = label},
        [](const auto& pod) { return pod.ready && !pod.meta.is_deleting(); }, beat, found);
  }
  if (look == Look::AtPods) return found;
  // No label is sure to be there, so that all have to be looked at: a page at a time.
  const auto is_it = [&](const api::DeploymentProgram& deployment) {
    if (deployment.ready_replicas == 0 || !runs_it(deployment.containers)) return false;
    const auto app = deployment.pod_labels.find("app");
    const bool is_ours = deployment.meta.ns == own_namespace &&
                         app != deployment.pod_labels.end() && app->second == kProgram;
    return !is_ours;
  };
  find<api::DeploymentProgram>(client, {}, is_it, beat, found);
  return found;
}

bool may_write_domains(const kube::Client& client, const Suspect& suspect) {
  for (const char* verb : {"update", "patch"}) {
    auto review = api::review_of(api::service_account(suspect.ns, suspect.service_account));
    review.verb = verb;
    review.group = api::kGroup;
    review.resource = api::kind_of<api::ComputeDomain>().plural;
    const auto answer = client.create(review);
    if (!answer) {
      base::log_warning(
          "cannot see whether what looks like NVIDIA's ComputeDomain controller is one; this "
          "account needs the right to create subjectaccessreviews",
          {{"is", suspect.what}, {"error", base::to_string(answer.error())}});
      return false;
    }
    if (answer->allowed) return true;
  }
  return false;
}

}  // namespace

std::optional<std::string> find_predecessor(const kube::Client& client, Look look,
                                            const std::string& own_namespace,
                                            const std::function<void()>& beat) {
  // An account that many run under is asked about once.
  std::set<std::pair<std::string, std::string>> innocent;
  for (const Suspect& suspect : suspects(client, look, own_namespace, beat)) {
    beat();
    const std::pair account(suspect.ns, suspect.service_account);
    if (innocent.contains(account)) continue;
    if (may_write_domains(client, suspect)) return suspect.what;
    innocent.insert(account);
  }
  return std::nullopt;
}

}  // namespace cdom::controller
