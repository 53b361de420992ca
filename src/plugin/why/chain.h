// Chain: the links of a WhyReport, one after the other, until one is broken. A value.
#pragma once

#include <string>
#include <vector>

#include "compute_domain/core/reasons.h"
#include "compute_domain/plugin/why.h"

namespace cdom::plugin {

class Chain {
 public:
  // `names` are those of all links, in order.
  Chain(std::string subject, std::vector<std::string> names);

  // The next link holds. Gives true, so that a step can end with it.
  bool holds(std::string text);
  // The next link is where it stops. Gives false.
  bool stops(std::string text, std::string cause, std::string remedy, std::string command = "");
  // The same, with what the row of a reason says: it means and what comes next; `message` is what
  // was said of this object.
  bool stops_for(core::Reason reason, std::string text, const std::string& message,
                 std::string command = "");

  WhyReport report() && { return std::move(report_); }

 private:
  Link& next();

  WhyReport report_;
  std::size_t reached_ = 0;
};

// "The node is cordoned": with a capital, and a full stop.
std::string sentence(std::string text);

}  // namespace cdom::plugin
