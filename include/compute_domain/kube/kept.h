// Kept: the two ways in which a Store keeps its objects.
//
// As they are, for the few and for the large; or packed, for those of which a cluster has a hundred
// thousand: such an object takes a twentieth of the memory, and is unpacked for each who asks for
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "compute_domain/api/packing.h"
#include "compute_domain/base/alike_bytes.h"
#include "compute_domain/base/shared_bytes.h"

namespace cdom::kube {

// How two states of an object differ, as far as it can be seen without looking into them.
enum class Difference { None, Version, Unknown };

// The number of the place where an object lies in its store.
using Slot = std::uint32_t;

// A form says what is handed around of an object, Kept, of which `false` is none; and what they lie
// on, a Shelf, where the slots up to some number are free or taken. A copy of a shelf shows what
// was there when it was made, and is cheap.
template <class T>
struct AsIs {
  using Kept = std::shared_ptr<const T>;  // or null

  static Kept keep(const std::shared_ptr<const T>& object) { return object; }
  static std::shared_ptr<const T> open(const Kept& kept) { return kept; }
  static api::PackedName name_of(const Kept& kept) { return {kept->meta.ns, kept->meta.name}; }
  static Difference difference(const Kept& /*a*/, const Kept& /*b*/) { return Difference::Unknown; }

  class Shelf {
   public:
    [[nodiscard]] Kept at(Slot slot) const { return slots_[slot]; }
    // Of one that is taken; valid as long as nothing changes here and `room` is as it is.
    [[nodiscard]] api::PackedName name_at(Slot slot, std::string& /*room*/) const {
      return name_of(slots_[slot]);
    }
    void set(Slot slot, const Kept& object) {
      if (slot >= slots_.size()) slots_.resize(slot + 1);
      slots_[slot] = object;
    }
    void clear(Slot slot) { slots_[slot] = nullptr; }

   private:
    std::deque<Kept> slots_;
  };
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

  class Shelf {
   public:
    [[nodiscard]] Kept at(Slot slot) const { return slots_.at(slot); }
    [[nodiscard]] api::PackedName name_at(Slot slot, std::string& room) const {
      slots_.read_begin(slot, kMostNames, room);
      if (!api::holds_name(room)) slots_.read_begin(slot, room.max_size(), room);
      return api::name_in(room);
    }
    void set(Slot slot, const Kept& object) { slots_.set(slot, object.view()); }
    void clear(Slot slot) { slots_.clear(slot); }

   private:
    // So far most names reach.
    static constexpr std::size_t kMostNames = 96;

    base::AlikeBytes slots_;
  };
};

}  // namespace cdom::kube
