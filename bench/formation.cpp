#include "formation.h"

#include <stdexcept>
#include <thread>

#include "compute_domain/api/codec.h"
#include "compute_domain/base/text.h"
#include "cpu_time.h"

namespace cdom::bench {

namespace {

using base::cat;
using namespace std::chrono_literals;

constexpr char kDomains[] = "/apis/resource.nvidia.com/v1beta1/namespaces/default/computedomains";
constexpr char kTemplates[] = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaimtemplates";
constexpr char kJobs[] = "/apis/batch/v1/namespaces/default/jobs";
constexpr char kClaims[] = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims";
constexpr char kPods[] = "/api/v1/namespaces/default/pods";
constexpr base::Duration kPatience = 60s;

http::Request json_request(std::string method, std::string target, std::string body) {
  return {.method = std::move(method),
          .target = std::move(target),
          .headers = {{"Content-Type", "application/json"}, {"Accept", "application/json"}},
          .body = std::move(body)};
}

std::string domain_json(const std::string& name, int nodes) {
  return cat(
      R"({"apiVersion":"resource.nvidia.com/v1beta1","kind":"ComputeDomain","metadata":{"name":")",
      name, R"("},"spec":{"numNodes":)", nodes, R"(,"channel":{"resourceClaimTemplate":{"name":")",
      name, R"("}}}})");
}

std::string pod_json(const std::string& name, const std::string& domain,
                     const std::string& node_selector) {
  return cat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")", name,
             R"("},"spec":{"terminationGracePeriodSeconds":1,"nodeSelector":)",
             node_selector.empty() ? "{}" : node_selector,
             R"(,"containers":[{"name":"worker","image":"busybox","command":["sleep","infinity"],)",
             R"("resources":{"claims":[{"name":"channel"}]}}],)",
             R"("resourceClaims":[{"name":"channel","resourceClaimTemplateName":")", domain,
             R"("}]}})");
}

std::string job_json(const std::string& name, int nodes) {
  return cat(R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":")", name,
             R"("},"spec":{"completionMode":"Indexed","completions":)", nodes, R"(,"parallelism":)",
             nodes, R"(,"template":{"spec":{"restartPolicy":"Never",)",
             R"("terminationGracePeriodSeconds":1,"containers":[{"name":"worker",)",
             R"("image":"busybox","command":["sleep","infinity"],)",
             R"("resources":{"claims":[{"name":"channel"}]}}],)",
             R"("resourceClaims":[{"name":"channel","resourceClaimTemplateName":")", name,
             R"("}]}}}})");
}

