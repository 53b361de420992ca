// Stores: everything that the controller reads, with the indexes that it reads by.
//
// The same view serves the running controller (its informers own the stores) and the dry run (which
// fills stores from files). Thread-safe for reading.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "compute_domain/api/kind.h"
#include "compute_domain/api/packing.h"
#include "compute_domain/base/shared_bytes.h"
#include "compute_domain/core/membership.h"
#include "compute_domain/core/world.h"
#include "compute_domain/kube/store.h"

namespace cdom::api {
// A list that is packed, of its parts.
template <>
base::SharedBytes pack(const core::StoredList& stored);
template <>
core::StoredList unpack(std::string_view bytes);
}  // namespace cdom::api

namespace cdom::controller {

template <class... Kind>
struct KindList {};
// A new kind to watch: its type here and its place in Stores, both last, and Triggers::on_change()
// for it; in src/controller/cache/stores.cpp its indexes, and what is trimmed, where it is not what
// is trimmed of any kind. informers.h beside it says when not all objects of a kind are wanted, or
// none without an option, or somebody is to hear of those that cannot be read.
using WatchedKinds = KindList<api::ComputeDomain, api::ResourceClaim, api::ResourceClaimTemplate,
                              api::ConfigMap, api::ComputeDomainNode, api::Node, api::ResourceSlice,
                              api::Pod, api::ComputeDomainClique>;

// What is stored of an object: the object itself, trimmed; for a node list, the decoded text.
template <class T>
struct StoredType {
  using Type = T;
};
template <>
struct StoredType<api::ConfigMap> {
  using Type = core::StoredList;
};
template <class T>
using Stored = typename StoredType<T>::Type;

// Of these a cluster has as many as nodes: they are kept packed.
template <class T>
inline constexpr bool kIsPacked = false;
template <>
inline constexpr bool kIsPacked<api::ResourceClaim> = true;
template <>
inline constexpr bool kIsPacked<api::ComputeDomainNode> = true;
template <>
inline constexpr bool kIsPacked<api::Node> = true;
template <>
inline constexpr bool kIsPacked<api::ResourceSlice> = true;
template <>
inline constexpr bool kIsPacked<api::Pod> = true;
// Whether more than its own keys read it: the list of a clique and the reservations; domains that
// wait for seats or for a clique, are being deleted, or come and go with their workload.
bool is_read_by_many(const core::StoredList& stored);
bool is_read_by_many(const api::ComputeDomain& domain);
inline bool is_read_by_many(const api::ResourceClaimTemplate& /*object*/) { return false; }

// Of domains a cluster has fewer than nodes, but they and their lists name all of those. What is
// read for itself is packed. What many read stays as it is, and so does what is long: to unpack it
// would cost them more than it takes, and a tenant can write it.
template <class T>
struct PackedIfReadByFew {
  struct Kept {
    std::shared_ptr<const T> shared;
    base::SharedBytes packed;

    explicit operator bool() const { return shared || packed; }
  };

  static Kept keep(const std::shared_ptr<const T>& object) {
    if (is_read_by_many(*object)) return {object, {}};
    base::SharedBytes packed = kube::Packed<T>::keep(object);
    return packed.view().size() > kLong ? Kept{object, {}} : Kept{nullptr, std::move(packed)};
  }
  static std::shared_ptr<const T> open(const Kept& kept) {
    return kept.shared ? kept.shared : kube::Packed<T>::open(kept.packed);
  }
  static api::PackedName name_of(const Kept& kept) {
    return kept.shared ? kube::AsIs<T>::name_of(kept.shared)
                       : kube::Packed<T>::name_of(kept.packed);
  }
  static kube::Difference difference(const Kept& a, const Kept& b) {
    if (a.shared || b.shared) return kube::Difference::Unknown;
    return kube::Packed<T>::difference(a.packed, b.packed);
  }

  static constexpr std::size_t kLong = 16u << 10;

  class Shelf {
   public:
    [[nodiscard]] Kept at(kube::Slot slot) const {
      const auto it = shared_.find(slot);
      return it == shared_.end() ? Kept{nullptr, packed_.at(slot)} : Kept{it->second, {}};
    }
    [[nodiscard]] api::PackedName name_at(kube::Slot slot, std::string& room) const {
      const auto it = shared_.find(slot);
      return it == shared_.end() ? packed_.name_at(slot, room) : kube::AsIs<T>::name_of(it->second);
    }
    void set(kube::Slot slot, const Kept& object) {
      if (object.shared) {
        packed_.clear(slot);
        shared_[slot] = object.shared;
      } else {
        shared_.erase(slot);
        packed_.set(slot, object.packed);
      }
    }
    void clear(kube::Slot slot) {
      shared_.erase(slot);
      packed_.clear(slot);
    }

