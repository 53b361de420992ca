#include "sandbox/patch/apply_merge.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sandbox/patch/fields_of.h"
#include "sandbox/patch/list_order.h"

namespace cdom::sandbox::patch {

namespace {

using nlohmann::json;
using Kind = MergeRule::Kind;

class Merge {
 public:
  explicit Merge(const MergeRules& rules) : rules_(rules) {}

  void merge(json& live, const json& config) {
    const MergeRule rule = rules_.rule_of(path_, config.is_array());
    const bool is_whole = !config.is_structured() || rule.kind == Kind::Atomic ||
                          rule.kind == Kind::Unknown || live.type() != config.type();
    if (is_whole) {
      live = config;
    } else if (config.is_object()) {
      for (const auto& [name, member] : config.items()) {
        path_.push_back(name);
        merge(live[name], member);
        path_.pop_back();
      }
    } else {
      merge_list(live, config, rule);
    }
  }

 private:
  void merge_list(json& live, const json& config, const MergeRule& rule) {
    const auto same = [&](const json& left, const json& right) {
      return rule.kind == Kind::Set ? left == right
                                    : item_element(left, rule) == item_element(right, rule);
    };
    json theirs = json::array(), ours = json::array();
    for (const json& item : live) {
      const bool is_ours =
          std::ranges::any_of(config, [&](const json& other) { return same(item, other); });
      if (!is_ours) theirs.push_back(item);
    }
    path_.emplace_back(kItem);
    for (const json& item : config) {
      const auto found =
          std::ranges::find_if(live, [&](const json& other) { return same(other, item); });
      ours.push_back(found != live.end() ? *found : item);
      if (rule.kind == Kind::Map) merge(ours.back(), item);
    }
    path_.pop_back();
    live = merged_order(live, theirs, ours, same);
  }

  const MergeRules& rules_;
  Path path_;
};

const FieldSet& child_of(const FieldSet& set, const std::string& element) {
  static const FieldSet kNone;
  const auto child = set.children.find(element);
  return child == set.children.end() ? kNone : child->second;
}

class Removal {
 public:
  explicit Removal(const MergeRules& rules) : rules_(rules) {}

  // True when nothing of `value` is left, so that its parent has to drop it.
  bool remove(json& value, const FieldSet& dropped, const FieldSet& kept) {
    if (dropped.is_member && kept.is_empty()) return true;
    if (!value.is_structured() || dropped.children.empty()) return false;
    if (value.is_object()) {
      remove_members(value, dropped, kept);
    } else {
      remove_items(value, dropped, kept);
    }
    return value.empty() && !kept.is_member;
  }

 private:
  void remove_members(json& object, const FieldSet& dropped, const FieldSet& kept) {
    for (auto member = object.begin(); member != object.end();) {
      const std::string element = "f:" + member.key();
      path_.push_back(member.key());
      const bool is_gone = remove(*member, child_of(dropped, element), child_of(kept, element));
      path_.pop_back();
      member = is_gone ? object.erase(member) : std::next(member);
    }
  }

  void remove_items(json& list, const FieldSet& dropped, const FieldSet& kept) {
    const MergeRule rule = rules_.rule_of(path_, true);
    path_.emplace_back(kItem);
    std::erase_if(list.get_ref<json::array_t&>(), [&](json& item) {
      const std::string element =
          rule.kind == Kind::Set ? "v:" + item.dump() : item_element(item, rule);
      return remove(item, child_of(dropped, element), child_of(kept, element));
    });
    path_.pop_back();
  }

  const MergeRules& rules_;
  Path path_;
};

}  // namespace

void merge_config(json& live, const json& config, const MergeRules& rules) {
  Merge(rules).merge(live, config);
}

void remove_fields(json& object, const FieldSet& dropped, const FieldSet& kept,
                   const MergeRules& rules) {
  Removal(rules).remove(object, dropped, kept);
}

}  // namespace cdom::sandbox::patch
