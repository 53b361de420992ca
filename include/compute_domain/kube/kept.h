// Kept: the two ways in which a Store keeps its objects.
//
// As they are, for the few and for the large; or packed, for those of which a cluster has a hundred
// thousand: such an object takes a tenth of the memory, and is unpacked for each who asks for it.
#pragma once

#include <memory>
#include <string_view>

#include "compute_domain/api/packing.h"
#include "compute_domain/base/shared_bytes.h"

namespace cdom::kube {

// How two states of an object differ, as far as it can be seen without looking into them.
enum class Difference { None, Version, Unknown };

template <class T>
struct AsIs {
  using Kept = std::shared_ptr<const T>;  // or null

  static Kept keep(const std::shared_ptr<const T>& object) { return object; }
  static std::shared_ptr<const T> open(const Kept& kept) { return kept; }
  static api::PackedName name_of(const Kept& kept) { return {kept->meta.ns, kept->meta.name}; }
  static Difference difference(const Kept& /*a*/, const Kept& /*b*/) { return Difference::Unknown; }
};

// Of the kinds of api/packing.h.
template <class T>
struct Packed {
  using Kept = base::SharedBytes;

  static Kept keep(const std::shared_ptr<const T>& object) { return api::pack(*object); }
  static std::shared_ptr<const T> open(const Kept& kept) {
    return kept ? std::make_shared<const T>(api::unpack<T>(kept.view())) : nullptr;
  }
  static api::PackedName name_of(const Kept& kept) { return api::name_in(kept.view()); }
  static Difference difference(const Kept& a, const Kept& b) {
    if (!api::is_same_but_for_version(a.view(), b.view())) return Difference::Unknown;
    return a.view() == b.view() ? Difference::None : Difference::Version;
  }
};

}  // namespace cdom::kube
