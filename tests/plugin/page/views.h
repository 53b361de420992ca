// ClusterViews of several cliques and domains, for the tests of the page: those of the page's own
// functions, and those that open it in a browser.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compute_domain/plugin/cluster_view.h"
#include "core/builders.h"

namespace cdom::plugin::testing {

// A cluster whose operator works. Nodes come first, domains on them then.
class Cluster {
 public:
  Cluster();

  // Nodes "<prefix>01"… that are up and serve nothing; "" is no clique.
  std::vector<std::string> add_clique(const std::string& clique, const std::string& prefix,
                                      int nodes);
  // A domain of these nodes, with a pod each, that got Ready so long ago.
  void form(const std::string& domain, const std::vector<std::string>& nodes,
            base::Duration ago = std::chrono::minutes(12));

  // What the node's report says of the only group on it.
  api::ImexGroupReport& group_on(const std::string& node);
  // That it does not reach these.
  void cuts(const std::string& node, const std::set<std::string>& others);
  core::NodeView& node(const std::string& name) { return nodes_.at(name); }
  ClusterView& rest() { return view_; }

  // With the status that the controller would write now.
  [[nodiscard]] ClusterView view() const;

 private:
  ClusterView view_;
  std::map<std::string, core::NodeView> nodes_;
};

// One of each trouble: a node that is down, one whose report is from before its reboot, one that
// nobody reaches, a domain without pods, one with too few nodes; and what is well.
ClusterView troubled_view();
// 5,004 nodes in 278 cliques of 18, of which three of four serve domains; some in trouble.
ClusterView large_view();
// One domain of that many nodes in one clique. Every `broken`th does not reach one other; 0: none.
ClusterView huge_domain_view(int nodes, int broken);
// Names and messages that want to be markup, in every place where a tenant or a node may write.
ClusterView hostile_view();

// What all of these places have; no page may have it as it stands.
inline constexpr char kHostile[] = "\"'><img src=x onerror=alert(1)>&lt;</style></script>]]>-->";

}  // namespace cdom::plugin::testing
