#include "plugin/main/commands.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>

#include "compute_domain/base/text.h"
#include "compute_domain/controller/dry_run.h"
#include "compute_domain/controller/object_files.h"
#include "compute_domain/plugin/bundle.h"
#include "compute_domain/plugin/check.h"
#include "compute_domain/plugin/matrix.h"
#include "compute_domain/plugin/timeline.h"
#include "compute_domain/plugin/topology.h"
#include "compute_domain/plugin/why.h"
#include "plugin/main/view_source.h"

namespace cdom::program {

namespace {

using base::cat;

struct Call {
  const PluginFlags& flags;
  std::string name;  // of the sub-command
  std::vector<std::string> arguments;
};

int fail(const std::string& what) {
  std::fprintf(stderr, "%s: %s\n", kPluginProgram, what.c_str());
  return 1;
}

int misused(const Call& call, const std::string& what) {
  return cli::usage_error(cat(kPluginProgram, " ", call.name), what);
}

template <class Report>
void print(const Call& call, const Report& report) {
  const std::string text =
      call.flags.output == "json" ? plugin::json_of(report) : plugin::text_of(report);
  std::fputs(text.c_str(), stdout);
}

using Use = std::function<int(const plugin::ClusterView&)>;

// With a view of a cluster that has our API.
int with_view(const Call& call, const Use& use) {
  const auto view = view_of(call.flags);
  if (!view) return fail(view.error().message);
  const std::string lack = plugin::lacking_api(*view);
  return lack.empty() ? use(*view) : fail(lack);
}

int check(const Call& call) {
  const auto view = view_of(call.flags);
  if (!view) return fail(view.error().message);
  const plugin::CheckReport report = plugin::check(*view, plugin::expected_definitions());
  print(call, report);
  return report.is_healthy() ? 0 : 1;
}

// "pod NAME", "cd NAME", "pod/NAME".
int why(const Call& call) {
  std::vector<std::string> words = call.arguments;
  if (words.size() == 1) words = base::split(words.front(), '/');
  if (words.size() != 2) return misused(call, "name what: pod NAME, or cd NAME");
  const std::string& kind = words.front();
  const bool is_pod = kind == "pod" || kind == "pods" || kind == "po";
  const bool is_domain = kind == "cd" || kind == "computedomain" || kind == "computedomains";
  if (!is_pod && !is_domain) {
    return misused(call, cat("\"", kind, "\" is neither pod nor cd"));
  }
  return with_view(call, [&](const plugin::ClusterView& view) {
    const api::ObjectName name{view.namespaces.user, words.back()};
    const auto report = is_pod ? plugin::why_pod(view, name) : plugin::why_domain(view, name);
    if (!report) return fail(report.error().message);
    print(call, *report);
    return 0;
  });
}

int topology(const Call& call) {
  return with_view(call, [&](const plugin::ClusterView& view) {
    print(call, plugin::topology(view));
    return 0;
  });
}

// A report about the one ComputeDomain that the command line names.
template <class Make>
int about_domain(const Call& call, const Make& make) {
  std::vector<std::string> words = call.arguments;
  if (words.size() == 2 && words.front() == "cd") words.erase(words.begin());
  if (words.size() != 1) return misused(call, "name one ComputeDomain");
  return with_view(call, [&](const plugin::ClusterView& view) {
    const auto report = make(view, api::ObjectName{view.namespaces.user, words.front()});
    if (!report) return fail(report.error().message);
    print(call, *report);
    return 0;
  });
}

int bundle(const Call& call) {
  if (call.arguments.size() > 1) return misused(call, "name one file");
  const auto view = view_of(call.flags);
  if (!view) return fail(view.error().message);
  std::string time = base::to_rfc3339(view->taken);
  std::erase_if(time, [](char c) { return c == ':' || c == '-'; });
  const std::string file =
      call.arguments.empty() ? cat("compute-domain-", time, ".tar.gz") : call.arguments.front();
  if (const auto done = plugin::write_bundle(*view, file); !done) {
    return fail(cat("cannot write ", file, ": ", done.error().message));
  }
  std::printf("wrote %s: look into it before you pass it on; read it with --from %s\n",
              file.c_str(), file.c_str());
  return 0;
}

int plan(const Call& call) {
  if (call.arguments.empty()) {
    return misused(call, "name a file or a folder, or - for standard input");
  }
  controller::FoundFiles found = controller::files_below(call.arguments);
  auto files = controller::read_object_files(found.files);
  if (!files) return misused(call, files.error().message);
  if (!call.flags.from.empty()) {
    const auto view = plugin::read_bundle(call.flags.from);
    if (!view) return fail(view.error().message);
    std::ranges::move(plugin::object_files_of(*view), std::back_inserter(*files));
  }
  core::Settings settings;
  settings.operator_namespace = call.flags.operator_ns;
  const base::SystemClock clock;
  api::PlanReport report = controller::dry_run(*files, settings, clock);
  std::ranges::move(found.problems, std::back_inserter(report.problems));
  const std::string text =
      call.flags.output == "json" ? api::encode_plan_report(report) : controller::page_of(report);
  std::fputs(text.c_str(), stdout);
  return report.problems.empty() ? 0 : 1;
}

}  // namespace

int run_command(const PluginFlags& flags, const std::string& command,
                const std::vector<std::string>& arguments) {
  const std::map<std::string, std::function<int(const Call&)>> commands{
      {"check", check},
      {"why", why},
      {"topology", topology},
      {"matrix", [](const Call& call) { return about_domain(call, plugin::matrix); }},
      {"timeline", [](const Call& call) { return about_domain(call, plugin::timeline); }},
      {"bundle", bundle},
      {"plan", plan}};
  return commands.at(command)({flags, command, arguments});
}

}  // namespace cdom::program
