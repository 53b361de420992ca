// The parts of a page, each from its report. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compute_domain/plugin/check.h"
#include "plugin/page/html.h"
#include "plugin/reports.h"

namespace cdom::plugin::page {

// How a domain is, for the eye: by the severity of the reasons that its conditions have.
enum class DomainState {
  Ready,
  Hindered,  // Ready, and another condition says what does not go on
  Forming,
  Ending,
  Trouble
};

// What a page needs of each domain before it can tell in which order they come.
struct DomainHead {
  const api::ComputeDomain* object = nullptr;
  std::string name;  // "team-a/train"
  DomainState state = DomainState::Forming;
  std::string reason, message;  // of its condition Ready
  // Its other conditions that are False, the worst first.
  std::vector<api::Condition> others;
  std::string ready_nodes;  // "16/18"; "" while no controller has seen it
  std::size_t number = 0;   // of its place on the page: id "d7"

  // Ready, Hindered or not: its pods can share memory.
  [[nodiscard]] bool is_ready() const {
    return state == DomainState::Ready || state == DomainState::Hindered;
  }
};

// Those in trouble first, then by name; numbered.
std::vector<DomainHead> domain_heads(const Facts& facts);

// The places of domains in the order in which they get room: first those in trouble, and of each
// namespace one after the other's, so that nobody fills a page with domains of one namespace.
std::vector<std::size_t> fair_order(const std::vector<DomainHead>& domains);

// How a node is, for the eye; what weighs most. Out: it is cordoned, or not Ready.
enum class NodeState { Trouble, Out, InUse, Partly, Free, None };
NodeState state_of(const TopologyNode& node);

// Cliques that hold a node in trouble, or one that is out.
bool is_in_trouble(const TopologyClique& clique);

// A section, and which of its things have their id on the page, by place: only to these may lead
// links.
struct Section {
  Html html;
  std::vector<bool> has_id;
};

struct Overview {
  const TopologyReport& topology;
  const std::vector<DomainHead>& domains;
  const std::vector<Finding>& install;  // what is not well
  bool is_of_one = false;               // the page is of one domain and its cliques
};

Html overview_html(const Overview& overview);
// `whys` say the causes of domains that are not well, by the place of the domain.
Html troubles_html(const Overview& overview, const std::map<std::size_t, WhyReport>& whys,
                   const Section& cliques, const Section& domains);
// At most `room` bytes. Links lead to domains of which `has_domain` says that they have an id.
Section topology_html(const Overview& overview, const std::vector<bool>& has_domain,
                      std::size_t room);
// At most `room` bytes: cliques with a trouble come first, and others are counted.
Html matrix_html(const MatrixReport& report, std::size_t room);
Html timeline_html(const TimelineReport& report, base::Time taken);
// At most `room` bytes.
Section domains_html(const Facts& facts, const std::vector<DomainHead>& domains, std::size_t room);

// What a section has around its things, at most.
inline constexpr std::size_t kSectionFrame = 4000;

// Whether a section is of that many things, so that it starts open.
inline constexpr std::size_t kFewParts = 6;

// The id of a node in trouble, a clique, a domain lives on: "c12", "d7".
Html clique_id(std::size_t index);
Html domain_id(const DomainHead& head);

// "18 nodes", "1 node".
Html counted(std::size_t number, Literal one, Literal many);
// The table's caption for what a bound has left out; empty for none.
Html left_out(std::size_t number, Literal what);

}  // namespace cdom::plugin::page
