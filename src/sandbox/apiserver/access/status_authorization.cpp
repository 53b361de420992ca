#include "sandbox/apiserver/access/status_authorization.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "compute_domain/base/text.h"
#include "sandbox/apiserver/access/access_control.h"
#include "sandbox/apiserver/rest/object_path.h"

namespace cdom::sandbox::server {

using base::cat;

namespace {

// The drivers of whose devices an entry was added, changed or removed.
std::set<std::string> changed_drivers(const json& before, const json& after) {
  std::set<std::string> out;
  const auto note = [&](const json& some, const json& others) {
    if (!some.is_array()) return;
    for (const json& entry : some) {
      const bool is_same = others.is_array() && std::ranges::find(others, entry) != others.end();
      if (!is_same) out.insert(text_at(entry, {"driver"}));
    }
  };
  note(after, before);
  note(before, after);
  return out;
}

// The one node that an allocation is for, "" when there is none or more than one.
std::string node_of_allocation(const json& claim) {
  const json& terms = at_path(claim, {"status", "allocation", "nodeSelector", "nodeSelectorTerms"});
  if (!terms.is_array() || terms.size() != 1) return "";
  const json& fields = at_path(terms[0], {"matchFields"});
  if (!fields.is_array() || fields.size() != 1) return "";
  if (!at_path(terms[0], {"matchExpressions"}).empty()) return "";
  if (text_at(fields[0], {"operator"}) != "In") return "";
  const json& values = at_path(fields[0], {"values"});
  if (text_at(fields[0], {"key"}) != "metadata.name" || !values.is_array() || values.size() != 1) {
    return "";
  }
  return values[0].is_string() ? values[0].get<std::string>() : "";
}

bool is_on_node(const User& user, const std::string& node) {
  const auto found = user.extra.find("authentication.kubernetes.io/node-name");
  return !node.empty() && found != user.extra.end() &&
         found->second == std::vector<std::string>{node};
}

void check_binding(const Call& call, const json& claim, const json& old_claim,
                   std::vector<Cause>& causes) {
  const auto is_same = [&](const char* field) {
    return at_path(claim, {"status", field}) == at_path(old_claim, {"status", field});
  };
  if (is_same("allocation") && is_same("reservedFor")) return;
  Access access = access_of(call.info, call.user);
  access.subresource = "binding";
  access.namespace_.clear();
  access.name.clear();
  if (call.state.access.allows(call.user, access)) return;
  causes.push_back(forbidden_field("status.allocation",
                                   cat("changing status.allocation or status.reservedFor requires "
                                       "resource=\"resourceclaims/binding\", verb=\"",
                                       access.verb, "\" permission: ", forbidden_message(access))));
}

void check_driver(const Call& call, const json& claim, const std::string& driver,
                  std::vector<Cause>& causes) {
  std::vector<std::string> verbs;
  if (is_on_node(call.user, node_of_allocation(claim))) {
    verbs.push_back(cat("associated-node:", call.info.verb));
  }
  verbs.push_back(cat("arbitrary-node:", call.info.verb));
  Access access = access_of(call.info, call.user);
  access.subresource = "driver";
  access.name = driver;
  for (const std::string& verb : verbs) {
    access.verb = verb;
    if (call.state.access.allows(call.user, access)) return;
  }
  access.verb = verbs.front();
  causes.push_back(forbidden_field(
      "status.devices",
      cat("changing status.devices requires resource=\"resourceclaims/driver\", verb=\"[",
          base::join(verbs, " "), "]\" permission: ", forbidden_message(access))));
}

}  // namespace

std::vector<Cause> status_authorization_causes(const Call& call, const json& claim,
                                               const json& old_claim) {
  std::vector<Cause> causes;
  check_binding(call, claim, old_claim, causes);
  // What an ended allocation leaves behind is dropped without asking.
  if (!at_path(claim, {"status", "allocation"}).is_object()) return causes;
  for (const std::string& driver : changed_drivers(at_path(old_claim, {"status", "devices"}),
                                                   at_path(claim, {"status", "devices"}))) {
    check_driver(call, claim, driver, causes);
  }
  return causes;
}

}  // namespace cdom::sandbox::server
