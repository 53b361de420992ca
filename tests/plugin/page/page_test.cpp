#include "compute_domain/plugin/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <regex>
#include <set>

#include "compute_domain/base/digest.h"
#include "compute_domain/base/text.h"
#include "plugin/page/parts.h"
#include "plugin/page/views.h"
#include "plugin/views.h"

namespace cdom::plugin {
namespace {

using namespace plugin::testing;  // NOLINT(google-build-using-namespace): the words of a view
using base::cat;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::size_t count(const std::string& text, std::string_view what) {
  std::size_t found = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

// From the first element with that id to the end of its section.
std::string section(const std::string& page, const std::string& id) {
  const auto begin = page.find(cat("<section id=\"", id, "\""));
  if (begin == std::string::npos) return "";
  return page.substr(begin, page.find("</section>", begin) - begin);
}

std::string page_of(const ClusterView& view) { return html_of(view, "a test"); }

// Boxes of nodes: what a list of class "nodes" has.
std::size_t boxes(const std::string& page) {
  return count(section(page, "topology"), "<li class=\"s-");
}

std::string base64(const std::string& bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      group = group << 8U |
              (i + j < bytes.size() ? static_cast<std::uint8_t>(bytes[i + j]) : std::uint32_t{0});
    }
    for (std::size_t j = 0; j < 4; ++j) {
      out += i + j > bytes.size() ? '=' : kDigits[group >> (18 - 6 * j) & 63U];
    }
  }
  return out;
}

TEST(Page, AllowsOnlyItsOwnScript) {
  const std::string page = page_of(installed());
  const auto begin = page.find("<script>") + 8;
  const std::string script = page.substr(begin, page.find("</script>") - begin);
  EXPECT_EQ(count(page, "<script"), 1U);
  EXPECT_THAT(page, HasSubstr(cat("content=\"default-src 'none'; style-src 'unsafe-inline'; "
                                  "script-src 'sha256-",
                                  base64(base::sha256(script)), "';")))
      << "page.js has changed: this is what kScriptHash in assets.cpp.in has to be";
}

TEST(Page, NamesNothingThatABrowserWouldFetch) {
  for (const ClusterView& view : {troubled_view(), huge_domain_view(80, 3)}) {
    const std::string page = page_of(view);
    EXPECT_FALSE(std::regex_search(page, std::regex("<[^>]* (src|srcset|action|data|poster)=")));
    EXPECT_FALSE(std::regex_search(page, std::regex("<[^>]* href=\"[^#]")));
    EXPECT_FALSE(std::regex_search(page, std::regex("<(link|img|iframe|object|embed|base)\\b")));
    EXPECT_THAT(page, AllOf(Not(HasSubstr("url(")), Not(HasSubstr("@import"))));
  }
}

TEST(Page, LetsNoObjectBecomeMarkup) {
  const std::string page = page_of(hostile_view());
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<img")), Not(HasSubstr("onerror=alert(1)>"))));
  // Each of the places shows what it has.
  const std::string shown = "&quot;&#39;&gt;&lt;img src=x onerror=alert(1)&gt;&amp;lt;";
  for (const char* before : {"v1.36.0", "team-a/train", "pod train-2", "BackOff", "for 14 minutes",
                             "<b>node", "container worker"}) {
    EXPECT_THAT(page, HasSubstr(before + shown));
  }
  EXPECT_EQ(count(page, "</style>"), 1U);
  EXPECT_EQ(count(page, "</script>"), 1U);
}

TEST(Page, EscapesTheNameOfItsSource) {
  EXPECT_THAT(html_of(installed(), kHostile), Not(HasSubstr("<img")));
}

TEST(Page, HasABoxForEachNodeInItsClique) {
  const std::string page = page_of(troubled_view());
  EXPECT_EQ(boxes(page), 26U);
  EXPECT_EQ(count(page, "<h3>Clique "), 3U);
  const std::string topology = section(page, "topology");
  EXPECT_EQ(count(topology, "<li class=\"s-u\"><b>"), 12U);
  EXPECT_EQ(count(topology, "<li class=\"s-f\"><b>"), 11U);
  EXPECT_THAT(topology, AllOf(HasSubstr("<li class=\"s-t\"><b>r3n01</b><i>in trouble</i>"),
                              HasSubstr("<li class=\"s-o\"><b>r2n08</b><i>out</i>"),
                              HasSubstr("<i class=\"imex\">IMEX Recovering</i>")));
}

TEST(Page, SaysOfWhichClusterAndTimeItIs) {
  const std::string page = html_of(installed(), "https://10.0.0.1:6443 (context prod)");
  EXPECT_THAT(page, AllOf(HasSubstr("2026-01-01 00:00:00 UTC"), HasSubstr("v1.36.0"),
                          HasSubstr("https://10.0.0.1:6443 (context prod)")));
}

TEST(Page, HasTroublesFirst) {
  const std::string page = page_of(troubled_view());
  EXPECT_LT(page.find("id=\"troubles\""), page.find("id=\"topology\""));
  const std::string troubles = section(page, "troubles");
  EXPECT_THAT(troubles, AllOf(HasSubstr("team-a/train"), HasSubstr("NodeRebooted"),
                              HasSubstr("GPU 3 has not joined"), HasSubstr("evil-channel")));
  // Of cliques and domains, those in trouble.
  const std::string topology = section(page, "topology");
  EXPECT_LT(topology.find("<code>875cddc7-e270-4809-931f-7182962c20fc.2</code></h3>"),
            topology.find("<code>875cddc7-e270-4809-931f-7182962c20fc.0</code></h3>"));
  const std::string domains = section(page, "domains");
  EXPECT_LT(domains.find("<h3>team-a/train"), domains.find("<h3>team-a/serve"));
}

TEST(Page, SaysThatAllIsWell) {
  Cluster cluster;
  const auto nodes = cluster.add_clique("6f0a5a5e-0000-4000-8000-000000000001.1", "n", 4);
  cluster.form("train", nodes);
  const std::string page = page_of(cluster.view());
  EXPECT_THAT(section(page, "troubles"), HasSubstr("None: the install is healthy"));
  EXPECT_THAT(page, AllOf(HasSubstr("all 12 directions are connected"),
                          HasSubstr("Ready <b>20s</b> after the first pod was created")));
}

TEST(Page, SaysThatEachNodeCanServeOnlyWhereCheckDoes) {
  ClusterView view = settled_view();
  EXPECT_THAT(section(page_of(view), "troubles"), HasSubstr("None: "));
  std::erase_if(view.slices, [](const auto& slice) { return slice.node == "n2"; });
  EXPECT_THAT(section(page_of(view), "troubles"),
              AllOf(Not(HasSubstr("None: ")), HasSubstr("no ResourceSlice")));
}

TEST(Page, TellsWhatHindersADomainThatIsReady) {
  ClusterView view = settled_view();
  // Somebody else's template has the name.
  view.templates.front().meta.owners.clear();
  view.templates.front().meta.labels.clear();
  const std::string page = page_of(view);
  EXPECT_THAT(section(page, "troubles"),
              AllOf(Not(HasSubstr("None: ")), HasSubstr("team-a/train")));
  EXPECT_THAT(page, HasSubstr("1 Ready, <em>1 Ready, but in trouble</em>"));
  EXPECT_THAT(section(page, "domains"), HasSubstr("<dt>TemplateReady</dt><dd>TemplateNameTaken: "));
}

// Of members in several cliques a person hears too, also where a chain finds no stop.
TEST(Page, TellsThatAReadyDomainIsInSeveralCliques) {
  Cluster cluster;
  std::vector<std::string> nodes = cluster.add_clique("clique.1", "a", 2);
  for (const std::string& node : cluster.add_clique("clique.2", "b", 2)) nodes.push_back(node);
  cluster.form("train", nodes);
  const std::string page = page_of(cluster.view());
  EXPECT_THAT(section(page, "troubles"),
              AllOf(Not(HasSubstr("None: ")), HasSubstr("team-a/train")));
  EXPECT_THAT(section(page, "domains"), HasSubstr("<dt>SingleClique</dt><dd>SeveralCliques: "));
}

TEST(Page, NamesNodesInTroubleBeforeThoseThatAreOut) {
  Cluster cluster;
  for (const std::string& node : cluster.add_clique("clique.1", "cordoned", 60)) {
    cluster.node(node).report->status.conditions = {{.type = api::kConditionCanServe,
                                                     .status = api::ConditionStatus::False,
                                                     .reason = "Cordoned",
                                                     .message = "the node is cordoned",
                                                     .last_transition = kNow}};
  }
  const auto faulty = cluster.add_clique("clique.2", "faulty", 2);
  cluster.node(faulty[1]).node->boot_id = "boot-2";
  const std::string page = page_of(cluster.view());
  EXPECT_THAT(section(page, "troubles"), HasSubstr("NodeRebooted"));
  const std::string topology = section(page, "topology");
  EXPECT_LT(topology.find("<code>clique.2</code></h3>"),
            topology.find("<code>clique.1</code></h3>"));
  EXPECT_THAT(topology, HasSubstr("<li class=\"s-o\"><b>cordoned01</b>"));
}

// What stands beside the rows of the first matrix.
std::set<std::string> row_texts(const std::string& page) {
  std::set<std::string> rows;
  const std::regex row("<text class=\"rw\"[^>]*>(<title>[^<]*</title>)?([^<]*)<");
  for (std::sregex_iterator it(page.begin(), page.end(), row), end; it != end; ++it) {
    rows.insert((*it)[2]);
  }
  return rows;
}

TEST(Page, CallsRowsByWhatTellsTheirNodesApart) {
  Cluster cloud;
  cloud.form("train", cloud.add_clique("clique.1", "aks-gpupool-12345678-vmss0000", 4));
  const std::string page = page_of(cloud.view());
  EXPECT_THAT(row_texts(page),
              ::testing::ElementsAre("…vmss000001", "…vmss000002", "…vmss000003", "…vmss000004"));
  EXPECT_THAT(page, HasSubstr("Which number is which node"));

  Cluster other;
  std::vector<std::string> nodes;
  for (const char* number : {"12", "113"}) {
    const std::string name = cat("ip-10-0-0-", number, ".eu-central-1.compute.internal");
    nodes.push_back(other.add_clique("clique.1", name, 1).front());
  }
  other.form("train", nodes);
  EXPECT_EQ(row_texts(page_of(other.view())).size(), 2U);
}

TEST(Page, ShowsAWarningAmongManyEvents) {
  ClusterView view = settled_view();
  for (int i = 0; i < 200; ++i) {
    api::Occurrence event;
    event.meta.name = cat("event-", i);
    event.involved.uid = "uid-train";
    event.type = i == 100 ? "Warning" : "Normal";
    event.reason = i == 100 ? "Important" : "Unimportant";
    event.event_time = kNow + std::chrono::seconds(i);
    view.events.push_back(event);
  }
  view.taken = kNow + std::chrono::minutes(5);
  const std::string page = page_of(view);
  EXPECT_EQ(count(page, "<tr class=\"warn\">"), 1U);
  EXPECT_THAT(page, AllOf(HasSubstr("Important"), HasSubstr("more entries here")));
  EXPECT_EQ(count(page, "<i class=\"mark bad\""), 1U);
}

// WCAG 2.2, 1.4.11: signs and lines need 3:1 against what is behind them.
double light_of(const std::string& colour) {
  double light = 0;
  const double weights[] = {0.2126, 0.7152, 0.0722};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string digits =
        colour.size() == 3 ? std::string(2, colour[i]) : colour.substr(2 * i, 2);
    const double value = std::stoi(digits, nullptr, 16) / 255.0;
    light +=
        weights[i] * (value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4));
  }
  return light;
}

