// The field tables of resource.k8s.io, in the shapes of v1.
#pragma once

#include "compute_domain/api/resource.h"
#include "fields.h"
#include "meta_fields.h"

namespace cdom::api {

// CEL expressions, each in {"cel": {"expression": …}}.
struct AsCelSelector {
  static void read(Decoding& decoding, const JsonView& json, std::string& out);
  static void write(Json& json, const std::string& expression);
};

// JSON of any shape, kept as its text: as it stands where it was read, so that it is never longer
// there than here, and a field that comes twice comes twice. An API server keeps it byte for byte
// (runtime.RawExtension).
struct AsJsonText {
  static Wanted wanted() { return {.as_text = true}; }
  static void read(Decoding& decoding, const JsonView& json, std::string& out);
  static void write(Json& json, const std::string& text);
};

// A configuration with the "source" that only an allocation has.
struct AsAllocatedConfig {
  static Wanted wanted();
  static void read(Decoding& decoding, const JsonView& json, OpaqueConfig& out);
  static void write(Json& json, const OpaqueConfig& config);
};

// The node of a NodeSelector that names exactly one; "" for every other selector.
struct AsOneNode {
  static void read(Decoding& decoding, const JsonView& json, std::string& node);
  static void write(Json& json, const std::string& node);
};

// The clique of a NodeSelector that names exactly one, by the label of its nodes; "" for every
// other selector.
struct AsClique {
  static void read(Decoding& decoding, const JsonView& json, std::string& clique);
  static void write(Json& json, const std::string& clique);
};

// An attribute is an object with one member, named after the type of its value.
struct AsAttribute {
  static void read(Decoding& decoding, const JsonView& json, AttributeValue& out);
  static void write(Json& json, const AttributeValue& value);
};

template <>
inline constexpr auto kFields<DeviceRequest> =
    std::tuple{field("name", &DeviceRequest::name, Presence::Always),
               field("exactly.deviceClassName", &DeviceRequest::device_class),
               field<ListOf<AsCelSelector>>("exactly.selectors", &DeviceRequest::selectors),
               field("exactly.adminAccess", &DeviceRequest::admin_access)};

template <>
inline constexpr auto kFields<OpaqueConfig> = std::tuple{
    field("requests", &OpaqueConfig::requests), field("opaque.driver", &OpaqueConfig::driver),
    field<AsJsonText>("opaque.parameters", &OpaqueConfig::parameters)};

template <>
inline constexpr auto kFields<ResourceClaimSpec> =
    std::tuple{field("devices.requests", &ResourceClaimSpec::requests),
               field("devices.config", &ResourceClaimSpec::configs)};

template <>
inline constexpr auto kFields<AllocatedDevice> =
    std::tuple{field("request", &AllocatedDevice::request, Presence::Always),
               field("driver", &AllocatedDevice::driver, Presence::Always),
               field("pool", &AllocatedDevice::pool, Presence::Always),
               field("device", &AllocatedDevice::device, Presence::Always),
               field("adminAccess", &AllocatedDevice::admin_access)};

template <>
inline constexpr auto kFields<Allocation> =
    std::tuple{field("devices.results", &Allocation::devices),
               field<ListOf<AsAllocatedConfig>>("devices.config", &Allocation::configs),
               field<AsOneNode>("nodeSelector", &Allocation::node)};

template <>
inline constexpr auto kFields<ClaimConsumer> =
    std::tuple{field("resource", &ClaimConsumer::resource, Presence::Always),
               field("name", &ClaimConsumer::name, Presence::Always),
               field("uid", &ClaimConsumer::uid, Presence::Always)};

template <>
inline constexpr auto kFields<ResourceClaim> =
    std::tuple{field("metadata", &ResourceClaim::meta, Presence::Always),
               field("spec", &ResourceClaim::spec, Presence::Always),
               field("status.allocation", &ResourceClaim::allocation),
               field("status.reservedFor", &ResourceClaim::reserved_for)};

template <>
inline constexpr auto kFields<ResourceClaimTemplate> =
    std::tuple{field("metadata", &ResourceClaimTemplate::meta, Presence::Always),
               field("spec.metadata.labels", &ResourceClaimTemplate::claim_labels),
               field("spec.spec", &ResourceClaimTemplate::spec, Presence::Always)};

template <>
inline constexpr auto kFields<Device> =
    std::tuple{field("name", &Device::name, Presence::Always),
               field<MapOf<AsAttribute>>("attributes", &Device::attributes)};

template <>
inline constexpr auto kFields<ResourceSlice> =
    std::tuple{field("metadata", &ResourceSlice::meta, Presence::Always),
               field("spec.driver", &ResourceSlice::driver, Presence::Always),
               field("spec.pool.name", &ResourceSlice::pool, Presence::Always),
               field("spec.pool.generation", &ResourceSlice::pool_generation, Presence::Always),
               field("spec.pool.resourceSliceCount", &ResourceSlice::pool_slices, Presence::Always),
               field("spec.nodeName", &ResourceSlice::node),
               field<AsClique>("spec.nodeSelector", &ResourceSlice::clique),
               field("spec.devices", &ResourceSlice::devices, Presence::Always)};

template <>
inline constexpr auto kFields<DeviceClass> =
    std::tuple{field("metadata", &DeviceClass::meta, Presence::Always),
               field<ListOf<AsCelSelector>>("spec.selectors", &DeviceClass::selectors)};

}  // namespace cdom::api
