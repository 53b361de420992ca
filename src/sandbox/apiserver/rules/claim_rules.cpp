#include "sandbox/apiserver/rules/claim_rules.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "compute_domain/base/text.h"
#include "sandbox/apiserver/access/status_authorization.h"
#include "sandbox/apiserver/rest/object_path.h"
#include "sandbox/apiserver/rules/claim_spec_rules.h"
#include "sandbox/apiserver/rules/node_selector_rules.h"

namespace cdom::sandbox::server {

using base::cat;

namespace {

constexpr std::size_t kMostConsumers = 256;

void default_requests(json& devices) {
  if (!devices.is_object() || !devices.contains("requests")) return;
  const auto complete = [](json& request) {
    if (!request.contains("allocationMode")) request["allocationMode"] = "ExactCount";
    if (request["allocationMode"] == "ExactCount" && request.value("count", 0) == 0) {
      request["count"] = 1;
    }
  };
  for (json& request : devices["requests"]) {
    if (!request.is_object()) continue;
    if (const auto exactly = request.find("exactly");
        exactly != request.end() && exactly->is_object()) {
      complete(*exactly);
    }
    if (const auto alternatives = request.find("firstAvailable");
        alternatives != request.end() && alternatives->is_array()) {
      for (json& alternative : *alternatives) {
        if (alternative.is_object()) complete(alternative);
      }
    }
  }
}

// Driver, pool, device and share of a device: what tells entries of a claim apart.
std::string device_id(const json& entry) {
  return cat(text_at(entry, {"driver"}), "/", text_at(entry, {"pool"}), "/",
             text_at(entry, {"device"}), "/", text_at(entry, {"shareID"}));
}

std::set<std::string> allocated_devices(const json& claim) {
  std::set<std::string> out;
  const json& results = at_path(claim, {"status", "allocation", "devices", "results"});
  if (!results.is_array()) return out;
  for (const json& result : results) out.insert(device_id(result));
  return out;
}

void check_consumers(const json& claim, const json& old_claim, std::vector<Cause>& causes) {
  const json& consumers = at_path(claim, {"status", "reservedFor"});
  if (!consumers.is_array() || consumers.empty()) return;
  if (at_path(claim, {"status", "allocation"}).is_null()) {
    causes.push_back(
        forbidden_field("status.reservedFor", "may not be specified when `allocated` is not set"));
    return;
  }
  if (consumers.size() > kMostConsumers) {
    causes.push_back({.reason = "FieldValueTooMany",
                      .message = cat("Too many: ", consumers.size(), ": must have at most ",
                                     kMostConsumers, " items"),
                      .field = "status.reservedFor"});
    return;
  }
  std::set<std::string> seen;
  for (std::size_t i = 0; i < consumers.size(); ++i) {
    const std::string field = cat("status.reservedFor[", i, "]");
    for (const char* required : {"resource", "name", "uid"}) {
      if (text_at(consumers[i], {required}).empty()) {
        causes.push_back(required_field(cat(field, ".", required)));
      }
    }
    if (!seen.insert(text_at(consumers[i], {"uid"})).second) {
      causes.push_back({.reason = "FieldValueDuplicate",
                        .message = cat("Duplicate value: ", consumers[i].dump()),
                        .field = field});
    }
  }
  if (!is_being_deleted(claim)) return;
  const json& before = at_path(old_claim, {"status", "reservedFor"});
  const bool grew = std::ranges::any_of(consumers, [&](const json& consumer) {
    return !before.is_array() || std::ranges::find(before, consumer) == before.end();
  });
  if (grew) {
    causes.push_back(forbidden_field("status.reservedFor",
                                     "new entries may not be added while "
                                     "`deallocationRequested` or `deletionTimestamp` are set"));
  }
}

void check_allocation(const json& claim, const json& old_claim, std::vector<Cause>& causes) {
  const json& before = at_path(old_claim, {"status", "allocation"});
  const json& after = at_path(claim, {"status", "allocation"});
  if (!before.is_null() && !after.is_null() && before != after) {
    causes.push_back(invalid_value("status.allocation", after.dump(), "field is immutable"));
  }
  if (!before.is_null() || !after.is_object()) return;
  if (const json& selector = at_path(after, {"nodeSelector"}); !selector.is_null()) {
    const auto wrong = node_selector_causes(selector, "status.allocation.nodeSelector");
    causes.insert(causes.end(), wrong.begin(), wrong.end());
  }
  const json& results = at_path(after, {"devices", "results"});
  if (!results.is_array()) return;
  const std::set<std::string> names = request_names(at_path(claim, {"spec", "devices"}));
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::string field = cat("status.allocation.devices.results[", i, "]");
    for (const char* required : {"request", "driver", "pool", "device"}) {
      if (text_at(results[i], {required}).empty()) {
        causes.push_back(required_field(cat(field, ".", required)));
      }
    }
    const std::string& request = text_at(results[i], {"request"});
    if (!request.empty() && !names.contains(request)) {
      causes.push_back(invalid_value(cat(field, ".request"), cat("\"", request, "\""),
                                     "must be the name of a request in the claim or the name of a "
                                     "request and a subrequest separated by '/'"));
    }
  }
}

void check_device_status(const json& claim, std::vector<Cause>& causes) {
  const json& devices = at_path(claim, {"status", "devices"});
  if (!devices.is_array()) return;
  const std::set<std::string> allocated = allocated_devices(claim);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const std::string field = cat("status.devices[", i, "]");
    if (!allocated.contains(device_id(devices[i]))) {
      causes.push_back(
          invalid_value(field, devices[i].dump(), "must be an allocated device in the claim"));
    }
    const json& conditions = at_path(devices[i], {"conditions"});
    if (conditions.is_array() && conditions.size() > 8) {
      causes.push_back(
          {.reason = "FieldValueTooMany",
           .message = cat("Too many: ", conditions.size(), ": must have at most 8 items"),
           .field = cat(field, ".conditions")});
    }
  }
}

}  // namespace

