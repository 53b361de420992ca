// PlanReport: what a dry run prints, as plain values and as JSON for other programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cdom::api {

struct PlanStep {
  std::string action, reason;
};

struct PlannedKey {
  std::string about;  // "its node list of clique 3f0e….1"
  std::vector<PlanStep> steps;
  std::string look_again;  // "12s"; "" when nothing has to be looked at again by itself
};

struct PlanSection {
  std::string title;                 // "ComputeDomain team-a/train, UID 6f0a…"
  std::vector<std::string> facts;    // lines
  std::vector<std::string> members;  // of a domain: lines
  bool has_members = false;
  std::vector<PlannedKey> keys;
};

struct PlanReport {
  std::vector<std::string> problems;  // that an API server or the controller would have
  // Those of objects that are there already, which the objects that are planned do not touch.
  std::vector<std::string> earlier_problems;
  std::vector<PlanSection> sections;
  // Each file that was to be planned could be read, and has an object; not part of the JSON.
  bool is_whole = true;
};

// {"format": 1, "problems": […], "earlierProblems": […], "sections": [{"title", "facts", "members",
// "plans": [{"about", "steps": [{"action", "reason"}], "lookAgain"}]}]}, with a line's end.
std::string encode_plan_report(const PlanReport& report);

}  // namespace cdom::api