TEST(Page, HasStatesThatAreSeenOnBothGroundsInBothSchemes) {
  const std::string page = page_of(installed());
  std::size_t schemes = 0;
  for (auto at = page.find("--bg: #"); at != std::string::npos; at = page.find("--bg: #", at + 1)) {
    ++schemes;
    const auto colour = [&](const std::string& name) {
      const auto begin = page.find(cat("--", name, ": #"), at) + name.size() + 5;
      return page.substr(begin, page.find(';', begin) - begin);
    };
    for (const char* ground : {"bg", "panel"}) {
      for (const char* state : {"use", "part", "free", "bad", "out", "none", "warn", "ok"}) {
        const auto [dark, bright] =
            std::minmax({light_of(colour(ground)), light_of(colour(state))});
        EXPECT_GE((bright + 0.05) / (dark + 0.05), 3) << state << " on " << ground;
      }
    }
  }
  EXPECT_EQ(schemes, 2U);
}

TEST(Page, ShowsThePhasesToReadyAndWhatCameAfter) {
  const std::string page = page_of(troubled_view());
  for (const char* phase :
       {"pods created", "pods scheduled", "IMEX daemons READY", "ComputeDomain Ready"}) {
    EXPECT_THAT(page,
                HasSubstr(cat("<span>", phase, "</span><span class=\"track\"><i class=\"bar")));
  }
  EXPECT_THAT(page, HasSubstr(">After it was Ready</th>"));
}

