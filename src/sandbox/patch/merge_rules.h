// MergeRules: how each part of an object of one kind merges, for strategic merge patches and for
// server-side apply.
//
// A path is made of field names; kItem stands for "any element of the list". Immutable.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/schema/schema.h"

namespace cdom::sandbox::patch {

inline constexpr std::string_view kItem = "[]";
using Path = std::vector<std::string>;

struct MergeRule {
  enum class Kind {
    Granular,  // an object: field by field; a scalar
    Atomic,    // replaced and owned as a whole
    Set,       // a list of scalars, each owned by itself
    Map,       // a list of objects told apart by `keys`
    Unknown,   // the schema does not declare this field
  };
  Kind kind = Kind::Granular;
  std::vector<std::string> keys;
  // What an absent key stands for ("protocol" of a port: "TCP"), by key.
  std::map<std::string, std::shared_ptr<const nlohmann::json>> key_defaults = {};
};

class MergeRules {
 public:
  virtual ~MergeRules() = default;
  // How the value at `path` merges, which is a list or else an object or a scalar.
  [[nodiscard]] virtual MergeRule rule_of(const Path& path, bool is_list) const = 0;
};

// For a custom resource, from its schema (x-kubernetes-list-type and so on).
std::unique_ptr<MergeRules> merge_rules_of(std::shared_ptr<const schema::Schema> schema);

// For the kinds that Kubernetes itself has, from a table (containers by name, conditions by type,
// finalizers as a set, tolerations atomic, …). Lists that the table does not name are atomic.
const MergeRules& built_in_merge_rules();

}  // namespace cdom::sandbox::patch
