#include "sandbox/cluster/control_plane/extended_resources.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "compute_domain/base/text.h"
#include "sandbox/cluster/node/pod_facts.h"
#include "sandbox/cluster/objects.h"
#include "sandbox/text/quantity.h"

namespace cdom::sandbox {
namespace {

constexpr std::string_view kImplicitPrefix = "deviceclass.resource.kubernetes.io/";

struct DeviceRequest {
  std::string name;
  std::string device_class;
  std::int64_t count = 0;
};

// By index in initContainers and then containers; nullopt where a container asks for nothing.
using RequestsOfContainers = std::vector<std::optional<DeviceRequest>>;

struct Asking {
  const json* container;
  std::size_t index;  // in initContainers and then containers
  std::string resource;
  std::string device_class;
};

json mapping_of(const Asking& asking, const std::string& request) {
  return {{"containerName", text_at(*asking.container, "/name")},
          {"resourceName", asking.resource},
          {"requestName", request}};
}

// The request of one container for one resource, beyond what it may share of others; nullopt when
// it needs none of its own. Appends whose requests it uses.
std::optional<DeviceRequest> request_of(const Asking& asking, const RequestsOfContainers& others,
                                        std::vector<json>& mappings) {
  const json& all = at(*asking.container, "/resources/requests");
  const auto found = all.is_object() ? all.find(asking.resource) : all.end();
  if (!all.is_object() || found == all.end()) return std::nullopt;
  const auto amount =
      Quantity::parse(found->is_string() ? found->get<std::string>() : found->dump());
  if (!amount || !amount->is_integer() || amount->sign() <= 0) return std::nullopt;
  std::int64_t missing = amount->value();
  for (std::size_t i = asking.index; i < others.size(); ++i) {
    if (!others[i]) continue;
    missing -= others[i]->count;
    mappings.push_back(mapping_of(asking, others[i]->name));
    if (missing <= 0) return std::nullopt;
  }
  // Numbered among all that the container asks for, cpu and memory too; a JSON object is sorted.
  const auto number = std::distance(all.begin(), found);
  const DeviceRequest request{base::cat("container-", asking.index, "-request-", number),
                              asking.device_class, missing};
  mappings.push_back(mapping_of(asking, request.name));
  return request;
}

// Init containers run before the others and one after the other: they share what those that stay
// have, and one request among themselves, that of the largest.
void add_requests(const std::vector<std::pair<const json*, bool>>& containers,
                  const std::string& resource, const std::string& device_class,
                  std::vector<DeviceRequest>& requests, std::vector<json>& mappings) {
  RequestsOfContainers lasting(containers.size());
  std::vector<json> of_lasting;
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const auto& [container, is_short_lived] = containers[i];
    if (is_short_lived) continue;
    lasting[i] = request_of({container, i, resource, device_class}, {}, of_lasting);
  }
  std::optional<DeviceRequest> largest;
  std::vector<std::string> names;
  std::vector<json> of_short_lived;
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const auto& [container, is_short_lived] = containers[i];
    if (!is_short_lived) continue;
    auto own = request_of({container, i, resource, device_class}, lasting, of_short_lived);
    if (!own) continue;
    names.push_back(own->name);
    if (!largest || largest->count < own->count) largest = std::move(own);
  }
  for (json& mapping : of_short_lived) {
    if (largest && std::ranges::find(names, text_at(mapping, "/requestName")) != names.end()) {
      mapping["requestName"] = largest->name;
    }
  }
  if (largest) requests.push_back(*largest);
  for (const auto& request : lasting) {
    if (request) requests.push_back(*request);
  }
  mappings.insert(mappings.end(), of_lasting.begin(), of_lasting.end());
  mappings.insert(mappings.end(), of_short_lived.begin(), of_short_lived.end());
}

}  // namespace

ClassesOfResources classes_of(const Amounts& requests, const JsonInformer& classes) {
  ClassesOfResources found;
  for (const auto& [resource, amount] : requests) {
    if (amount <= 0 || resource.find('/') == std::string::npos) continue;
    std::shared_ptr<const JsonObject> best;
    for (const auto& candidate : classes.all()) {
      const std::string name = text_at(*candidate->document, "/spec/extendedResourceName");
      const bool is_implicit = resource == base::cat(kImplicitPrefix, candidate->meta.name);
      if (!is_implicit && name != resource) continue;
      // By name they come in order; of equal age the first stays.
      if (!best || candidate->meta.creation_time > best->meta.creation_time) best = candidate;
    }
    if (best) found[resource] = best->meta.name;
  }
  return found;
}

ClassesOfResources without_offered(ClassesOfResources wanted, const Amounts& allocatable) {
  std::erase_if(wanted, [&](const auto& entry) {
    const auto offered = allocatable.find(entry.first);
    return offered != allocatable.end() && offered->second > 0;
  });
  return wanted;
}

Amounts without_devices(Amounts requests, const ClassesOfResources& wanted) {
  for (const auto& [resource, device_class] : wanted) requests.erase(resource);
  return requests;
}

ExtendedRequests extended_requests(const json& pod, const ClassesOfResources& wanted) {
  std::vector<std::pair<const json*, bool>> containers;  // and whether it ends before the others
  for (const json& container : at(pod, "/spec/initContainers")) {
    containers.emplace_back(&container, text_at(container, "/restartPolicy") != "Always");
  }
  for (const json& container : at(pod, "/spec/containers")) {
    containers.emplace_back(&container, false);
  }
  ExtendedRequests all;
  std::vector<DeviceRequest> requests;
  for (const auto& [resource, device_class] : wanted) {
    add_requests(containers, resource, device_class, requests, all.mappings);
  }
  std::ranges::sort(requests, {}, &DeviceRequest::name);
  for (const DeviceRequest& request : requests) {
    all.requests.push_back({{"name", request.name},
                            {"exactly",
                             {{"deviceClassName", request.device_class},
                              {"allocationMode", "ExactCount"},
                              {"count", request.count}}}});
  }
  return all;
}

json extended_claim(const json& pod, const std::vector<json>& requests) {
  const api::ObjectName key = key_of(pod);
  return {{"metadata",
           {{"namespace", key.ns},
            {"generateName", base::cat(key.name, "-extended-resources-")},
            {"annotations", {{kExtendedClaimAnnotation, "true"}}},
            {"ownerReferences", json::array({{{"apiVersion", "v1"},
                                              {"kind", "Pod"},
                                              {"name", key.name},
                                              {"uid", uid_of(pod)},
                                              {"controller", true}}})}}},
          {"spec", {{"devices", {{"requests", requests}}}}}};
}

bool is_extended_claim_of(const json& pod, const json& claim) {
  return key_of(claim).ns == key_of(pod).ns &&
         annotation_of(claim, kExtendedClaimAnnotation) == "true" &&
         controller_uid(claim, "Pod") == uid_of(pod);
}

}  // namespace cdom::sandbox
