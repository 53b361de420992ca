#include "agent/main/first_contact.h"

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "compute_domain/kube/kubeconfig.h"

namespace cdom::program {

namespace {

using base::cat;
using base::Error;
using base::ErrorKind;
using base::Result;

Error explained(const Error& error, const std::string& what_is_absent) {
  if (error.is_unauthenticated) return kube::with_credentials_remedy(error);
  if (error.kind == ErrorKind::Forbidden) {
    return {ErrorKind::Forbidden,
            cat("a permission is missing: ", error.message,
                "; bind the role compute-domain-agent to this program's account")};
  }
  if (error.kind == ErrorKind::NotFound) {
    return {ErrorKind::NotFound, cat(what_is_absent, " (", error.message, ")")};
  }
  return error;
}

template <class T>
Result<void> may_list(const kube::Client& client, const kube::Selection& of,
                      const std::string& if_absent) {
  const auto page = client.list<T>({.of = of, .limit = 1, .continue_token = {}});
  if (page) return {};
  return explained(page.error(), if_absent);
}

}  // namespace

Result<api::Node> first_contact(kube::Client& client, const std::string& node,
                                const std::string& operator_namespace) {
  if (const auto done = client.discover(); !done) {
    return kube::with_credentials_remedy(done.error());
  }
  auto found = client.get<api::Node>({"", node});
  if (!found) {
    return explained(found.error(), cat("--node-name: the cluster has no Node \"", node, "\""));
  }
  for (const Result<void>& may :
       {may_list<api::ComputeDomainNode>(
            client, {.ns = {}, .label_selector = {}, .field_selector = cat("metadata.name=", node)},
            "the cluster has no ComputeDomainNodes: apply the CRDs"),
        may_list<api::ResourceSlice>(
            client,
            {.ns = {},
            .label_selector = {},
            .field_selector = cat("spec.driver=", api::kDriver, ",spec.nodeName=", node)},
            "the cluster has no ResourceSlices: Kubernetes 1.32 or later is needed"),
        may_list<api::ConfigMap>(
            client, {.ns = operator_namespace, .label_selector = {}, .field_selector = {}},
            "the cluster has no ConfigMaps")}) {
    if (!may) return may.error();
  }
  return found;
}

}  // namespace cdom::program
