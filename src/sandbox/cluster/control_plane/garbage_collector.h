// GarbageCollector: owner references, as kube-controller-manager's garbage collector keeps them.
//
// An object goes when all its owners are gone: absent under their UID in its own namespace or among
// cluster-scoped objects; a live GET confirms each absence. An owner that is deleted in the
// foreground waits for the dependents that block it; one with finalizer `orphan` first loses its
// dependents' references. Owners of custom kinds are asked for again and again; those of other
// kinds that are not mirrored, or in versions that are not served, count as present. One thread.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sandbox/cluster/agenda.h"
#include "sandbox/cluster/mirror.h"
#include "sandbox/cluster/objects.h"

namespace cdom::sandbox {

class GarbageCollector : public Part {
 public:
  GarbageCollector(http::Client& client, std::vector<Mirror*> mirrors, const base::Clock& clock);

  bool step() override;
  [[nodiscard]] std::optional<base::Duration> next_due() const override;

 private:
  struct Item {
    std::size_t mirror = 0;
    ObjectKey key;
    friend auto operator<=>(const Item&, const Item&) = default;
  };
  enum class Owner { Present, Absent, WaitsForDependents, Unknown };

  void see(std::size_t mirror, const Change& change);
  void look_at_dependents(const std::string& owner_uid);
  bool sync(const Item& item);
  bool collect(const Item& item, const json& object);
  bool finish_foreground(const Item& item, const json& owner);
  bool orphan_dependents(const Item& item, const json& owner);
  bool drop_finalizer(const Item& item, const json& object, std::string_view finalizer);
  base::Result<Owner> owner_of(const Item& item, const json& reference);
  base::Result<Owner> owner_without_mirror(const Item& item, const json& reference);
  [[nodiscard]] std::optional<std::size_t> mirror_of(const json& reference) const;
  [[nodiscard]] const std::set<Item>& dependents_of(const std::string& uid) const;

  Objects objects_;
  const base::Clock& clock_;
  const std::vector<Mirror*> mirrors_;
  Agenda<Item> agenda_;
  std::map<std::string, std::set<Item>> dependents_;  // by owner UID
};

}  // namespace cdom::sandbox