// That names no domain.
std::string template_json(const std::string& name) {
  return cat(R"({"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaimTemplate",)",
             R"("metadata":{"name":")", name,
             R"("},"spec":{"spec":{"devices":{"requests":[{"name":"channel",)",
             R"("exactly":{"deviceClassName":"compute-domain-default-channel.nvidia.com"}}]}}}})");
}

std::string pod_name(const std::string& domain, int number) { return cat(domain, "-", number); }

}  // namespace

void Formation::expect(const http::Request& request, int status) {
  const auto answer = user_.send(request);
  if (answer && (answer->status == status || (status == 200 && answer->status == 202))) return;
  throw std::runtime_error(cat(request.method, " ", request.target, ": ",
                               answer ? answer->body : answer.error().message));
}

void Formation::wait_for(const std::string& target, int status) {
  const base::Duration end = clock_.elapsed() + kPatience;
  while (clock_.elapsed() < end) {
    const auto answer = user_.send({.method = "GET", .target = target});
    if (answer && answer->status == status) return;
    std::this_thread::sleep_for(2ms);
  }
  throw std::runtime_error(cat(target, ": no answer ", status, " within a minute"));
}

FormationTimes Formation::run(const std::string& name, const FormationOptions& options) {
  moments_.clear();
  FormationTimes times;
  expect(json_request("POST", kDomains, domain_json(name, options.nodes)), 201);
  wait_for(cat(kTemplates, "/", name), 200);
  const auto opened =
      user_.open({.method = "GET",
                  .target = cat(kDomains, "?watch=true&fieldSelector=metadata.name%3D", name)});
  if (!opened || !opened->stream) throw std::runtime_error("cannot watch the domain");
  const base::Duration start = clock_.elapsed();
  const double cpu_before = own_cpu_seconds();
  for (int i = 0; i < options.nodes; ++i) {
    std::this_thread::sleep_until(
        std::chrono::steady_clock::now() +
        (options.spread * i / options.nodes - (clock_.elapsed() - start)));
    const std::string selector = options.on.empty()
                                     ? options.node_selector
                                     : cat(R"({"kubernetes.io/hostname":")",
                                           options.on.at(static_cast<std::size_t>(i)), R"("})");
    expect(json_request("POST", kPods, pod_json(pod_name(name, i), name, selector)), 201);
  }
  times.last_pod_created = clock_.now();
  const base::Duration end = clock_.elapsed() + kPatience;
  while (times.ready == base::Time{}) {
    if (clock_.elapsed() > end) throw std::runtime_error(cat(name, " is not Ready after a minute"));
    const auto read = opened->stream->next(1s);
    if (!read || read->what == http::StreamRead::What::End) {
      throw std::runtime_error("the watch of the domain broke");
    }
    if (read->what != http::StreamRead::What::Line) continue;
    const auto event = api::decode_watch_event<api::ComputeDomain>(read->line);
    if (event && event->object.status && event->object.status->ready) times.ready = clock_.now();
  }
  times.cpu_seconds = own_cpu_seconds() - cpu_before;
  while (moments_.seen().prepared < static_cast<std::size_t>(options.nodes)) {
    if (clock_.elapsed() > end) throw std::runtime_error(cat(name, ": not all is prepared"));
    std::this_thread::sleep_for(1ms);
  }
  times.last_prepared = moments_.seen().last_prepared;
  return times;
}

void Formation::take_down(const std::string& name, const FormationOptions& options) {
  for (int i = 0; i < options.nodes; ++i) {
    expect(json_request("DELETE", cat(kPods, "/", pod_name(name, i)), "{}"), 200);
  }
  expect(json_request("DELETE", cat(kDomains, "/", name), "{}"), 200);
  wait_for(cat(kDomains, "/", name), 404);
  for (int i = 0; i < options.nodes; ++i) {
    wait_for(cat(kPods, "/", pod_name(name, i)), 404);
  }
}

void Formation::wait_until_empty(const std::string& collection) {
  const base::Duration end = clock_.elapsed() + kPatience;
  while (clock_.elapsed() < end) {
    const auto answer = user_.send({.method = "GET", .target = collection});
    if (answer && answer->body.find(R"("items":[])") != std::string::npos) return;
    std::this_thread::sleep_for(5ms);
  }
  throw std::runtime_error(cat(collection, ": not empty after a minute"));
}

base::Duration Formation::run_job(const std::string& name, int nodes, bool is_automatic) {
  moments_.clear();
  if (is_automatic) {
    expect(json_request("POST", kTemplates, template_json(name)), 201);
  } else {
    expect(json_request("POST", kDomains, domain_json(name, nodes)), 201);
    wait_for(cat(kTemplates, "/", name), 200);
  }
  const base::Time start = clock_.now();
  const base::Duration end = clock_.elapsed() + kPatience;
  expect(json_request("POST", kJobs, job_json(name, nodes)), 201);
  while (moments_.seen().prepared < static_cast<std::size_t>(nodes)) {
    if (clock_.elapsed() > end) throw std::runtime_error(cat(name, ": not all is prepared"));
    std::this_thread::sleep_for(1ms);
  }
  return moments_.seen().last_prepared - start;
}

void Formation::take_down_job(const std::string& name, bool is_automatic) {
  expect(json_request("DELETE", cat(kJobs, "/", name), R"({"propagationPolicy":"Background"})"),
         200);
  expect(is_automatic ? json_request("DELETE", cat(kTemplates, "/", name), "{}")
                      : json_request("DELETE", cat(kDomains, "/", name), "{}"),
         200);
  wait_until_empty(kDomains);
  wait_until_empty(kPods);
  // A node's device is free when the claim is gone: a pod that finds none is tried again after 1 s.
  wait_until_empty(kClaims);
}

}  // namespace cdom::bench
