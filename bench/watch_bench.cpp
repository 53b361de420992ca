// Watch events that an informer takes, per second of CPU time: out of the socket, cut into lines,
// decoded into a ResourceClaim, and put into the store. An event is a claim of 2.5 KB, as a real
// API server gives it, one to a chunk.
#include <cstdio>

#include "compute_domain/base/text.h"
#include "compute_domain/http/client.h"
#include "compute_domain/kube/informer.h"
#include "event_server.h"
#include "figure.h"

namespace {

using namespace cdom;  // NOLINT(google-build-using-namespace): a main file names every module

constexpr std::size_t kEventSize = 2500;
constexpr int kEvents = 20'000;
constexpr int kRuns = 5;

// An allocated claim with the managed fields that make up most of a real one.
std::string claim_event() {
  const std::string head =
      R"({"type":"MODIFIED","object":{"kind":"ResourceClaim","apiVersion":"resource.k8s.io/v1","metadata":{"name":"train-0-channel-x7k2p","generateName":"train-0-channel-","namespace":"default","uid":"0d6f3a5e-7a55-4a43-9d3b-3f1f3d0c7c11","resourceVersion":"4711","creationTimestamp":"2026-01-02T03:04:05Z","annotations":{"resource.kubernetes.io/pod-claim-name":"channel"},"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"train-0","uid":"8a1c2a2e-77d0-4a0e-bb39-2f7a0d9a8d11","controller":true,"blockOwnerDeletion":true}],"finalizers":["resource.kubernetes.io/delete-protection"],"managedFields":[)";
  const std::string field =
      R"({"manager":"kube-scheduler","operation":"Update","apiVersion":"resource.k8s.io/v1","time":"2026-01-02T03:04:05Z","fieldsType":"FieldsV1","fieldsV1":{"f:status":{"f:allocation":{".":{},"f:devices":{".":{},"f:results":{}},"f:nodeSelector":{}},"f:reservedFor":{".":{},"k:{\"uid\":\"8a1c\"}":{}}}},"subresource":"status"})";
  const std::string tail =
      R"(]},"spec":{"devices":{"requests":[{"name":"channel","exactly":{"deviceClassName":"compute-domain-default-channel.nvidia.com","allocationMode":"ExactCount","count":1}}],"config":[{"requests":["channel"],"opaque":{"driver":"compute-domain.nvidia.com","parameters":{"apiVersion":"resource.nvidia.com/v1beta1","kind":"ComputeDomainChannelConfig","domainID":"5b0e6d0c-2b63-4b0e-9a50-2b3e0a1d9c77","allocationMode":"Single"}}}]}},"status":{"allocation":{"devices":{"results":[{"request":"channel","driver":"compute-domain.nvidia.com","pool":"r1n01","device":"channel-0"}]},"nodeSelector":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["r1n01"]}]}]}},"reservedFor":[{"resource":"pods","name":"train-0","uid":"8a1c2a2e-77d0-4a0e-bb39-2f7a0d9a8d11"}]}}})";
  std::string event = head + field;
  while (event.size() + field.size() + tail.size() < kEventSize) event += "," + field;
  return event + tail + "\n";
}

double events_per_cpu_second(const std::string& url, const base::Clock& clock) {
  const auto transport = http::make_client({.base_url = url}, clock);
  const kube::Client client(*transport, clock, "bench");
  kube::Informer<api::ResourceClaim> informer(client, clock, {});
  const double before = bench::own_cpu_seconds();
  int taken = 0;
  informer.on_change([&](const auto*, const auto*) { ++taken; });
  while (taken < kEvents) informer.step(std::chrono::seconds(1));
  const double spent = bench::own_cpu_seconds() - before;
  informer.stop();
  return taken / spent;
}

}  // namespace

int main() {
  const std::string line = claim_event();
  const std::string url = bench::start_event_server({.line = line, .events = kEvents});
  http::initialize_process();
  const base::SystemClock clock;
  std::vector<double> rates;
  rates.reserve(kRuns);
  for (int run = 0; run < kRuns; ++run) rates.push_back(events_per_cpu_second(url, clock));
  bench::print({"informer: watch events taken",
                "events per CPU s",
                rates,
                {},
                base::cat("events of ", line.size(), " bytes, one to a chunk")});
  return 0;
}
