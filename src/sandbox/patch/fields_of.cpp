#include "sandbox/patch/fields_of.h"

#include <map>
#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"

namespace cdom::sandbox::patch {

namespace {

using nlohmann::json;
using Kind = MergeRule::Kind;

// Stops a strict walk; caught in fields_of().
struct Refusal {
  std::string message;
};

std::string printed(const Path& path) {
  std::string out;
  for (const std::string& step : path) out += step == kItem ? step : "." + step;
  return out;
}

// How a walk takes what an applied configuration and a stored object say.
enum class Source { Configuration, Stored };

class Walk {
 public:
  Walk(const MergeRules& rules, Source source) : rules_(rules), source_(source) {}

  void collect(const json& value, FieldSet& set) {
    const MergeRule rule = rule_here(value);
    if (!value.is_structured() || value.empty() || rule.kind == Kind::Atomic) {
      set.is_member = true;
      return;
    }
    // Who only applies what a map holds does not own the map.
    if (source_ == Source::Stored && !path_.empty()) set.is_member = true;
    if (value.is_object()) {
      for (const auto& item : value.items()) {
        const std::string& name = item.key();
        below(name, [&] { collect(item.value(), set.children["f:" + name]); });
      }
    } else {
      collect_items(value, rule, set);
    }
  }

  // Adds to `changed` what differs between the two values at the same place.
  void compare(const json& before, const json& after, FieldSet& changed) {
    if (before == after) return;
    const MergeRule rule = rule_here(after);
    const bool is_whole = !after.is_structured() || after.empty() || rule.kind == Kind::Atomic;
    if (is_whole || before.type() != after.type()) {
      collect(after, changed);
    } else if (after.is_object()) {
      for (const auto& item : after.items()) {
        const std::string& name = item.key();
        const json& member = item.value();
        below(name, [&] {
          FieldSet child;
          const auto old_member = before.find(name);
          if (old_member == before.end()) {
            collect(member, child);
          } else {
            compare(*old_member, member, child);
          }
          if (!child.is_empty()) changed.children.emplace("f:" + name, std::move(child));
        });
      }
    } else {
      compare_items(before, after, rule, changed);
    }
  }

  // Adds to `lost` what only `before` has, of two values at the same place. Of what is equal
  // nothing is walked.
  void compare_lost(const json& before, const json& after, FieldSet& lost) {
    if (before == after) return;
    const MergeRule rule = rule_here(before);
    // Its place is a field of both.
    if (!before.is_structured() || before.empty() || rule.kind == Kind::Atomic) return;
    if (before.is_object() && after.is_object()) {
      for (const auto& item : before.items()) {
        const std::string& name = item.key();
        below(name, [&] {
          FieldSet child;
          const auto left = after.find(name);
          if (left == after.end()) {
            collect(item.value(), child);
          } else {
            compare_lost(item.value(), *left, child);
          }
          if (!child.is_empty()) lost.children.emplace("f:" + name, std::move(child));
        });
      }
      return;
    }
    FieldSet fields, left;
    collect(before, fields);
    collect(after, left);
    fields.subtract(left);
    lost.add(fields);
  }

 private:
  template <class Do>
  void below(std::string step, Do what) {
    path_.push_back(std::move(step));
    what();
    path_.pop_back();
  }

  MergeRule rule_here(const json& value) const {
    MergeRule rule = rules_.rule_of(path_, value.is_array());
    if (rule.kind == Kind::Unknown) {
      if (is_strict()) throw Refusal{base::cat(printed(path_), ": field not declared in schema")};
      rule.kind = Kind::Atomic;
    }
    return rule;
  }

  [[nodiscard]] bool is_strict() const { return source_ == Source::Configuration; }

  static std::string element_of(const json& item, const MergeRule& rule) {
    return rule.kind == Kind::Set ? "v:" + item.dump() : item_element(item, rule);
  }