TEST(Page, IsOfAClusterWithNothing) {
  ClusterView view = installed();
  view.leases.clear();
  const std::string page = page_of(view);
  EXPECT_EQ(boxes(page), 0U);
  EXPECT_THAT(section(page, "topology"), HasSubstr("No node has a GPU or an agent"));
  EXPECT_THAT(section(page, "troubles"),
              AllOf(HasSubstr("controller"), HasSubstr("<ul class=\"list\">")));
  EXPECT_THAT(page_of(ClusterView{}), HasSubstr("</html>"));
}

// Objects that no part of it can rely on: names twice or empty, no times, no status, no owner.
TEST(Page, IsOfBrokenObjects) {
  ClusterView view = troubled_view();
  view.domains.push_back(view.domains.front());
  view.domains.emplace_back();
  view.nodes.push_back(view.nodes.front());
  view.reports.emplace_back();
  view.slices.emplace_back();
  view.claims.emplace_back();
  view.claims.push_back(view.claims.front());
  view.pods.emplace_back();
  view.lists.emplace_back();
  view.events.emplace_back();
  for (api::PodState& pod : view.pods) pod.meta.creation_time.reset();
  view.lists.front().data.clear();
  view.domains.front().status->conditions.clear();
  const std::string page = page_of(view);
  EXPECT_THAT(page, AllOf(HasSubstr("</html>"), HasSubstr("team-a/serve")));
}

