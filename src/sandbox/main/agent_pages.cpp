#include "sandbox/main/agent_pages.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "compute_domain/base/text.h"

namespace cdom::program {
namespace {

using base::cat;

constexpr std::string_view kNodes = "/nodes/", kMetrics = "/metrics";
constexpr char kTargets[] = "/targets";

std::string path_of(const std::string& node) { return cat(kNodes, node, kMetrics); }

// "" for another path.
std::string node_in(std::string_view path) {
  if (!path.starts_with(kNodes) || !path.ends_with(kMetrics)) return "";
  path.remove_prefix(kNodes.size());
  return std::string(path.substr(0, path.size() - std::min(path.size(), kMetrics.size())));
}

http::Response response(int status, const char* type, std::string body) {
  return {.status = status, .headers = {{"Content-Type", type}}, .body = std::move(body)};
}

}  // namespace

void AgentPages::add(const std::string& node, const base::Registry& registry) {
  const std::lock_guard lock(mutex_);
  by_node_[node] = &registry;
}

void AgentPages::remove(const std::string& node) {
  const std::lock_guard lock(mutex_);
  by_node_.erase(node);
}

http::Response AgentPages::page(const std::string& path, const std::string& address) const {
  // Also while it is rendered: an agent may end at any time.
  const std::lock_guard lock(mutex_);
  if (path == kTargets) return response(200, "application/json", targets(address));
  const auto agent = by_node_.find(node_in(path));
  if (agent == by_node_.end()) {
    return response(404, "text/plain; charset=utf-8",
                    cat("no agent runs there; ", kTargets, " names those that do\n"));
  }
  return response(200, "text/plain; version=0.0.4; charset=utf-8", agent->second->render());
}

// Prometheus, HTTP SD format. Names of nodes are DNS subdomains, which need no escapes in JSON.
std::string AgentPages::targets(const std::string& address) const {
  std::vector<std::string> targets;
  targets.reserve(by_node_.size());
  for (const auto& [node, registry] : by_node_) {
    targets.push_back(cat(R"({"targets":[")", address, R"("],"labels":{"__metrics_path__":")",
                          path_of(node), R"(","instance":")", node, R"(","node":")", node,
                          R"("}})"));
  }
  return cat("[", base::join(targets, ",\n"), "]\n");
}

base::Result<std::unique_ptr<http::Server>> serve_agent_pages(const std::string& listen,
                                                              const AgentPages& pages) {
  http::ServerConfig config;
  config.listen = listen;
  config.body_limit = 0;  // nothing here is sent any
  return http::make_server(
      std::move(config), [&pages](const http::Request& request, const http::Peer&) -> http::Reply {
        if (request.method != "GET") return response(405, "text/plain", "only GET\n");
        const auto host = request.headers.find("Host");
        return pages.page(request.target.substr(0, request.target.find('?')),
                          host == request.headers.end() ? "" : host->second);
      });
}

}  // namespace cdom::program