  // Refuses what an applied list may not hold: an item without identity, or with another's.
  void check_element(const std::string& element, std::size_t index, const MergeRule& rule,
                     const FieldSet& seen) const {
    if (element.empty()) {
      throw Refusal{base::cat(printed(path_), ": element ", index, ": associative list with keys ",
                              "has an element that omits all key fields ", json(rule.keys).dump(),
                              " (and doesn't have default values for any key fields)")};
    }
    if (seen.children.contains(element)) {
      throw Refusal{
          base::cat(printed(path_), ": duplicate entries for key ", printed_element(element))};
    }
  }

  void collect_items(const json& list, const MergeRule& rule, FieldSet& set) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      const json& item = list[i];
      const std::string element = element_of(item, rule);
      if (is_strict()) check_element(element, i, rule, set);
      if (element.empty()) continue;
      FieldSet& child = set.children[element];
      if (rule.kind == Kind::Map && item.is_object() && !item.empty()) {
        below(std::string(kItem), [&] { collect(item, child); });
      }
      child.is_member = true;
    }
  }

  void compare_items(const json& before, const json& after, const MergeRule& rule,
                     FieldSet& changed) {
    std::map<std::string, const json*> old_items;  // of equal ones the first
    for (const json& item : before) old_items.try_emplace(element_of(item, rule), &item);
    for (const json& item : after) {
      const std::string element = element_of(item, rule);
      if (element.empty()) continue;
      const auto old_item = old_items.find(element);
      FieldSet child;
      if (old_item == old_items.end()) {
        if (rule.kind == Kind::Map) below(std::string(kItem), [&] { collect(item, child); });
        child.is_member = true;
      } else if (rule.kind == Kind::Map) {
        below(std::string(kItem), [&] { compare(*old_item->second, item, child); });
      }
      if (!child.is_empty()) changed.children[element].add(child);
    }
  }

  const MergeRules& rules_;
  Source source_;
  Path path_;
};

}  // namespace

std::string item_element(const json& item, const MergeRule& rule) {
  if (!item.is_object()) return "";
  json keys = json::object();
  bool has_any = false;
  for (const std::string& key : rule.keys) {
    if (const auto member = item.find(key); member != item.end()) {
      keys[key] = *member;
      has_any = true;
    } else if (const auto found = rule.key_defaults.find(key); found != rule.key_defaults.end()) {
      keys[key] = *found->second;
    }
  }
  return has_any ? "k:" + keys.dump() : "";
}

void drop_untracked(FieldSet& set) {
  for (const char* name : {"f:apiVersion", "f:kind"}) set.children.erase(name);
  const auto metadata = set.children.find("f:metadata");
  if (metadata == set.children.end()) return;
  metadata->second.is_member = false;
  for (const char* name : {"f:name", "f:namespace", "f:creationTimestamp", "f:selfLink", "f:uid",
                           "f:clusterName", "f:generation", "f:managedFields", "f:resourceVersion",
                           "f:deletionTimestamp", "f:deletionGracePeriodSeconds"}) {
    metadata->second.children.erase(name);
  }
  if (metadata->second.is_empty()) set.children.erase(metadata);
}

base::Result<FieldSet> fields_of(const json& object, const MergeRules& rules) {
  try {
    FieldSet set;
    Walk(rules, Source::Configuration).collect(object, set);
    drop_untracked(set);
    return set;
  } catch (const Refusal& refusal) {
    return base::Error{base::ErrorKind::Invalid, refusal.message};
  }
}

FieldSet stored_fields_of(const json& object, const MergeRules& rules) {
  FieldSet set;
  if (object.empty()) return set;
  Walk(rules, Source::Stored).collect(object, set);
  drop_untracked(set);
  return set;
}

FieldSet lost_fields(const json& before, const json& after, const MergeRules& rules) {
  FieldSet lost;
  if (before.empty()) return lost;
  Walk(rules, Source::Stored).compare_lost(before, after, lost);
  drop_untracked(lost);
  return lost;
}

FieldSet changed_fields(const json& before, const json& after, const MergeRules& rules) {
  FieldSet changed;
  Walk(rules, Source::Stored).compare(before, after, changed);
  drop_untracked(changed);
  return changed;
}

}  // namespace cdom::sandbox::patch