TEST(Page, StaysSmallAt5000Nodes) {
  const ClusterView view = large_view();
  ASSERT_EQ(view.nodes.size(), 5004U);
  const std::string page = page_of(view);
  EXPECT_EQ(boxes(page), 5004U);
  EXPECT_EQ(count(page, "<h3>Clique "), 278U);
  EXPECT_EQ(count(section(page, "domains"), "<details class=\"part cd\""), 209U);
  EXPECT_LT(page.size(), 3'000'000U);
  EXPECT_THAT(page, Not(HasSubstr("Not shown: ")));
}

TEST(Page, DrawsAMatrixOf576NodesWithoutACellEach) {
  const std::string page = page_of(huge_domain_view(576, 7));
  EXPECT_THAT(page, HasSubstr("331,117 of 331,200 directions are connected, 83 cannot be reached"));
  EXPECT_LT(count(page, "<rect") + count(page, "<path"), 1000U);
  EXPECT_LT(page.size(), 200'000U);
}

// 6,000 nodes with the longest names and messages, most in trouble.
ClusterView crowded_view() {
  Cluster cluster;
  for (int rack = 0; rack < 60; ++rack) {
    const auto nodes = cluster.add_clique(
        cat("875cddc7-e270-4809-931f-7182962c20fc.", rack),
        cat("a-name-that-is-as-long-as-those-of-some-clouds.", rack, std::string(180, 'n')), 100);
    for (std::size_t i = 0; i < 24; ++i) cluster.form(cat("d", rack, "-", i), {nodes[i]});
    for (std::size_t i = 30; i < 90; ++i) {
      cluster.node(nodes[i]).report->status.conditions = {{.type = api::kConditionCanServe,
                                                           .status = api::ConditionStatus::False,
                                                           .reason = "FabricNotReady",
                                                           .message = std::string(5000, '<'),
                                                           .last_transition = kNow}};
    }
  }
  ClusterView view = cluster.view();
  for (api::Occurrence& event : view.events) event.message = std::string(5000, '"');
  return view;
}

TEST(Page, StaysBoundedWhateverThereIs) {
  const std::string page = page_of(crowded_view());
  EXPECT_LT(page.size(), kMostPageBytes);
  EXPECT_THAT(section(page, "topology"), HasSubstr("Not shown: "));
  EXPECT_THAT(section(page, "domains"), HasSubstr("Not shown: "));
  EXPECT_THAT(page, HasSubstr("</html>"));
}

TEST(Page, LeadsOnlyToWhatIsOnIt) {
  const std::string page = page_of(crowded_view());
  std::set<std::string> ids, targets;
  const std::regex id("(<[^>]* id=|href=)\"(#?[^\"]*)\"");
  for (std::sregex_iterator it(page.begin(), page.end(), id), end; it != end; ++it) {
    const std::string value = (*it)[2];
    if (value.starts_with('#')) {
      targets.insert(value.substr(1));
    } else {
      ids.insert(value);
    }
  }
  EXPECT_THAT(targets, ::testing::IsSupersetOf({"c1", "d1"}));
  for (const std::string& target : targets) EXPECT_TRUE(ids.contains(target)) << target;
  // What finds no room has a line, which can be found.
  EXPECT_EQ(
      count(page, "<div class=\"part bare\" id=\"d") + count(page, "<details class=\"part cd\""),
      60U * 24U);
  EXPECT_TRUE(ids.contains("c60"));
}

// A bundle may come from anywhere.
TEST(Page, StaysBoundedBesideAThousandDaemonSets) {
  ClusterView view = settled_view();
  for (int i = 0; i < 1000; ++i) {
    api::DaemonSetRollout set;
    set.meta.name = cat(std::string(240, '<'), i);
    set.wanted = 1;
    view.daemon_sets.push_back(set);
  }
  const std::string page = page_of(view);
  EXPECT_LT(section(page, "troubles").size(), 300'000U);
  EXPECT_THAT(section(page, "troubles"), HasSubstr("Not shown: 975 more findings"));
}

TEST(Page, StaysBoundedWithAMapOfAThousandCliques) {
  Cluster cluster;
  for (int i = 0; i < 1200; ++i) {
    cluster.add_clique(cat(std::string(240, '<'), i), cat("n", i, "-"), 1);
  }
  const std::string page = page_of(cluster.view());
  EXPECT_LE(section(page, "topology").size(), 1'900'000U);
  EXPECT_THAT(section(page, "topology"), HasSubstr(" more cliques on the map"));
}

// A domain of thousands of cliques is on its own page, with its timeline.
TEST(Page, BoundsAMatrixAndKeepsTheCliquesInTrouble) {
  MatrixReport report;
  for (int i = 0; i < 2500; ++i) {
    ReachGroup group{.clique = cat("clique.", i), .nodes = {cat("a", i), cat("b", i)}, .cells = {}};
    const Reach reach = i == 2400 ? Reach::Unreachable : Reach::Connected;
    group.cells = {{Reach::Self, reach}, {reach, Reach::Self}};
    report.groups.push_back(group);
  }
  const std::string matrix = page::matrix_html(report, 300'000).take();
  EXPECT_LE(matrix.size(), 300'000U);
  EXPECT_THAT(matrix, AllOf(HasSubstr("<h5>Clique <code>clique.2400<"), HasSubstr("clique.0<"),
                            HasSubstr("more cliques of it")));
}

// Any tenant may make many domains that are in trouble.
TEST(Page, ShowsADomainBesideThousandsOfAnotherNamespace) {
  ClusterView view = troubled_view();
  const auto status = view.domains[3].status;
  ASSERT_EQ(view.domains[3].meta.name, "train");
  for (int i = 0; i < 3000; ++i) {
    api::ComputeDomain spam = domain(cat("spam-", i)).wants(2);
    spam.meta.ns = "a-tenant";
    spam.meta.uid = cat("uid-spam-", i);
    spam.status = status;
    view.domains.push_back(spam);
  }
  const std::string page = page_of(view);
  EXPECT_LT(page.size(), kMostPageBytes);
  EXPECT_THAT(section(page, "domains"),
              AllOf(HasSubstr("Not shown: "), HasSubstr("<h3>team-a/train</h3>")));
  EXPECT_THAT(section(page, "troubles"),
              AllOf(HasSubstr("team-a/train"), HasSubstr("team-a/eval"), HasSubstr("Not shown: ")));
}

TEST(Page, IsOfTimesThatAreCenturiesApart) {
  ClusterView view = troubled_view();
  const auto long_ago = base::parse_rfc3339("0001-01-01T00:00:00Z");
  const auto far_off = base::parse_rfc3339("9999-01-01T00:00:00Z");
  view.events.front().event_time = long_ago;
  view.events.back().event_time = far_off;
  EXPECT_THAT(page_of(view), AllOf(HasSubstr(">-36525d00h<"), HasSubstr(">+36525d00h<")));
  pod_in(view, "eval-0").meta.creation_time = long_ago;
  view.taken = *far_off;
  EXPECT_THAT(page_of(view), HasSubstr("(Events last an hour), 36525d00h"));
}

TEST(Page, OfOneDomainHasItsOwnCliques) {
  const ClusterView view = troubled_view();
  const auto page = html_of(view, {"team-a", "serve"}, "a test");
  ASSERT_TRUE(page);
  EXPECT_EQ(boxes(*page), 8U);
  EXPECT_THAT(*page, AllOf(HasSubstr("<h1>ComputeDomain team-a/serve</h1>"),
                           Not(HasSubstr("r1n01")), Not(HasSubstr("team-a/train"))));
  // Who asked for it need not open it.
  EXPECT_THAT(*page, HasSubstr("<details class=\"part cd\" open>"));
}

TEST(Page, OfOneDomainSaysNothingOfTheWholeCluster) {
  const auto page = html_of(troubled_view(), {"team-a", "eval"}, "a test");
  ASSERT_TRUE(page);
  EXPECT_THAT(*page, AllOf(Not(HasSubstr("No node has a GPU")), Not(HasSubstr("None: ")),
                           HasSubstr("No clique has a device of it yet."),
                           HasSubstr("<dt>Nodes in its cliques</dt>")));
}

TEST(Page, OfOneDomainIsOfOneThatThereIs) {
  const auto page = html_of(troubled_view(), {"team-a", "other"}, "a test");
  ASSERT_FALSE(page);
  EXPECT_EQ(page.error().kind, base::ErrorKind::NotFound);
  EXPECT_THAT(page.error().message, HasSubstr("those there are: "));
}

}  // namespace
}  // namespace cdom::plugin
