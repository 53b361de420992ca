// What objects ask for before they are in a cluster: the pods that a workload of any kind is about
// to have, and fields that an API server would not know.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compute_domain/api/meta.h"

namespace cdom::api {

struct AskedPods {
  std::string kind;
  ObjectName name;
  bool is_countable = true;  // how many pods there will be follows from the object alone
  bool has_node = false;     // a Pod that runs, or is about to
  bool has_ended = false;    // a Pod that runs no more
  std::string controller;    // the name of what has made it, and asks for the same; "": nothing
  // ResourceClaimTemplates that its pods name, with the number of these pods.
  std::map<std::string, std::int64_t> templates;
  // Entries of spec.resourceClaims that no container of these pods has in its resources.claims, by
  // name, with their ResourceClaimTemplates.
  std::map<std::string, std::string> unused;
};

// The pods that the object asks for: a Pod itself, or the template in any other kind. `json` is one
// object.
AskedPods asked_pods_in(std::string_view json);

// The object with that namespace, where it names none and its kind may have one.
std::string in_namespace(std::string json, const std::string& ns);

// Paths of a ComputeDomain's fields that its CustomResourceDefinition does not have:
// "spec.numnodes".
std::vector<std::string> unknown_domain_fields(std::string_view json);
// What is wrong with the first word of its spec that is none of those it may be, with its path:
// spec.placement.clique: must be one of Any, Single, is "Singel". "" if there is none. decode()
// takes such a word for one of a later release.
std::string unknown_domain_word(std::string_view json);
// The name of the field that it has at this path if it is written otherwise: "numNodes". "" if
// there is none.
std::string domain_field_in_other_case(const std::string& path);

}  // namespace cdom::api
