#include "compute_domain/api/plan_report.h"

#include <nlohmann/json.hpp>

#include "api/json/json_text.h"

namespace cdom::api {

namespace {

// Goes up when a program that reads what is printed would misread it.
constexpr int kFormat = 1;

Json json_of(const PlannedKey& key) {
  Json steps = Json::array();
  for (const PlanStep& step : key.steps) {
    steps.push_back({{"action", step.action}, {"reason", step.reason}});
  }
  Json json{{"about", key.about}, {"steps", std::move(steps)}};
  if (!key.look_again.empty()) json["lookAgain"] = key.look_again;
  return json;
}

Json json_of(const PlanSection& section) {
  Json plans = Json::array();
  for (const PlannedKey& key : section.keys) plans.push_back(json_of(key));
  Json json{{"title", section.title}, {"facts", section.facts}, {"plans", std::move(plans)}};
  if (section.has_members) json["members"] = section.members;
  return json;
}

}  // namespace

std::string encode_plan_report(const PlanReport& report) {
  Json sections = Json::array();
  for (const PlanSection& section : report.sections) sections.push_back(json_of(section));
  return text_of({{"format", kFormat},
                  {"problems", report.problems},
                  {"earlierProblems", report.earlier_problems},
                  {"sections", std::move(sections)}}) +
         "\n";
}

}  // namespace cdom::api
