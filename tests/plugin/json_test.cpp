// What programs read of `kubectl compute-domain COMMAND -o json`, as docs/kubectl-plugin.md
// promises it: a member that is named here stays, with its meaning, as long as `format` is 1.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "compute_domain/plugin/check.h"
#include "compute_domain/plugin/matrix.h"
#include "compute_domain/plugin/timeline.h"
#include "compute_domain/plugin/topology.h"
#include "compute_domain/plugin/why.h"
#include "plugin/views.h"

namespace cdom::plugin {
namespace {

using namespace plugin::testing;  // NOLINT(google-build-using-namespace): the words of a view
using ::testing::ElementsAre;
using Document = nlohmann::ordered_json;

const api::ObjectName kTrain{"team-a", "train"};

std::vector<std::string> members_of(const Document& json) {
  std::vector<std::string> names;
  for (const auto& [name, value] : json.items()) names.push_back(name);
  return names;
}

// A document of this format.
Document document(const std::string& text) {
  Document json = Document::parse(text);
  EXPECT_EQ(json["format"], 1) << text;
  return json;
}

TEST(PluginJson, OfCheck) {
  const Document json =
      document(json_of(check(settled_view(), controller::expected_definitions())));
  EXPECT_THAT(members_of(json), ElementsAre("format", "healthy", "install", "nodes", "domains"));
  EXPECT_THAT(members_of(json["install"][0]), ElementsAre("check", "name", "subject", "verdict",
                                                          "found", "reason", "remedy", "command"));
}

TEST(PluginJson, OfTopologyAndOfAMatrixNamesACliqueAlike) {
  const ClusterView view = settled_view();
  const Document cliques = document(json_of(topology(view)));
  EXPECT_THAT(members_of(cliques), ElementsAre("format", "cliques", "unreachable"));
  EXPECT_THAT(members_of(cliques["cliques"][0]),
              ElementsAre("clique", "devices", "domains", "nodes"));
  EXPECT_THAT(members_of(cliques["cliques"][0]["nodes"][0]),
              ElementsAre("name", "devices", "imex", "isolation", "domains", "trouble"));
  const Document reach = document(json_of(*matrix(view, kTrain)));
  EXPECT_THAT(members_of(reach),
              ElementsAre("format", "domain", "cliques", "inNoClique", "hostManaged"));
  EXPECT_THAT(members_of(reach["cliques"][0]), ElementsAre("clique", "rows"));
  EXPECT_EQ(reach["cliques"][0]["clique"], cliques["cliques"][0]["clique"]);
}

TEST(PluginJson, OfATimeline) {
  const Document json = document(json_of(*timeline(settled_view(), kTrain)));
  EXPECT_THAT(members_of(json),
              ElementsAre("format", "domain", "zero", "entries", "phases", "readyAfterSeconds"));
  EXPECT_THAT(members_of(json["entries"][0]),
              ElementsAre("time", "offsetSeconds", "object", "what", "warning"));
}

std::vector<std::string> links_of(const Document& json) {
  std::vector<std::string> links;
  for (const auto& link : json["links"]) links.push_back(link["link"]);
  return links;
}

// One word each, whatever people read.
TEST(PluginJson, OfWhyNamesEachLink) {
  const Document pod = document(json_of(*why_pod(settled_view(), {"team-a", "pod-c1"})));
  EXPECT_THAT(members_of(pod),
              ElementsAre("format", "subject", "stopsAt", "links", "cause", "remedy", "command"));
  EXPECT_THAT(links_of(pod), ElementsAre("Pod", "Claim", "ComputeDomain", "Device", "Node",
                                         "NodeList", "ImexDaemon", "Peers", "Containers"));
  EXPECT_EQ(pod["stopsAt"], "");
  EXPECT_THAT(members_of(pod["links"][0]), ElementsAre("link", "state", "text"));
  const Document domain = document(json_of(*why_domain(settled_view(), kTrain)));
  EXPECT_THAT(links_of(domain), ElementsAre("ComputeDomain", "Controller", "Template", "Claims",
                                            "Devices", "Nodes", "Peers", "Pods", "Status"));
}

TEST(PluginJson, OfWhySaysWhereItStopsByTheNameOfTheLink) {
  ClusterView view = settled_view();
  report_in(view, "n1").status.groups.front().state = api::DaemonState::Starting;
  const Document json = document(json_of(*why_pod(view, {"team-a", "pod-c1"})));
  EXPECT_EQ(json["stopsAt"], "ImexDaemon");
}

}  // namespace
}  // namespace cdom::plugin