void default_claim(const Kind& kind, json& object) {
  if (kind.kind != "ResourceClaim" && kind.kind != "ResourceClaimTemplate") return;
  json* spec = object.contains("spec") ? &object["spec"] : nullptr;
  if (kind.kind == "ResourceClaimTemplate" && spec != nullptr) {
    spec = spec->is_object() && spec->contains("spec") ? &(*spec)["spec"] : nullptr;
  }
  if (spec == nullptr || !spec->is_object() || !spec->contains("devices")) return;
  default_requests((*spec)["devices"]);
}

void drop_deallocated_devices(const json& old_claim, json& claim) {
  if (!at_path(claim, {"status", "devices"}).is_array()) return;
  const std::set<std::string> before = allocated_devices(old_claim);
  const std::set<std::string> after = allocated_devices(claim);
  json kept = json::array();
  for (json& device : claim["status"]["devices"]) {
    const std::string id = device_id(device);
    if (!before.contains(id) || after.contains(id)) kept.push_back(std::move(device));
  }
  if (kept.empty()) {
    claim["status"].erase("devices");
  } else {
    claim["status"]["devices"] = std::move(kept);
  }
}

std::vector<Cause> claim_causes(const Call& call, const json& claim, const json* old_claim) {
  if (old_claim == nullptr) {
    return claim_spec_causes(call, at_path(claim, {"spec", "devices"}), "spec.devices");
  }
  std::vector<Cause> causes;
  if (at_path(claim, {"spec"}) != at_path(*old_claim, {"spec"})) {
    causes.push_back(invalid_value("spec", at_path(claim, {"spec"}).dump(), "field is immutable"));
  }
  if (call.info.subresource != "status") return causes;
  causes = status_authorization_causes(call, claim, *old_claim);
  check_consumers(claim, *old_claim, causes);
  check_device_status(claim, causes);
  check_allocation(claim, *old_claim, causes);
  return causes;
}

std::vector<Cause> claim_template_causes(const Call& call, const json& claim_template,
                                         const json* old_template) {
  if (old_template == nullptr) {
    return claim_spec_causes(call, at_path(claim_template, {"spec", "spec", "devices"}),
                             "spec.spec.devices");
  }
  if (at_path(claim_template, {"spec"}) == at_path(*old_template, {"spec"})) return {};
  return {invalid_value("spec", at_path(claim_template, {"spec"}).dump(), "field is immutable")};
}

}  // namespace cdom::sandbox::server
