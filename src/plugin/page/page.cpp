#include "compute_domain/plugin/page.h"

#include <algorithm>
#include <map>

#include "compute_domain/controller/definitions.h"
#include "compute_domain/plugin/check.h"
#include "plugin/page/assets.h"
#include "plugin/page/parts.h"

namespace cdom::plugin {

namespace page {

namespace {

// Parts of kMostPageBytes; what is left over is more than the other parts can be.
constexpr std::size_t kTopologyRoom = 1'800'000, kDomainsRoom = 2'400'000;
// Domains whose cause is looked for.
constexpr std::size_t kMostWhys = 25;

// "2026-11-26 02:25:08 UTC".
std::string time_text(base::Time time) {
  std::string text = base::to_rfc3339(time);
  if (const auto at = text.find('T'); at != std::string::npos) text[at] = ' ';
  if (text.ends_with('Z')) text.replace(text.size() - 1, 1, " UTC");
  return text;
}

struct Frame {
  const ClusterView& view;
  const std::string& source;
  std::string domain;  // "" for all
};

Html head_html(const Frame& frame) {
  Html title;
  if (frame.domain.empty()) {
    title << "ComputeDomains";
  } else {
    title << "ComputeDomain " << name(frame.domain);
  }
  Html html;
  html << "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
          "'unsafe-inline'; script-src '"
       << kScriptHash
       << "'; base-uri 'none'; form-action 'none'\">\n<meta name=\"viewport\" "
          "content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" "
          "content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<title>"
       << title << " · " << name(frame.source) << " · " << name(time_text(frame.view.taken))
       << "</title>\n<style>" << kStyle << "</style>\n</head>\n<body>\n"
       << "<a class=\"skip\" href=\"#main\">Skip to the content</a>\n<header><h1>" << title
       << "</h1>\n<dl class=\"meta\"><div><dt>Taken</dt><dd><time datetime=\""
       << name(base::to_rfc3339(frame.view.taken)) << "\">" << name(time_text(frame.view.taken))
       << "</time></dd></div><div><dt>From</dt><dd>" << name(frame.source)
       << "</dd></div><div><dt>Kubernetes</dt><dd>"
       << name(frame.view.server_version.empty() ? "unknown" : frame.view.server_version)
       << "</dd></div><div><dt>Made by</dt><dd>kubectl compute-domain " << name(CDOM_VERSION)
       << "</dd></div></dl></header>\n";
  return html << "<nav class=\"bar\" aria-label=\"Page\"><a href=\"#troubles\">Troubles</a><a "
                 "href=\"#topology\">Topology</a><a href=\"#domains\">ComputeDomains</a><form "
                 "id=\"find\" role=\"search\" hidden><label for=\"q\">Find</label><input id=\"q\" "
                 "type=\"search\" autocomplete=\"off\" spellcheck=\"false\" placeholder=\"node, "
                 "clique, domain\"><button>Next</button><output id=\"found\" "
                 "for=\"q\"></output></form></nav>\n<main id=\"main\" tabindex=\"-1\">\n";
}

std::vector<Finding> unwell(std::vector<Finding> findings) {
  std::erase_if(findings, [](const Finding& f) { return f.verdict == Verdict::Ok; });
  return findings;
}

// The causes of domains that are not well, by their places.
std::map<std::size_t, WhyReport> whys_of(const Facts& facts, const std::vector<DomainHead>& heads) {
  std::map<std::size_t, WhyReport> whys;
  for (const std::size_t place : fair_order(heads)) {
    if (heads[place].state == DomainState::Ready || whys.size() == kMostWhys) break;
    whys.emplace(place, why_of(facts, facts.facts_of(*heads[place].object)));
  }
  return whys;
}

// Only what has to do with that domain.
void narrow(TopologyReport& topology, const std::string& domain) {
  std::erase_if(topology.cliques, [&](const TopologyClique& clique) {
    return std::ranges::find(clique.domains, domain) == clique.domains.end();
  });
  std::erase_if(topology.unreachable,
                [&](const UnreachablePair& pair) { return pair.domain != domain; });
}

std::string document(const Facts& facts, const Frame& frame) {
  TopologyReport topology = topology_of(facts);
  std::vector<DomainHead> heads = domain_heads(facts);
  if (!frame.domain.empty()) {
    narrow(topology, frame.domain);
    std::erase_if(heads, [&](const DomainHead& head) { return head.name != frame.domain; });
  }
  const std::vector<Finding> install =
      unwell(install_of(facts.view(), controller::expected_definitions()));
  const Overview overview{topology, heads, install, !frame.domain.empty()};
  const Section domains = domains_html(facts, heads, kDomainsRoom);
  const Section cliques = topology_html(overview, domains.has_id, kTopologyRoom);
  Html html = head_html(frame);
  html << overview_html(overview)
       << troubles_html(overview, whys_of(facts, heads), cliques, domains);
  // Who asked about one domain looks for that first.
  if (frame.domain.empty()) {
    html << cliques.html << domains.html;
  } else {
    html << domains.html << cliques.html;
  }
  html << "</main>\n<footer><p>Made from what the cluster said at that time; this page asks nobody "
          "again.</p></footer>\n<script>"
       << kScript << "</script>\n</body>\n</html>\n";
  return std::move(html).take();
}

}  // namespace

Html counted(std::size_t number, Literal one, Literal many) {
  Html html;
  html.count(static_cast<std::int64_t>(number));
  return html << " " << (number == 1 ? one : many);
}

Html left_out(std::size_t number, Literal what) {
  Html html;
  if (number == 0) return html;
  html << "<p class=\"more\">Not shown: ";
  html.count(static_cast<std::int64_t>(number));
  return html << " more " << what << ".</p>\n";
}

}  // namespace page

std::string html_of(const ClusterView& view, const std::string& source) {
  return page::document(Facts(view), {view, source, ""});
}

base::Result<std::string> html_of(const ClusterView& view, const api::ObjectName& domain,
                                  const std::string& source) {
  const Facts facts(view);
  if (facts.domain(domain) == nullptr) return no_such_domain(view, domain);
  return page::document(facts, {view, source, api::to_string(domain)});
}

}  // namespace cdom::plugin
