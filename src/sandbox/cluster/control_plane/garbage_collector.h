// GarbageCollector: owner references, as kube-controller-manager's garbage collector keeps them.
//
// An object goes when all its owners are gone: absent under their UID in its own namespace or among
// cluster-scoped objects; a live GET confirms each absence. An owner that is deleted in the
// foreground waits for the dependents that block it; one with finalizer `orphan` first loses its
// dependents' references. Owners of custom kinds are asked for again and again; those of other
// kinds that no informer follows, or in versions that are not served, count as present. One thread.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sandbox/cluster/json_client.h"
#include "sandbox/cluster/json_informer.h"
#include "sandbox/cluster/sync_next.h"

namespace cdom::sandbox {

class GarbageCollector : public Part {
 public:
  GarbageCollector(const kube::Client& client, std::vector<JsonInformer*> informers,
                   const base::Clock& clock);

  bool step() override;
  [[nodiscard]] std::optional<base::Duration> next_due() const override;

 private:
  struct Item {
    std::size_t informer = 0;
    api::ObjectName key;
    friend auto operator<=>(const Item&, const Item&) = default;
  };
  enum class Owner { Present, PresentUnfollowed, Absent, WaitsForDependents, Unknown };

  void see(std::size_t informer, const Change& change);
  void look_at_dependents(const std::string& owner_uid);
  Synced sync(const Item& item);
  Synced collect(const Item& item, const json& object);
  bool finish_foreground(const Item& item, const json& owner);
  bool orphan_dependents(const Item& item, const json& owner);
  bool drop_finalizer(const Item& item, const json& object, std::string_view finalizer);
  base::Result<Owner> owner_of(const Item& item, const json& reference);
  base::Result<Owner> owner_without_informer(const Item& item, const json& reference);
  [[nodiscard]] std::optional<std::size_t> informer_of(const json& reference) const;
  [[nodiscard]] const std::set<Item>& dependents_of(const std::string& uid) const;

  JsonClient objects_;
  const std::vector<JsonInformer*> informers_;
  kube::WorkQueue<Item> queue_;
  std::map<std::string, std::set<Item>> dependents_;  // by owner UID
};

}  // namespace cdom::sandbox
