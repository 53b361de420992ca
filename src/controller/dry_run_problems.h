// What is wrong with objects that are about to be applied, for people: each line names the object,
// the field and the remedy. Reads stores and the objects' own texts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compute_domain/api/asked_pods.h"
#include "compute_domain/api/codec.h"
#include "compute_domain/controller/stores.h"

namespace cdom::controller {

// "" unless the kind is of a group of ours and there is none of that name, as after a slip.
std::string unknown_kind(const api::TypeMeta& type);
// Of a ComputeDomain.
std::vector<std::string> unknown_fields(const std::string& json);
// Templates that pods name and nobody makes; domains with fewer pods or seats than they want.
std::vector<std::string> mismatches(const Stores& stores, const std::vector<api::AskedPods>& asked);

}  // namespace cdom::controller
