#include <algorithm>
#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/patch/list_order.h"
#include "sandbox/patch/patch.h"

namespace cdom::sandbox::patch {

namespace {

using nlohmann::json;
using Kind = MergeRule::Kind;

constexpr std::string_view kDirective = "$patch";
constexpr std::string_view kRetainKeys = "$retainKeys";
constexpr std::string_view kSetElementOrder = "$setElementOrder/";
constexpr std::string_view kDeletePrimitives = "$deleteFromPrimitiveList/";

// Stops the merge; caught in apply_strategic_merge_patch().
struct MergeRefusal {
  std::string message;
};

bool contains(const json& list, const json& value) {
  return std::ranges::find(list, value) != list.end();
}

std::string directive_of(const json& patch) {
  if (!patch.is_object() || !patch.contains(kDirective)) return "";
  const json& directive = patch.at(std::string(kDirective));
  if (directive == "replace" || directive == "delete" || directive == "merge") return directive;
  throw MergeRefusal{
      base::cat("unknown patch type: ", directive.dump(), " in map: ", patch.dump())};
}

bool has_orders(const json& patch) {
  const auto items = patch.items();
  return std::any_of(items.begin(), items.end(),
                     [](const auto& member) { return member.key().starts_with(kSetElementOrder); });
}

class StrategicMerge {
 public:
  explicit StrategicMerge(const MergeRules& rules) : rules_(rules) {}

  void merge_object(json& original, json patch) {
    const std::string directive = directive_of(patch);
    patch.erase(std::string(kDirective));
    if (directive == "delete") {
      original = json::object();
      return;
    }
    if (directive == "replace" || !original.is_object()) original = json::object();

    if (patch.contains(kRetainKeys)) {
      retain_keys(original, patch);
      patch.erase(std::string(kRetainKeys));
    }
    for (const auto& [key, value] : patch.items()) {
      if (key.starts_with(kDeletePrimitives)) {
        delete_primitives(original, key.substr(kDeletePrimitives.size()), value);
      }
    }
    const json before = has_orders(patch) ? original : json();
    for (const auto& [key, value] : patch.items()) {
      if (!key.starts_with('$')) merge_field(original, key, value);
    }
    for (const auto& [key, value] : patch.items()) {
      if (key.starts_with(kSetElementOrder)) {
        const std::string field = key.substr(kSetElementOrder.size());
        set_order(original, before.value(field, json::array()), field, value);
      } else if (key.starts_with('$') && !key.starts_with(kDeletePrimitives)) {
        throw MergeRefusal{base::cat("unknown directive ", key)};
      }
    }
  }

 private:
  // Keeps only what the patch's author knows of; a discriminated union changes its member so.
  static void retain_keys(json& original, const json& patch) {
    const json& retained = patch.at(std::string(kRetainKeys));
    for (auto member = original.begin(); member != original.end();) {
      member = contains(retained, member.key()) ? std::next(member) : original.erase(member);
    }
  }

  static void delete_primitives(json& original, const std::string& field, const json& values) {
    const auto list = original.find(field);
    if (list == original.end() || !list->is_array()) return;
    std::erase_if(list->get_ref<json::array_t&>(),
                  [&](const json& value) { return contains(values, value); });
  }

  void merge_field(json& original, const std::string& field, const json& value) {
    if (value.is_null()) {
      original.erase(field);
      return;
    }
    path_.push_back(field);
    json& target = original[field];
    if (value.is_object()) {
      merge_object(target, value);
    } else if (value.is_array()) {
      merge_list(target, value);
    } else {
      target = value;
    }
    path_.pop_back();
  }

  void merge_list(json& original, const json& patch) {
    const MergeRule rule = rules_.rule_of(path_, true);
    if (!original.is_array() || rule.kind == Kind::Atomic || rule.kind == Kind::Unknown) {
      original = json::array();
    }
    if (rule.kind == Kind::Map) {
      merge_items(original, patch, rule.keys.front());
    } else {
      for (const json& value : patch) {
        if (rule.kind != Kind::Set || !contains(original, value)) original.push_back(value);
      }
    }
  }

  void merge_items(json& original, const json& patch, const std::string& key) {
    const bool replaces = std::ranges::any_of(patch, [&](const json& item) {
      return directive_of(item) == "replace" && !item.contains(key);
    });
    if (replaces) original = json::array();
    path_.emplace_back(kItem);
    for (const json& item : patch) {
      if (!item.is_object() || !item.contains(key)) {
        if (directive_of(item) == "replace") continue;
        throw MergeRefusal{
            base::cat("map: ", item.dump(), " does not contain declared merge key: ", key)};
      }
      merge_item(original, item, key);
    }
    path_.pop_back();
  }

  void merge_item(json& original, const json& item, const std::string& key) {
    const auto found = std::ranges::find_if(original, [&](const json& candidate) {
      return candidate.is_object() && candidate.value(key, json()) == item.at(key);
    });
    if (directive_of(item) == "delete") {
      if (found != original.end()) original.erase(found);
      return;
    }
    merge_object(found != original.end() ? *found : original.emplace_back(json::object()), item);
  }

  // `before` is the list as the server had it.
  void set_order(json& original, const json& before, const std::string& field, const json& order) {
    const auto list = original.find(field);
    if (list == original.end() || !list->is_array()) return;
    path_.push_back(field);
    const MergeRule rule = rules_.rule_of(path_, true);
    path_.pop_back();
    const std::string key = rule.kind == Kind::Map ? rule.keys.front() : "";
    const auto same = [&](const json& left, const json& right) {
      if (key.empty() || !left.is_object() || !right.is_object()) return left == right;
      return left.value(key, json()) == right.value(key, json());
    };
    json theirs = json::array(), ours = json::array();
    for (const json& wanted : order) {
      const auto found =
          std::ranges::find_if(*list, [&](const json& item) { return same(item, wanted); });
      if (found != list->end()) ours.push_back(*found);
    }
    for (const json& item : *list) {
      const bool is_ours =
          std::ranges::any_of(order, [&](const json& wanted) { return same(item, wanted); });
      if (!is_ours) theirs.push_back(item);
    }
    *list = merged_order(before, theirs, ours, same);
  }

  const MergeRules& rules_;
  Path path_;
};

}  // namespace

base::Result<void> apply_strategic_merge_patch(json& document, const json& patch,
                                               const MergeRules& rules) {
  if (!patch.is_object()) {
    return base::Error{base::ErrorKind::Invalid, "a strategic merge patch must be an object"};
  }
  try {
    json patched = document;
    StrategicMerge(rules).merge_object(patched, patch);
    document = std::move(patched);
    return {};
  } catch (const MergeRefusal& refusal) {
    return base::Error{base::ErrorKind::Invalid, refusal.message};
  } catch (const json::exception& error) {
    return base::Error{base::ErrorKind::Invalid,
                       base::cat("the strategic merge patch cannot be applied: ", error.what())};
  }
}

}  // namespace cdom::sandbox::patch
