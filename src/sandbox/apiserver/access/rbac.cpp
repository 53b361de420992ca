#include "sandbox/apiserver/access/rbac.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"

namespace cdom::sandbox {

namespace {

using nlohmann::json;

std::string text_in(const json& object, const char* field) {
  const auto found = object.find(field);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::vector<std::string> texts_in(const json& object, const char* field) {
  std::vector<std::string> out;
  const auto found = object.find(field);
  if (found == object.end() || !found->is_array()) return out;
  for (const json& text : *found) {
    if (text.is_string()) out.push_back(text);
  }
  return out;
}

const json& member(const json& object, const char* field) {
  static const json kNone = json::object();
  const auto found = object.find(field);
  return found != object.end() && found->is_structured() ? *found : kNone;
}

bool lists(const std::vector<std::string>& texts, std::string_view text) {
  return std::ranges::find(texts, text) != texts.end();
}
bool lists_or_all(const std::vector<std::string>& texts, std::string_view text) {
  return lists(texts, "*") || lists(texts, text);
}

// "*" means subresources too; "*/status" the status of every resource.
bool covers_resource(const std::vector<std::string>& resources, const Access& access) {
  if (access.subresource.empty()) return lists_or_all(resources, access.resource);
  return lists(resources, "*") ||
         lists(resources, base::cat(access.resource, "/", access.subresource)) ||
         lists(resources, base::cat("*/", access.subresource));
}

bool covers_path(const std::vector<std::string>& paths, std::string_view path) {
  return std::ranges::any_of(paths, [&](std::string_view allowed) {
    if (!allowed.ends_with('*')) return allowed == path;
    return path.starts_with(allowed.substr(0, allowed.size() - 1));
  });
}

}  // namespace

Rbac::Rule Rbac::rule_of(const json& rule) {
  return {texts_in(rule, "verbs"), texts_in(rule, "apiGroups"), texts_in(rule, "resources"),
          texts_in(rule, "resourceNames"), texts_in(rule, "nonResourceURLs")};
}

Rbac::Rbac(const std::vector<json>& objects) {
  for (const json& object : objects) {
    const std::string kind = text_in(object, "kind");
    const json& metadata = member(object, "metadata");
    if (kind == "Role" || kind == "ClusterRole") {
      Role role{kind, text_in(metadata, "namespace"), text_in(metadata, "name"), {}};
      for (const json& rule : member(object, "rules")) role.rules.push_back(rule_of(rule));
      roles_.push_back(std::move(role));
    } else if (kind == "RoleBinding" || kind == "ClusterRoleBinding") {
      const json& role = member(object, "roleRef");
      Binding binding{
          text_in(metadata, "namespace"), text_in(role, "kind"), text_in(role, "name"), {}};
      for (const json& subject : member(object, "subjects")) {
        binding.subjects.push_back(
            {text_in(subject, "kind"), text_in(subject, "namespace"), text_in(subject, "name")});
      }
      bindings_.push_back(std::move(binding));
    }
  }
}

bool Rbac::allows(const Access& access) const {
  // As kube-apiserver's own authorizer for privileged groups.
  if (lists(access.groups, "system:masters")) return true;
  return std::ranges::any_of(bindings_, [&](const Binding& binding) {
    if (!binding.namespace_.empty() && binding.namespace_ != access.namespace_) return false;
    const bool is_meant = std::ranges::any_of(
        binding.subjects, [&](const Subject& subject) { return means(subject, access); });
    const Role* role = is_meant ? role_of(binding) : nullptr;
    return role != nullptr &&
           std::ranges::any_of(role->rules, [&](const Rule& rule) { return covers(rule, access); });
  });
}

bool Rbac::means(const Subject& subject, const Access& access) {
  if (subject.kind == "User") return subject.name == access.user;
  if (subject.kind == "Group") return lists(access.groups, subject.name);
  return subject.kind == "ServiceAccount" &&
         access.user == base::cat("system:serviceaccount:", subject.namespace_, ":", subject.name);
}

const Rbac::Role* Rbac::role_of(const Binding& binding) const {
  const auto found = std::ranges::find_if(roles_, [&](const Role& role) {
    return role.kind == binding.role_kind && role.name == binding.role_name &&
           (role.kind == "ClusterRole" || role.namespace_ == binding.namespace_);
  });
  return found == roles_.end() ? nullptr : &*found;
}

bool Rbac::covers(const Rule& rule, const Access& access) {
  if (!lists_or_all(rule.verbs, access.verb)) return false;
  if (!access.path.empty()) return covers_path(rule.paths, access.path);
  return lists_or_all(rule.groups, access.group) && covers_resource(rule.resources, access) &&
         (rule.names.empty() || lists(rule.names, access.name));
}

std::string forbidden_message(const Access& access) {
  if (!access.path.empty()) {
    return base::cat("forbidden: User \"", access.user, "\" cannot ", access.verb, " path \"",
                     access.path, "\"");
  }
  const std::string what =
      access.group.empty() ? access.resource : base::cat(access.resource, ".", access.group);
  const std::string which = access.name.empty() ? "" : base::cat(" \"", access.name, "\"");
  const std::string resource = access.subresource.empty()
                                   ? access.resource
                                   : base::cat(access.resource, "/", access.subresource);
  const std::string where = access.namespace_.empty()
                                ? "at the cluster scope"
                                : base::cat("in the namespace \"", access.namespace_, "\"");
  return base::cat(what, which, " is forbidden: User \"", access.user, "\" cannot ", access.verb,
                   " resource \"", resource, "\" in API group \"", access.group, "\" ", where);
}

}  // namespace cdom::sandbox
