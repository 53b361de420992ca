// NodeSelector matching: whether a node fits the terms of a v1.NodeSelector. Pure.
#pragma once

#include "sandbox/text/json.h"

namespace cdom::sandbox {

// `selector` has nodeSelectorTerms; null matches every node, no terms match none.
bool matches_node_selector(const json& selector, const json& node);

// A selector for exactly this node, by matchFields.
json selector_of_node(const std::string& name);

}  // namespace cdom::sandbox
