#include "controller/main/plan_command.h"

#include <algorithm>
#include <iterator>

#include "compute_domain/controller/dry_run.h"
#include "compute_domain/controller/object_files.h"
#include "compute_domain/plugin/printable.h"

namespace cdom::program {

namespace {

constexpr char kProgram[] = "compute-domain-controller plan";

}  // namespace

int run_plan(const ControllerFlags& flags, const std::vector<std::string>& paths) {
  if (paths.empty()) {
    return cli::usage_error(kProgram, "name a file or a folder, or - for standard input");
  }
  controller::FoundFiles found = controller::files_below(paths);
  const auto objects = controller::read_object_files(found);
  if (!objects) return cli::failure(kProgram, plugin::printable(objects.error().message));
  const base::SystemClock clock;
  api::PlanReport report = controller::dry_run(*objects, settings_of(flags), clock);
  std::ranges::copy(found.problems, std::back_inserter(report.problems));
  const std::string text = flags.output == "json"
                               ? api::encode_plan_report(report)
                               : plugin::printable(controller::page_of(report), true);
  const bool is_whole = report.is_whole && found.problems.empty();
  const int judged = report.problems.empty() ? 0 : cli::kFoundWrong;
  return cli::print(kProgram, text, is_whole ? judged : cli::kFailed);
}

}  // namespace cdom::program
