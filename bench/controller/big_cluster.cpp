#include "big_cluster.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "compute_domain/api/codec.h"
#include "compute_domain/api/names.h"
#include "compute_domain/api/node_list.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/node_lists.h"
#include "sandbox/main/embedded_manifests.h"

namespace cdom::bench {

namespace {

using base::cat;
using nlohmann::json;
using namespace std::chrono_literals;

constexpr char kDomains[] = "/apis/resource.nvidia.com/v1beta1/namespaces/default/computedomains";
constexpr char kReports[] = "/apis/resource.nvidia.com/v1beta1/computedomainnodes";
constexpr char kSlices[] = "/apis/resource.k8s.io/v1/resourceslices";
constexpr char kClaims[] = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims";
constexpr char kTemplates[] = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaimtemplates";
constexpr char kNodes[] = "/api/v1/nodes";
constexpr char kLabelled[] =
    "/api/v1/nodes?watch=true&labelSelector=resource.nvidia.com%2Fcompute-domain-agent%3Ddetected";
constexpr char kAgents[] = "/api/v1/namespaces/compute-domain-nodes/pods";

std::string node_name(int rack, int place) { return cat("gb200-rack-", rack, "-node-", place); }
std::string clique_of(int rack) { return cat("4f6e1c1a-0000-4000-8000-000000000000.", rack); }
std::string domain_name(int rack) { return cat("training-", rack); }

// What a node of a GPU cluster carries: feature labels, annotations of its operators, images.
json node_object(int rack, int place) {
  json labels{{"kubernetes.io/hostname", node_name(rack, place)},
              {"nvidia.com/gpu.present", "true"},
              {"nvidia.com/gpu.clique", clique_of(rack)}};
  for (int i = 0; i < 40; ++i) {
    labels[cat("feature.node.kubernetes.io/cpu-cpuid.FEATURE", i)] = "true";
  }
  json annotations;
  for (int i = 0; i < 8; ++i) {
    annotations[cat("operator-", i, ".example.com/state")] = std::string(80, 'a');
  }
  json images = json::array();
  for (int i = 0; i < 10; ++i) {
    images.push_back(
        {{"names", {cat("registry.example.com/team/image-", i, "@sha256:", std::string(64, 'f'))}},
         {"sizeBytes", 123456789 + i}});
  }
  return {
      {"metadata",
       {{"name", node_name(rack, place)}, {"labels", labels}, {"annotations", annotations}}},
      {"status",
       {{"nodeInfo", {{"bootID", cat("boot-", rack, "-", place)}, {"kubeletVersion", "v1.36.3"}}},
        {"addresses",
         {{{"type", "InternalIP"},
           {"address", cat("10.", rack / 250, ".", rack % 250, ".", place)}}}},
        {"conditions",
         {{{"type", "Ready"},
           {"status", "True"},
           {"reason", "KubeletReady"},
           {"lastHeartbeatTime", "2026-01-02T03:04:05Z"}}}},
        {"images", images}}}};
}

// Of the agent, as its DaemonSet makes it; no more of its spec than what says where it runs.
json agent_pod(int rack, int place) {
  const std::string name = node_name(rack, place);
  return {{"metadata",
           {{"name", cat(api::kAgentApp, "-", name)},
            {"labels",
             {{api::kAgentAppLabel, api::kAgentApp},
              {"controller-revision-hash", "7d5c9f6b8d"},
              {"pod-template-generation", "1"}}}}},
          {"spec",
           {{"nodeName", name},
            {"containers",
             {{{"name", "agent"},
               {"image", cat("registry.example.com/team/agent@sha256:", std::string(64, 'f'))}}}}}},
          {"status",
           {{"phase", "Running"},
            {"podIP", cat("10.", rack / 250, ".", rack % 250, ".", place)},
            {"conditions",
             {{{"type", "Ready"},
               {"status", "True"},
               {"lastTransitionTime", "2026-01-02T03:04:05Z"}}}}}}};
}

json claim_spec(const std::string& domain_uid) {
  return {{"devices",
           {{"requests",
             {{{"name", "channel"}, {"exactly", {{"deviceClassName", api::kChannelClass}}}}}},
            {"config",
             {{{"requests", {"channel"}},
               {"opaque",
                {{"driver", api::kDriver},
                 {"parameters",
                  {{"apiVersion", "resource.nvidia.com/v1beta1"},
                   {"kind", "ComputeDomainChannelConfig"},
                   {"domainID", domain_uid},
                   {"allocationMode", "Single"}}}}}}}}}}};
}

json claim_status(const json& spec, int rack, int place) {
  json config = spec["devices"]["config"];
  config[0]["source"] = "FromClaim";
  const std::string node = node_name(rack, place);
  return {{"allocation",
           {{"devices",
             {{"results",
               {{{"request", "channel"},
                 {"driver", api::kDriver},
                 {"pool", node},
                 {"device", "channel-0"}}}},
              {"config", config}}},
            {"nodeSelector",
             {{"nodeSelectorTerms",
               {{{"matchFields",
                  {{{"key", "metadata.name"}, {"operator", "In"}, {"values", {node}}}}}}}}}}}},
          {"reservedFor",
           {{{"resource", "pods"},
             {"name", cat("pod-", rack, "-", place)},
             {"uid", cat("pod-uid-", rack, "-", place)}}}}};
}

json ready_word(const api::NodeList& list, const api::NodeListEntry& own) {
  return {{"group", list.group},
          {"tableHash", api::table_hash(list)},
          {"slot", own.slot},
          {"term", own.term},
          {"state", "Ready"},
          {"instance", cat("i-", own.node)},
          {"since", "2026-01-02T03:04:05Z"},
          {"connected", cat("0-", list.entries.size() - 1)},
          {"claims", {own.admits.front().claim_uid}}};
}

}  // namespace

BigCluster::BigCluster(const base::Clock& clock, int racks)
    : clock_(clock), racks_(racks), server_(clock), user_(server_.client(sandbox::admin_user())) {
  for (const auto& [name, text] : program::embedded_manifests()) {
    if (const auto loaded = server_.load(text); !loaded) {
      throw std::runtime_error(cat(name, ": ", loaded.error().message));
    }
  }
  send("POST", "/api/v1/namespaces", json{{"metadata", {{"name", "default"}}}}.dump());
  for (int rack = 0; rack < racks_; ++rack) {
    for (int place = 0; place < kNodesPerRack; ++place) create_node(rack, place);
  }
  node_size_ = send("GET", cat(kNodes, "/", node_name(0, 0)), "").size();
  auto front = sandbox::serve(server_, "127.0.0.1:0");
  if (!front) throw std::runtime_error(front.error().message);
  front_ = std::move(*front);
  kubeconfig_ = cat("/tmp/big-cluster-", ::getpid(), ".kubeconfig");
  const auto written = sandbox::write_kubeconfig(
      kubeconfig_, sandbox::kubeconfig(front_->address(), server_.admin_token()));
  if (!written) throw std::runtime_error(written.error().message);
  agents_ = std::jthread([this](const std::stop_token& stop) { answer_lists(stop); });
}

BigCluster::~BigCluster() { std::remove(kubeconfig_.c_str()); }

std::string BigCluster::send(const std::string& method, const std::string& target,
                             const std::string& body) {
  http::Request request{.method = method, .target = target, .headers = {}, .body = body};
  request.headers["Content-Type"] =
      method == "PATCH" ? "application/merge-patch+json" : "application/json";
  auto answer = user_->send(request);
  if (!answer) throw std::runtime_error(answer.error().message);
  if (answer->status >= 300) throw std::runtime_error(cat(method, " ", target, ": ", answer->body));
  return std::move(answer->body);
}

void BigCluster::create_node(int rack, int place) {
  const std::string name = node_name(rack, place);
  const json node = node_object(rack, place);
  send("POST", kNodes, node.dump());
  send("PATCH", cat(kNodes, "/", name, "/status"), json{{"status", node["status"]}}.dump());
}

void BigCluster::create_agent(int rack, int place) {
  const std::string name = node_name(rack, place);
  send("POST", kSlices,
       json{{"metadata", {{"name", cat(name, "-", api::kDriver)}}},
            {"spec",
             {{"driver", api::kDriver},
              {"nodeName", name},
              {"pool", {{"name", name}, {"generation", 1}, {"resourceSliceCount", 1}}},
              {"devices",
               {{{"name", "channel-0"},
                 {"attributes",
                  {{"type", {{"string", "channel"}}},
                   {"id", {{"int", 0}}},
                   {"clique", {{"string", clique_of(rack)}}}}}}}}}}}
           .dump());
  send("POST", kReports,
       json{{"apiVersion", "resource.nvidia.com/v1beta1"},
            {"kind", "ComputeDomainNode"},
            {"metadata", {{"name", name}}}}
           .dump());
  send("PATCH", cat(kReports, "/", name, "/status"),
       json{{"status",
             {{"bootID", cat("boot-", rack, "-", place)},
              {"clique", clique_of(rack)},
              {"address", cat("10.", rack / 250, ".", rack % 250, ".", place)}}}}
           .dump());
  const json pod = agent_pod(rack, place);
  send("POST", kAgents, pod.dump());
  send("PATCH", cat(kAgents, "/", std::string(pod["metadata"]["name"]), "/status"),
       json{{"status", pod["status"]}}.dump());
}

void BigCluster::create_agents() {
  for (int rack = 0; rack < racks_; ++rack) {
    for (int place = 0; place < kNodesPerRack; ++place) create_agent(rack, place);
  }
}

void BigCluster::create_domains() {
  for (int rack = 0; rack < racks_; ++rack) {
    send("POST", kDomains,
         json{{"apiVersion", "resource.nvidia.com/v1beta1"},
              {"kind", "ComputeDomain"},
              {"metadata", {{"name", domain_name(rack)}}},
              {"spec",
               {{"numNodes", kNodesPerRack},
                {"channel", {{"resourceClaimTemplate", {{"name", domain_name(rack)}}}}}}}}
             .dump());
  }
}

void BigCluster::create_claims() {
  for (int rack = 0; rack < racks_; ++rack) {
    const std::string uid =
        json::parse(send("GET", cat(kDomains, "/", domain_name(rack)), ""))["metadata"]["uid"];
    const json spec = claim_spec(uid);
    for (int place = 0; place < kNodesPerRack; ++place) {
      const std::string name = cat("claim-", rack, "-", place);
      send("POST", kClaims, json{{"metadata", {{"name", name}}}, {"spec", spec}}.dump());
      send("PATCH", cat(kClaims, "/", name, "/status"),
           json{{"status", claim_status(spec, rack, place)}}.dump());
    }
  }
}

void BigCluster::heartbeat(base::Duration span) {
  constexpr base::Duration kPeriod = 5min;
  const base::Duration gap = kPeriod / nodes();
  const auto start = std::chrono::steady_clock::now();
  for (base::Duration at{}; at < span; at += gap, ++beats_) {
    std::this_thread::sleep_until(start + at);
    const std::string name = node_name(beats_ / kNodesPerRack % racks_, beats_ % kNodesPerRack);
    send("PATCH", cat(kNodes, "/", name, "/status"),
         json{{"status",
               {{"conditions",
                 {{{"type", "Ready"},
                   {"status", "True"},
                   {"reason", "KubeletReady"},
                   {"lastHeartbeatTime", base::to_rfc3339(clock_.now())}}}}}}}
             .dump());
  }
}

base::Time BigCluster::read_until(const std::string& target, const IsLast& is_last) {
  const auto opened = user_->open({.method = "GET", .target = target});
  if (!opened || !opened->stream) throw std::runtime_error("cannot watch " + target);
  const base::Duration end = clock_.elapsed() + std::max<base::Duration>(2min, racks_ * 200ms);
  while (clock_.elapsed() < end) {
    const auto read = opened->stream->next(100ms);
    if (!read) throw std::runtime_error(read.error().message);
    if (read->what == http::StreamRead::What::End) {
      throw std::runtime_error(cat("the watch of ", target, " has ended"));
    }
    if (read->what != http::StreamRead::What::Line) continue;
    if (is_last(read->line)) return clock_.now();
  }
  throw std::runtime_error(cat("what is waited for did not come in the watch of ", target));
}

base::Time BigCluster::wait_for_labels() {
  // Without opening them: they are large, and this is the API server's process.
  int labelled = 0;
  return read_until(kLabelled, [&](std::string_view line) {
    return line.starts_with(R"({"type":"ADDED")") && ++labelled == nodes();
  });
}

base::Time BigCluster::wait_for_all(const std::string& collection, const Bringing& domain_in) {
  std::set<std::string> seen;
  return read_until(cat(collection, "?watch=true"), [&](std::string_view line) {
    if (const std::string name = domain_in(line); !name.empty()) seen.insert(name);
    return std::ssize(seen) == racks_;
  });
}

base::Time BigCluster::wait_for_templates() {
  return wait_for_all(kTemplates, [](std::string_view line) {
    const auto event = api::decode_watch_event<api::ResourceClaimTemplate>(line);
    return event ? event->object.meta.name : "";
  });
}

base::Time BigCluster::wait_until_ready() {
  return wait_for_all(kDomains, [](std::string_view line) {
    const auto event = api::decode_watch_event<api::ComputeDomain>(line);
    const bool is_ready = event && event->object.status && event->object.status->ready;
    return is_ready ? event->object.meta.name : "";
  });
}

void BigCluster::answer_lists(const std::stop_token& stop) {
  std::set<std::string> answered;
  // A watcher that falls behind is cut.
  while (!stop.stop_requested()) {
    const auto opened =
        user_->open({.method = "GET",
                     .target = "/api/v1/namespaces/compute-domain-operator/configmaps?watch=true"});
    while (opened && opened->stream && !stop.stop_requested()) {
      const auto read = opened->stream->next(100ms);
      if (!read || read->what == http::StreamRead::What::End) break;
      if (read->what == http::StreamRead::What::Line) answer(read->line, answered);
    }
    std::this_thread::sleep_for(10ms);
  }
}

void BigCluster::answer(std::string_view line, std::set<std::string>& answered) {
  const auto event = api::decode_watch_event<api::ConfigMap>(line);
  if (!event || event->type == api::WatchType::Deleted) return;
  const core::StoredList stored = core::stored_list(event->object);
  if (!stored.list || !stored.list->complete) return;
  for (const api::NodeListEntry& entry : stored.list->entries) {
    if (entry.admits.empty() || !answered.insert(entry.node).second) continue;
    send("PATCH", cat(kReports, "/", entry.node, "/status"),
         json{{"status", {{"groups", {ready_word(*stored.list, entry)}}}}}.dump());
  }
}

}  // namespace cdom::bench
