#include "compute_domain/api/meta.h"

#include <algorithm>

#include "compute_domain/base/text.h"

namespace cdom::api {

namespace {

std::string value_or_empty(const Labels& labels, const std::string& key) {
  const auto found = labels.find(key);
  return found == labels.end() ? std::string{} : found->second;
}

}  // namespace

bool ObjectMeta::has_finalizer(const std::string& name_of_finalizer) const {
  return std::ranges::find(finalizers, name_of_finalizer) != finalizers.end();
}

std::string ObjectMeta::label(const std::string& key) const { return value_or_empty(labels, key); }

std::string ObjectMeta::annotation(const std::string& key) const {
  return value_or_empty(annotations, key);
}

ObjectName name_of(const ObjectMeta& meta) { return {meta.ns, meta.name}; }

std::string to_string(const ObjectName& name) {
  return name.ns.empty() ? name.name : base::cat(name.ns, '/', name.name);
}

const Condition* find_condition(const std::vector<Condition>& conditions, std::string_view type) {
  const auto found = std::ranges::find(conditions, type, &Condition::type);
  return found == conditions.end() ? nullptr : &*found;
}

}  // namespace cdom::api
