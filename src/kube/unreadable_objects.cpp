#include "compute_domain/kube/unreadable_objects.h"

#include <utility>

#include "compute_domain/base/log.h"

namespace cdom::kube {

UnreadableObjects::UnreadableObjects(std::string resource, base::Registry* metrics)
    : resource_(std::move(resource)),
      gauge_(metrics == nullptr
                 ? nullptr
                 : &metrics->gauge("compute_domain_unreadable_objects",
                                   "Objects of the API server that this program cannot decode.",
                                   {{"resource", resource_}})) {}

bool UnreadableObjects::add(const api::Unreadable& object) {
  std::string& known = problems_[object.name];
  if (known == object.problem) return false;
  known = object.problem;
  count();
  base::log_warning("skipped an object that cannot be read; its last readable state counts",
                    {{"resource", resource_},
                     {"object", api::to_string(object.name)},
                     {"problem", object.problem}});
  return true;
}

void UnreadableObjects::remove(const api::ObjectName& name) {
  if (problems_.erase(name) > 0) count();
}

void UnreadableObjects::keep_only(const std::map<api::ObjectName, api::Unreadable>& objects) {
  if (std::erase_if(problems_, [&](const auto& each) { return !objects.contains(each.first); }) >
      0) {
    count();
  }
}

void UnreadableObjects::count() {
  if (gauge_ != nullptr) gauge_->set(static_cast<double>(problems_.size()));
}

}  // namespace cdom::kube
