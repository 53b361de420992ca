#include "sandbox/apiserver/storage/selection.h"

#include <map>
#include <nlohmann/json.hpp>

#include "sandbox/apiserver/kinds/custom_version.h"
#include "sandbox/apiserver/serving/status.h"
#include "sandbox/text/selector.h"

namespace cdom::sandbox::server {

struct Selection::Parts {
  LabelSelector labels;
  FieldSelector fields;
  std::string name;  // of the path; "" for all
};

namespace {

// Beyond metadata.name and metadata.namespace, by bucket (Kubernetes' field label conversions).
const std::vector<std::string>& own_fields(const std::string& bucket) {
  static const std::vector<std::string> kNone;
  static const std::map<std::string, std::vector<std::string>> kFields = {
      {"pods",
       {"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName",
        "spec.hostNetwork", "status.phase", "status.podIP", "status.podIPs",
        "status.nominatedNodeName"}},
      {"events",
       {"involvedObject.kind", "involvedObject.namespace", "involvedObject.name",
        "involvedObject.uid", "involvedObject.apiVersion", "involvedObject.resourceVersion",
        "involvedObject.fieldPath", "reason", "reportingComponent", "source", "type"}},
      {"nodes", {"spec.unschedulable"}},
      {"namespaces", {"status.phase"}},
      {"secrets", {"type"}},
      {"jobs.batch", {"status.successful"}},
      {"resourceslices.resource.k8s.io", {"spec.nodeName", "spec.driver"}},
  };
  const auto found = kFields.find(bucket);
  return found == kFields.end() ? kNone : found->second;
}

std::vector<std::string> known_fields(const Kind& kind) {
  std::vector<std::string> out = {"metadata.name"};
  if (kind.namespaced) out.emplace_back("metadata.namespace");
  const auto& own = kind.is_custom() ? kind.custom->selectable_fields : own_fields(kind.bucket);
  out.insert(out.end(), own.begin(), own.end());
  return out;
}

template <class T>
T parsed(base::Result<T> result) {
  if (!result) throw StatusError(bad_request(result.error().message));
  return std::move(result).value();
}

}  // namespace

Selection::Selection(const Kind& kind, const RequestInfo& info)
    : parts_(std::make_unique<const Parts>(Parts{
          .labels = parsed(LabelSelector::parse(info.option("labelSelector"))),
          .fields = parsed(FieldSelector::parse(info.option("fieldSelector"), known_fields(kind))),
          .name = info.name})) {}

Selection::~Selection() = default;
Selection::Selection(Selection&&) noexcept = default;

bool Selection::is_everything() const {
  return parts_->name.empty() && parts_->labels.matches_everything() &&
         parts_->fields.matches_everything();
}

bool Selection::matches(const json& object) const {
  const json& metadata = object.at("metadata");
  if (!parts_->name.empty() && metadata.at("name") != parts_->name) return false;
  if (!parts_->labels.matches_everything()) {
    const auto labels = metadata.find("labels");
    if (!parts_->labels.matches(labels == metadata.end() ? json() : *labels)) return false;
  }
  return parts_->fields.matches_everything() || parts_->fields.matches(object);
}

}  // namespace cdom::sandbox::server
