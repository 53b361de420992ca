#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "compute_domain/sandbox/cluster.h"
#include "sandbox/cluster/json_client.h"
#include "sandbox/cluster/objects.h"

namespace cdom::sandbox {
namespace {

constexpr int kSeconds = 24 * 60 * 60;

}  // namespace

base::Result<std::string> request_token(http::Client& administrator, const AgentPod& pod) {
  const json wanted{
      {"expirationSeconds", kSeconds},
      {"boundObjectRef",
       {{"apiVersion", "v1"}, {"kind", "Pod"}, {"name", pod.name}, {"uid", pod.uid}}}};
  const json request{
      {"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenRequest"}, {"spec", wanted}};
  const base::SystemClock clock;
  const kube::Client client(administrator, clock, "kubelet");
  const auto answer = JsonClient(client).create_subresource(
      kServiceAccounts, {pod.ns, pod.service_account}, "token", request);
  if (!answer) {
    return base::Error{answer.error().kind,
                       base::cat("ServiceAccount ", pod.ns, "/", pod.service_account, ": ",
                                 answer.error().message)};
  }
  return text_at(*answer, "/status/token");
}

}  // namespace cdom::sandbox
