// Which part of the stored object a part of the new object is to be compared with.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sandbox/schema/schema.h"

namespace cdom::sandbox::schema {

// The member of the same name, or null.
const nlohmann::json* old_member(const nlohmann::json* old_object, const std::string& name);

// The items of the stored list by their keys. It must outlive this.
class OldItems {
 public:
  OldItems(const nlohmann::json* old_list, const Schema& list);

  // The first item with the same keys; null for lists that are not of type map, whose items have no
  // identity.
  [[nodiscard]] const nlohmann::json* of(const nlohmann::json& item) const;

 private:
  const Schema& list_;
  std::map<std::string, const nlohmann::json*> by_keys_;  // as texts
};

// The values of an item's list-map-keys, as an object.
nlohmann::json keys_of(const nlohmann::json& item, const Schema& list);

}  // namespace cdom::sandbox::schema
