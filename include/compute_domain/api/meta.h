// ObjectMeta: what every Kubernetes object carries, as plain values.
//
// The types of this module keep only the fields that this project reads; a write is a patch of what
// it owns, so that fields which are not here are never lost. Values; compare equal when they are.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "compute_domain/base/clock.h"

namespace cdom::api {

using Labels = std::map<std::string, std::string>;

struct OwnerReference {
  std::string api_version, kind, name, uid;
  bool controller = false;

  friend auto operator<=>(const OwnerReference&, const OwnerReference&) = default;
};

struct ObjectMeta {
  std::string name;
  std::string ns;  // empty for cluster-scoped objects
  std::string uid;
  std::string resource_version;
  std::int64_t generation = 0;
  std::optional<base::Time> creation_time;
  std::optional<base::Time> deletion_time;
  Labels labels;
  Labels annotations;
  std::vector<std::string> finalizers;
  std::vector<OwnerReference> owners;

  [[nodiscard]] bool is_deleting() const { return deletion_time.has_value(); }
  [[nodiscard]] bool has_finalizer(const std::string& name_of_finalizer) const;
  // The value of a label, or "".
  [[nodiscard]] std::string label(const std::string& key) const;
  [[nodiscard]] std::string annotation(const std::string& key) const;

  friend bool operator==(const ObjectMeta&, const ObjectMeta&) = default;
};

// Namespace and name: what an object is called. The namespace of a cluster-scoped one is empty.
struct ObjectName {
  std::string ns;
  std::string name;

  friend auto operator<=>(const ObjectName&, const ObjectName&) = default;
};

ObjectName name_of(const ObjectMeta& meta);
// "team-a/train", or "n01" without a namespace.
std::string to_string(const ObjectName& name);

enum class ConditionStatus { True, False, Unknown };

// metav1.Condition. `last_transition` changes only when `status` does.
struct Condition {
  std::string type;
  ConditionStatus status = ConditionStatus::Unknown;
  std::string reason;
  std::string message;
  base::Time last_transition{};
  std::int64_t observed_generation = 0;
  // The JSON that the server gave, which is written back unchanged: another writer's condition may
  // have fields and fractions of seconds that this struct lacks. Empty for a condition made here.
  std::string text = {};

  // Compares all but `text`.
  friend bool operator==(const Condition& a, const Condition& b) {
    return std::tie(a.type, a.status, a.reason, a.message, a.last_transition,
                    a.observed_generation) == std::tie(b.type, b.status, b.reason, b.message,
                                                       b.last_transition, b.observed_generation);
  }
};

const Condition* find_condition(const std::vector<Condition>& conditions, std::string_view type);

}  // namespace cdom::api
