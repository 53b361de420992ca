// Dynamic Resource Allocation, resource.k8s.io v1, v1beta2 and v1beta1 (KEP-4381), as far as it is
// used here. The codec turns every version into these shapes, which are those of v1.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compute_domain/api/meta.h"

namespace cdom::api {

struct DeviceRequest {
  std::string name;
  std::string device_class;
  std::vector<std::string> selectors;  // CEL expressions
  bool admin_access = false;

  friend bool operator==(const DeviceRequest&, const DeviceRequest&) = default;
};

// An opaque driver configuration; `parameters` is its JSON text, decoded by api/channel_config.h.
struct OpaqueConfig {
  std::vector<std::string> requests;  // empty: all
  std::string driver;
  std::string parameters;
  bool from_class = false;  // in an allocation: from the DeviceClass, not from the claim

  friend bool operator==(const OpaqueConfig&, const OpaqueConfig&) = default;
};

struct ResourceClaimSpec {
  std::vector<DeviceRequest> requests;
  std::vector<OpaqueConfig> configs;

  friend bool operator==(const ResourceClaimSpec&, const ResourceClaimSpec&) = default;
};

struct AllocatedDevice {
  std::string request;  // "main" or "main/sub"
  std::string driver, pool, device;
  bool admin_access = false;

  friend bool operator==(const AllocatedDevice&, const AllocatedDevice&) = default;
};

struct Allocation {
  std::vector<AllocatedDevice> devices;
  std::vector<OpaqueConfig> configs;
  // The one node of a node-local allocation; "" when it may be used from several.
  std::string node;

  friend bool operator==(const Allocation&, const Allocation&) = default;
};

struct ClaimConsumer {
  std::string resource;  // "pods"
  std::string name, uid;
  // The pod's node, and when it was made, where the reader of the pod has filled them in; no fields
  // of the API.
  std::string node = {};
  std::optional<base::Time> created = {};

  friend bool operator==(const ClaimConsumer&, const ClaimConsumer&) = default;
};

// Which ComputeDomain a claim is for, by its opaque configuration.
struct DomainRef {
  enum class Kind {
    None,           // the claim is not for this driver
    Named,          // it names the domain's UID
    Automatic,      // it names none: it is for the automatic domain of its workload
    Contradictory,  // it does both
    Invalid,        // it names what cannot be a UID
  };
  Kind kind = Kind::None;
  std::string uid;  // that it names; of an invalid one the beginning

  friend bool operator==(const DomainRef&, const DomainRef&) = default;
};

struct ResourceClaim {
  ObjectMeta meta;
  ResourceClaimSpec spec;
  std::optional<Allocation> allocation;
  std::vector<ClaimConsumer> reserved_for;
  // Where it has been read out of the configuration once and for all; no field of the API.
  std::optional<DomainRef> domain_ref = {};
  // The version in which the server gave it, one of Kind::versions: references to it use that one.
  std::string_view version = "v1";

  friend bool operator==(const ResourceClaim&, const ResourceClaim&) = default;
};

struct ResourceClaimTemplate {
  ObjectMeta meta;
  Labels claim_labels;  // spec.metadata.labels
  ResourceClaimSpec spec;

  friend bool operator==(const ResourceClaimTemplate&, const ResourceClaimTemplate&) = default;
};

using AttributeValue = std::variant<bool, std::int64_t, std::string>;

struct Device {
  std::string name;
  std::map<std::string, AttributeValue> attributes;

  friend bool operator==(const Device&, const Device&) = default;
};

struct ResourceSlice {
  ObjectMeta meta;
  std::string driver;
  std::string pool;
  std::int64_t pool_generation = 0;
  std::int64_t pool_slices = 1;
  std::string node;         // "" when the slice is not of one node
  std::string clique = {};  // whose nodes may use it, by their label kNodeCliqueLabel; else ""
  std::vector<Device> devices;

  friend bool operator==(const ResourceSlice&, const ResourceSlice&) = default;
};

struct DeviceClass {
  ObjectMeta meta;
  std::vector<std::string> selectors;

  friend bool operator==(const DeviceClass&, const DeviceClass&) = default;
};

}  // namespace cdom::api
