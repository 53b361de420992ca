// NodeSelector: the part of core/v1's that an allocation and a slice may have, and the two
// questions that are asked of it.
#pragma once

#include <string>
#include <vector>

namespace cdom::api {

struct NodeSelectorRequirement {
  std::string key, op;
  std::vector<std::string> values;

  friend bool operator==(const NodeSelectorRequirement&, const NodeSelectorRequirement&) = default;
};

struct NodeSelectorTerm {
  std::vector<NodeSelectorRequirement> fields = {}, labels = {};

  friend bool operator==(const NodeSelectorTerm&, const NodeSelectorTerm&) = default;
};

struct NodeSelector {
  std::vector<NodeSelectorTerm> terms;
};

// The node of a selector that names exactly one, by its name; "" for every other selector.
std::string one_node(const NodeSelector& selector);
// The clique of a selector that names exactly one, by the label of its nodes; "" for every other.
std::string one_clique(const NodeSelector& selector);

// What these two read.
inline constexpr char kNodeNameField[] = "metadata.name";

}  // namespace cdom::api
