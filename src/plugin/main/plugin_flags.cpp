#include "plugin/main/plugin_flags.h"

#include "compute_domain/base/ranges.h"
#include "compute_domain/base/text.h"

namespace cdom::program {

namespace {

using base::cat;

constexpr char kUsage[] =
    "kubectl compute-domain COMMAND [FLAGS]\n"
    "    check                   is the operator installed, and can each GPU node serve?\n"
    "    why pod NAME            where does a pod stop on its way to shared memory, and why?\n"
    "    why cd NAME             the same of a ComputeDomain\n"
    "    topology                cliques, their nodes and devices, and the domains on them\n"
    "    matrix NAME             which nodes of a ComputeDomain reach which\n"
    "    timeline NAME           what happened to a ComputeDomain, and how long it took\n"
    "    bundle [FILE]           all that these commands read, without secrets, for who helps\n"
    "    plan FILE|DIR|-…        what is wrong with objects before they are applied\n"
    "Nothing here changes anything in the cluster. `kubectl compute-domain COMMAND --help` says "
    "more.";
constexpr char kCheckUsage[] =
    "kubectl compute-domain check [FLAGS]\n"
    "    Looks at the CustomResourceDefinitions, the DeviceClasses, the controller and each node "
    "with\n"
    "    GPUs. Exit code 0 when nothing fails, 3 when something does, 1 when it cannot look.";
constexpr char kWhyUsage[] =
    "kubectl compute-domain why pod NAME [FLAGS]\n"
    "kubectl compute-domain why cd NAME [FLAGS]\n"
    "    Follows the chain from the pod, or from the ComputeDomain, to memory that is shared over\n"
    "    NVLink. Shows where it stops, the cause, and what to do.";
constexpr char kTopologyUsage[] =
    "kubectl compute-domain topology [FLAGS]\n"
    "    Shows each clique (the nodes of one NVLink partition), the devices of its nodes, who "
    "uses\n"
    "    them, and which nodes do not reach each other. With --html FILE as a page for a browser, "
    "with the\n"
    "    matrix and the timeline of each ComputeDomain too.";
constexpr char kMatrixUsage[] =
    "kubectl compute-domain matrix NAME [FLAGS]\n"
    "    Shows which nodes of the ComputeDomain reach which, by what their IMEX daemons report. "
    "With\n"
    "    --html FILE as a page for a browser, with its timeline and its cliques too.";
constexpr char kTimelineUsage[] =
    "kubectl compute-domain timeline NAME [FLAGS]\n"
    "    Shows what happened to the ComputeDomain, from the creation of its first pod to Ready "
    "and\n"
    "    after, with durations. By the times of objects, conditions and Events: whole seconds. "
    "With\n"
    "    --html FILE as a page for a browser, with its matrix and its cliques too.";
constexpr char kBundleUsage[] =
    "kubectl compute-domain bundle [FILE] [FLAGS]\n"
    "    Writes all that the other commands read into one .tar.gz, which they read with --from, "
    "and\n"
    "    the last lines that the operator's own pods have logged. Without environment variables,\n"
    "    commands, volumes, Secrets, or annotations of others. - as FILE is standard output.";
constexpr char kPlanUsage[] =
    "kubectl compute-domain plan FILE|DIR|-… [FLAGS]\n"
    "    Reads objects in YAML or JSON (- is standard input) and prints what is wrong with them, "
    "and\n"
    "    what the controller would do. With --from, beside the objects of a bundle; what is wrong "
    "with\n"
    "    these alone is named apart. Exit code 3 when something is wrong with the objects of the\n"
    "    files, 1 when a file cannot be read or has no object. Needs no cluster.";

// A flag that was given without a name is another thing than one that was not given.
cli::Value file_of_page(std::optional<std::string>& field) {
  return {.placeholder = "FILE", .take = [&field](const std::string& text) {
            field = text;
            return std::string();
          }};
}

std::vector<cli::Flag> rows_of(PluginFlags& f) {
  using namespace cli;  // NOLINT(google-build-using-namespace): the words of a row
  const Rule namespace_name{base::is_dns_label, "a valid name of a namespace"};
  const std::string all = "check why topology matrix timeline bundle";
  return {
      {"namespace,n", "", text(f.ns, "NAMESPACE", namespace_name),
       "namespace of the pod or ComputeDomain; that of the kubeconfig's context by default. For "
       "plan: of objects that name none; that of the bundle by default, else default",
       cat(all, " plan")},
      {"context", "", text(f.context, "NAME"), "context of the kubeconfig", all},
      {"kubeconfig", "", text(f.kubeconfig, "FILE"),
       "cluster to look at (KUBECONFIG; else, in a pod, by its service account; else "
       "~/.kube/config)",
       all},
      {"from", "", text(f.from, "FILE"), "a bundle to look at in place of a cluster",
       "check why topology matrix timeline plan"},
      {"output,o", "", choice(f.output, "FORMAT", {"text", "json"}), "how it prints",
       "check why topology matrix timeline plan"},
      {"html", "", file_of_page(f.html),
       "a page for a browser, in one file that needs no other, in place of what is printed (- is "
       "standard output)",
       "topology matrix timeline"},
      {"no-logs", "", on_off(f.no_logs), "leave out what the operator's own pods have logged",
       "bundle"},
      {"operator-namespace", "", text(f.operator_ns, "NAMESPACE", namespace_name),
       "where the controller and the node lists are", cat(all, " plan")},
      {"node-namespace", "", text(f.node_ns, "NAMESPACE", namespace_name),
       "where the agents' pods are", all},
      {"adopt-from", "", names(f.adopt_from, "NAMESPACE,…", namespace_name),
       "what the controller has as --adopt-from", "plan"},
      {"imex-channels", "", number(f.channels, 2, base::kRangesEnd),
       "what the controller has as --imex-channels", "plan"},
      {"max-nodes-per-imex-domain", "", number<std::int64_t>(f.max_nodes, 1, 1024),
       "what the controller has as --max-nodes-per-imex-domain", "plan"},
  };
}

}  // namespace

cli::CommandLine command_line_of(PluginFlags& flags) {
  return {.program = kPluginProgram,
          .usage = kUsage,
          .sub_commands = {{"check", kCheckUsage},
                           {"why", kWhyUsage, true},
                           {"topology", kTopologyUsage},
                           {"matrix", kMatrixUsage, true},
                           {"timeline", kTimelineUsage, true},
                           {"bundle", kBundleUsage, true},
                           {"plan", kPlanUsage, true}},
          .flags = rows_of(flags),
          .mistake = [&flags](const std::string& /*sub_command*/) -> std::string {
            // Most likely of a variable that is not set: nobody would miss the page.
            if (flags.html == "") return "--html: \"\" is not the name of a file";
            if (flags.html && flags.output == "json") {
              return "--html writes a page in place of what -o json prints: leave out one of them";
            }
            const bool has_cluster = !flags.kubeconfig.empty() || !flags.context.empty();
            if (flags.from.empty() || !has_cluster) return "";
            return "--from is a bundle in place of a cluster: leave out --kubeconfig and --context";
          },
          .refuses_unread_flags = true};
}

}  // namespace cdom::program
