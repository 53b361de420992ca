#include "plugin/main/commands.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>

#include "compute_domain/base/files.h"
#include "compute_domain/base/text.h"
#include "compute_domain/controller/definitions.h"
#include "compute_domain/controller/dry_run.h"
#include "compute_domain/controller/object_files.h"
#include "compute_domain/plugin/bundle.h"
#include "compute_domain/plugin/check.h"
#include "compute_domain/plugin/matrix.h"
#include "compute_domain/plugin/page.h"
#include "compute_domain/plugin/printable.h"
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

int fail(const std::string& what) { return cli::failure(kPluginProgram, plugin::printable(what)); }

int misused(const Call& call, const std::string& what) {
  return cli::usage_error(cat(kPluginProgram, " ", call.name), what);
}

// Programs get every character, in JSON's own escapes.
void print_text(bool is_json, const std::string& text) {
  std::fputs(is_json ? text.c_str() : plugin::printable(text, true).c_str(), stdout);
}

template <class Report>
void print(const Call& call, const Report& report) {
  const bool is_json = call.flags.output == "json";
  print_text(is_json, is_json ? plugin::json_of(report) : plugin::text_of(report));
}

// Writes the page to the file, or to standard output.
int write_page(const std::string& file, const std::string& page) {
  if (file == "-") {
    const bool is_written =
        std::fwrite(page.data(), 1, page.size(), stdout) == page.size() && std::fflush(stdout) == 0;
    return is_written ? 0 : fail("no page is written: standard output takes no more");
  }
  std::error_code ignored;
  const auto there = std::filesystem::status(file, ignored);
  if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there)) {
    return fail(cat("no page is written: ", file, " is not a regular file"));
  }
  if (const auto done = base::replace_users_file(file, page); !done) {
    return fail(cat("no page is written: ", done.error().message));
  }
  std::printf("wrote %s: open it in a browser; it has names and messages of the cluster\n",
              file.c_str());
  return 0;
}

using Use = std::function<int(const plugin::ClusterView&, const std::string& source)>;

// With a view of a cluster that has our API.
int with_view(const Call& call, const Use& use) {
  const auto found = view_of(call.flags);
  if (!found) return fail(found.error().message);
  const std::string lack = plugin::lacking_api(found->view);
  return lack.empty() ? use(found->view, found->source) : fail(lack);
}

int check(const Call& call) {
  const auto found = view_of(call.flags);
  if (!found) return fail(found.error().message);
  const plugin::CheckReport report = plugin::check(found->view, controller::expected_definitions());
  print(call, report);
  return report.is_healthy() ? 0 : cli::kFoundWrong;
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
  return with_view(call, [&](const plugin::ClusterView& view, const std::string&) {
    const api::ObjectName name{view.namespaces.user, words.back()};
    const auto report = is_pod ? plugin::why_pod(view, name) : plugin::why_domain(view, name);
    if (!report) return fail(report.error().message);
    print(call, *report);
    return 0;
  });
}

int topology(const Call& call) {
  return with_view(call, [&](const plugin::ClusterView& view, const std::string& source) {
    if (const auto& file = call.flags.html) return write_page(*file, plugin::html_of(view, source));
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
  return with_view(call, [&](const plugin::ClusterView& view, const std::string& source) {
    const api::ObjectName name{view.namespaces.user, words.front()};
    if (const auto& file = call.flags.html) {
      const auto page = plugin::html_of(view, name, source);
      return page ? write_page(*file, *page) : fail(page.error().message);
    }
    const auto report = make(view, name);
    if (!report) return fail(report.error().message);
    print(call, *report);
    return 0;
  });
}

int bundle(const Call& call) {
  if (call.arguments.size() > 1) return misused(call, "name one file");
  const auto found = view_of(call.flags, !call.flags.no_logs);
  if (!found) return fail(found.error().message);
  std::string time = base::to_rfc3339(found->view.taken);
  std::erase_if(time, [](char c) { return c == ':' || c == '-'; });
  const std::string file =
      call.arguments.empty() ? cat("compute-domain-", time, ".tar.gz") : call.arguments.front();
  if (const auto done = plugin::write_bundle(found->view, file, found->logs.logs); !done) {
    return fail(cat("cannot write ", file, ": ", done.error().message));
  }
  std::printf("wrote %s: look into it before you pass it on; read it with --from %s\n",
              file.c_str(), file.c_str());
  for (const std::string& problem : found->logs.problems) {
    std::fprintf(stderr, "%s\n", plugin::printable(problem).c_str());
  }
  return 0;
}

int plan(const Call& call) {
  if (call.arguments.empty()) {
    return misused(call, "name a file or a folder, or - for standard input");
  }
  controller::FoundFiles found = controller::files_below(call.arguments);
  auto files = controller::read_object_files(found);
  if (!files) return fail(files.error().message);
  std::string ns = call.flags.ns;
  std::vector<controller::ObjectFile> objects;
  if (!call.flags.from.empty()) {
    const auto view = plugin::read_bundle(call.flags.from);
    if (!view) return fail(view.error().message);
    objects = plugin::object_files_of(*view);
    if (ns.empty()) ns = view->namespaces.user;
  }
  if (ns.empty()) ns = plugin::Namespaces().user;
  std::ranges::move(*files, std::back_inserter(objects));
  core::Settings settings;
  settings.operator_namespace = call.flags.operator_ns;
  settings.adopt_from = call.flags.adopt_from;
  settings.channels = call.flags.channels;
  settings.slots_per_group = call.flags.max_nodes;
  const base::SystemClock clock;
  api::PlanReport report = controller::dry_run(objects, settings, clock, ns);
  std::ranges::copy(found.problems, std::back_inserter(report.problems));
  const bool is_json = call.flags.output == "json";
  print_text(is_json, is_json ? api::encode_plan_report(report) : controller::page_of(report));
  if (!report.is_whole || !found.problems.empty()) return cli::kFailed;
  return report.problems.empty() ? 0 : cli::kFoundWrong;
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
