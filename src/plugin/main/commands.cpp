#include "plugin/main/commands.h"

#include <unistd.h>

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
#include "plugin/main/subject.h"
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
int print_text(bool is_json, const std::string& text, int exit_code) {
  return cli::print(kPluginProgram, is_json ? text : plugin::printable(text, true), exit_code);
}

template <class Report>
int print(const Call& call, const Report& report, int exit_code = 0) {
  const bool is_json = call.flags.output == "json";
  return print_text(is_json, is_json ? plugin::json_of(report) : plugin::text_of(report),
                    exit_code);
}

// Why nothing is written to the file that the command line names.
std::string unwritten(const std::string& file, const base::Error& error) {
  std::error_code ignored;
  const auto there = std::filesystem::status(file, ignored);
  const bool is_stream = std::filesystem::exists(there) &&
                         !std::filesystem::is_regular_file(there) &&
                         !std::filesystem::is_directory(there);
  return cat(error.message, is_stream ? "; - as FILE is standard output" : "");
}

int fail_to_write(const char* what, const std::string& file, const base::Error& error) {
  return fail(cat("no ", what, " is written: ", unwritten(file, error)));
}

// Before a large cluster is read for what then nobody could have: what failed, or nullopt.
std::optional<int> cannot_write(const char* what, const std::string& file) {
  if (file == "-") return std::nullopt;
  const auto can = base::can_replace_users_file(file);
  return can ? std::nullopt : std::optional(fail_to_write(what, file, can.error()));
}

// Writes the page to the file, or to standard output.
int write_page(const std::string& file, const std::string& page) {
  if (file == "-") return cli::print(kPluginProgram, page);
  if (const auto done = base::replace_users_file(file, page); !done) {
    return fail_to_write("page", file, done.error());
  }
  std::printf("wrote %s: open it in a browser; it has names and messages of the cluster\n",
              file.c_str());
  return 0;
}

using Use = std::function<int(const plugin::ClusterView&, const std::string& source)>;

// With a view of a cluster that has our API.
int with_view(const Call& call, const Use& use) {
  if (const auto& file = call.flags.html) {
    if (const auto failed = cannot_write("page", *file)) return *failed;
  }
  const auto found = view_of(call.flags);
  if (!found) return fail(found.error().message);
  const std::string lack = plugin::lacking_api(found->view);
  return lack.empty() ? use(found->view, found->source) : fail(lack);
}

int check(const Call& call) {
  const auto found = view_of(call.flags);
  if (!found) return fail(found.error().message);
  const plugin::CheckReport report = plugin::check(found->view, controller::expected_definitions());
  return print(call, report, report.is_healthy() ? 0 : cli::kFoundWrong);
}

int why(const Call& call) {
  const auto subject = subject_of(call.arguments);
  if (!subject) return misused(call, subject.error().message);
  return with_view(call, [&](const plugin::ClusterView& view, const std::string&) {
    const api::ObjectName name{view.namespaces.user, subject->name};
    const auto report = subject->kind == Subject::Kind::Pod ? plugin::why_pod(view, name)
                                                            : plugin::why_domain(view, name);
    if (!report) return fail(report.error().message);
    return print(call, *report);
  });
}

int topology(const Call& call) {
  return with_view(call, [&](const plugin::ClusterView& view, const std::string& source) {
    if (const auto& file = call.flags.html) return write_page(*file, plugin::html_of(view, source));
    return print(call, plugin::topology(view));
  });
}

// A report about the one ComputeDomain that the command line names.
template <class Make>
int about_domain(const Call& call, const Make& make) {
  const auto domain = domain_of(call.arguments);
  if (!domain) return misused(call, domain.error().message);
  return with_view(call, [&](const plugin::ClusterView& view, const std::string& source) {
    const api::ObjectName name{view.namespaces.user, *domain};
    if (const auto& file = call.flags.html) {
      const auto page = plugin::html_of(view, name, source);
      return page ? write_page(*file, *page) : fail(page.error().message);
    }
    const auto report = make(view, name);
    if (!report) return fail(report.error().message);
    return print(call, *report);
  });
}

void tell(const std::string& sentence) {
  std::fprintf(stderr, "%s\n", plugin::printable(sentence).c_str());
}

int bundle(const Call& call) {
  if (call.arguments.size() > 1) return misused(call, "name one file");
  if (!call.arguments.empty() && call.arguments.front().empty()) {
    return misused(call, "\"\" is not the name of a file");
  }
  const bool is_piped = !call.arguments.empty() && call.arguments.front() == "-";
  if (is_piped && isatty(STDOUT_FILENO) == 1) {
    return misused(call, "standard output is a terminal: name a file");
  }
  std::string time = base::to_rfc3339(base::SystemClock().now());
  std::erase_if(time, [](char c) { return c == ':' || c == '-'; });
  const std::string file =
      call.arguments.empty() ? cat("compute-domain-", time, ".tar.gz") : call.arguments.front();
  if (const auto failed = cannot_write("bundle", file)) return *failed;
  const auto found = view_of(call.flags, call.flags.no_logs ? nullptr : plugin::TellPerson(tell));
  if (!found) return fail(found.error().message);
  if (is_piped) {
    const auto packed = plugin::packed_bundle(found->view, found->logs);
    if (!packed) return fail(cat("no bundle is written: ", packed.error().message));
    return cli::print(kPluginProgram, *packed);
  }
  if (const auto done = plugin::write_bundle(found->view, file, found->logs); !done) {
    return fail_to_write("bundle", file, done.error());
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
  const bool is_whole = report.is_whole && found.problems.empty();
  const int judged = report.problems.empty() ? 0 : cli::kFoundWrong;
  return print_text(is_json,
                    is_json ? api::encode_plan_report(report) : controller::page_of(report),
                    is_whole ? judged : cli::kFailed);
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
