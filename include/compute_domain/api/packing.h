// Packing: an object in some hundred bytes, for who keeps a hundred thousand of them.
//
// unpack(pack(x)) is x, with all of its fields; equal objects give equal bytes. The bytes are for
// the process that made them, not to be written anywhere: another build may have others.
#pragma once

#include <string_view>

#include "compute_domain/api/compute_domain_node.h"
#include "compute_domain/api/core.h"
#include "compute_domain/api/resource.h"
#include "compute_domain/base/shared_bytes.h"

namespace cdom::api {

// Of ComputeDomain, ComputeDomainNode, Event, Node, Pod, ResourceClaim, ResourceClaimTemplate,
// ResourceSlice; ObjectMeta, ConfigMap, NodeList.
template <class T>
base::SharedBytes pack(const T& object);
template <class T>
T unpack(std::string_view bytes);

// What can be read of packed bytes as they are, whatever their kind.
struct PackedName {
  std::string_view ns, name;  // into the bytes, or for ever

  friend auto operator<=>(const PackedName&, const PackedName&) = default;
};
PackedName name_in(std::string_view bytes);
// Whether the name ends in what may be only their beginning.
bool holds_name(std::string_view begin);
// Two states of one object that differ in nothing but their resource version, if in that: most of
// what a watch brings, as what changes most often is what nobody keeps.
bool is_same_but_for_version(std::string_view a, std::string_view b);

}  // namespace cdom::api