   private:
    std::map<kube::Slot, std::shared_ptr<const T>> shared_;
    typename kube::Packed<T>::Shelf packed_;
  };
};

// The store of what is stored.
template <class T>
struct StoreType {
  using Type =
      std::conditional_t<kIsPacked<T>, kube::Store<T, kube::Packed>, kube::Store<T, kube::AsIs>>;
};
template <>
struct StoreType<core::StoredList> {
  using Type = kube::Store<core::StoredList, PackedIfReadByFew>;
};
template <>
struct StoreType<api::ComputeDomain> {
  using Type = kube::Store<api::ComputeDomain, PackedIfReadByFew>;
};
template <>
struct StoreType<api::ResourceClaimTemplate> {
  using Type = kube::Store<api::ResourceClaimTemplate, PackedIfReadByFew>;
};
template <class T>
using StoreOf = typename StoreType<T>::Type;

// In the order of WatchedKinds.
struct Stores {
  const StoreOf<api::ComputeDomain>& domains;
  const StoreOf<api::ResourceClaim>& claims;
  const StoreOf<api::ResourceClaimTemplate>& templates;
  const StoreOf<core::StoredList>& lists;  // and the reservations
  const StoreOf<api::ComputeDomainNode>& reports;
  const StoreOf<api::Node>& nodes;
  const StoreOf<api::ResourceSlice>& slices;
  const StoreOf<api::Pod>& agents;
  const StoreOf<api::ComputeDomainClique>& cliques;
};

// Names of indexes, and the indexes themselves.
inline constexpr char kByUid[] = "uid";              // ComputeDomain: its own UID
inline constexpr char kByTemplate[] = "template";    // ComputeDomain: "ns/name" of its template
inline constexpr char kByNamespace[] = "namespace";  // ComputeDomain
inline constexpr char kWithPodsIn[] = "with-pods";  // ComputeDomain: its namespace, if what pods do
                                                    // there can change what becomes of it
inline constexpr char kByWorkload[] = "workload";   // ComputeDomain: workload_in()
inline constexpr char kByPlacement[] =
    "placement";  // ComputeDomain: kSingle if it wants one clique
inline constexpr char kSingle[] = "Single";
inline constexpr char kByWaiting[] =
    "waiting";  // ComputeDomain: kForSeats if its status counts them
inline constexpr char kForSeats[] = "seats";
inline constexpr char kByDeletion[] = "deletion";  // ComputeDomain: kDeleting if it is deleted
inline constexpr char kDeleting[] = "deleting";
// Claims, templates, lists: UID of the domain, of a clique's list those that have a channel in it,
// of a template the one of its label, which proves nothing, of a ComputeDomainClique the one in its
// name.
inline constexpr char kByDomain[] = "domain";
// Claims that name no domain, or wrongly: their namespace, and their own UID. No text that a user
// writes is a value of these.
inline constexpr char kUnnamedIn[] = "unnamed-in";
inline constexpr char kUnnamedByUid[] = "unnamed-by-uid";
// Reports of nodes that isolate by channel; slices of nodes: cliques of their seats.
inline constexpr char kByClique[] = "clique";
inline constexpr char kByShared[] = "shared";  // claims: kIsShared if allocated for several nodes
inline constexpr char kIsShared[] = "shared";
inline constexpr char kByNode[] = "node";  // claims, lists, slices, agents: names of nodes

// The cliques of a node's seats; none for the slice that a clique shares.
std::set<std::string> cliques_of_devices(const api::ResourceSlice& slice);

// The workload with this id in a namespace: a key of kByWorkload. The id is a label, so that a
// domain of any namespace may have it.
std::string workload_in(const std::string& ns, const std::string& id);

// None, unless it is said here.
template <class T>
typename kube::Store<T>::Indexes indexes_of() {
  return {};
}
template <>
kube::Store<api::ComputeDomain>::Indexes indexes_of<api::ComputeDomain>();
template <>
kube::Store<api::ResourceClaim>::Indexes indexes_of<api::ResourceClaim>();
template <>
kube::Store<api::ResourceClaimTemplate>::Indexes indexes_of<api::ResourceClaimTemplate>();
template <>
kube::Store<core::StoredList>::Indexes indexes_of<core::StoredList>();
template <>
kube::Store<api::ComputeDomainNode>::Indexes indexes_of<api::ComputeDomainNode>();
template <>
kube::Store<api::ResourceSlice>::Indexes indexes_of<api::ResourceSlice>();
template <>
kube::Store<api::Pod>::Indexes indexes_of<api::Pod>();
template <>
kube::Store<api::ComputeDomainClique>::Indexes indexes_of<api::ComputeDomainClique>();

// Takes out of an object what no decision reads: a cluster has thousands of nodes, and claims of
// other drivers, and a user may write megabytes of labels. Its labels, annotations, finalizers and
// owners, unless it is said here.
void trim_meta(api::ObjectMeta& meta);
template <class T>
void trim(T& object) {
  trim_meta(object.meta);
}
void trim(api::ComputeDomain& domain);
void trim(api::ResourceClaim& claim);
void trim(api::ResourceClaimTemplate& object);
void trim(api::ComputeDomainNode& report);
void trim(api::ResourceSlice& slice);
void trim(api::Node& node);
void trim(api::ComputeDomainClique& object);

// What is stored of an object that comes.
template <class T>
Stored<T> stored(T object) {
  trim(object);
  return object;
}
// The text of a ConfigMap is decoded once.
template <>
core::StoredList stored(api::ConfigMap map);

// Stores that are filled by hand: from files, and by tests.
template <class Kinds>
class FilledStoresOf;
template <class... T>
class FilledStoresOf<KindList<T...>> {
 public:
  FilledStoresOf() : stores_(indexes_of<Stored<T>>()...) {}

  template <class Kind>
  StoreOf<Stored<Kind>>& of() {
    return std::get<StoreOf<Stored<Kind>>>(stores_);
  }
  [[nodiscard]] Stores view() const { return {std::get<StoreOf<Stored<T>>>(stores_)...}; }

 private:
  std::tuple<StoreOf<Stored<T>>...> stores_;
};
using FilledStores = FilledStoresOf<WatchedKinds>;

}  // namespace cdom::controller
