// Kubeconfig: how to reach a cluster, from kubeconfig files or from inside a pod.
//
// Every bad input gives Invalid with one line: the file, the field and what to do. Files that a
// kubeconfig names are not read here but at each connection, so that they may rotate.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "compute_domain/base/result.h"
#include "compute_domain/http/client.h"
#include "compute_domain/kube/exec_credential.h"

namespace cdom::kube {

struct ClusterAccess {
  http::ClientConfig http;  // timeouts and user agent are left at their defaults
  std::string ns;           // of the context or of the pod; "default" when neither says
  std::string context;      // of a kubeconfig; "" in a pod
  std::string source;       // for the log: a file and context, or "in-cluster"
  // Who gives the credentials when the kubeconfig has none; only with ExecUse::Allowed.
  std::optional<ExecPlugin> exec;
};

// May a user of the kubeconfig get credentials from a program? They end within minutes or hours,
// and somebody may be asked for a password: nothing for a program that runs on and on.
enum class ExecUse { Refused, Allowed };

// `files` is a list with colons, as in $KUBECONFIG: the first definition of a name wins. `context`
// overrides current-context.
base::Result<ClusterAccess> load_kubeconfig(const std::string& files,
                                            const std::string& context = {},
                                            ExecUse use = ExecUse::Refused);

// From a pod's service account: `host` and `port` of $KUBERNETES_SERVICE_HOST and _PORT.
base::Result<ClusterAccess> in_cluster(
    const std::string& host, const std::string& port,
    const std::string& directory = "/var/run/secrets/kubernetes.io/serviceaccount");

// A variable of the environment, or "".
using Environment = std::function<std::string(const char* name)>;

// In the order of controller-runtime: `flag` when given, else $KUBECONFIG, else the pod's service
// account, else $HOME/.kube/config. `context` is one of a kubeconfig, and so passes over the
// service account.
base::Result<ClusterAccess> find_cluster(const std::string& flag, const Environment& environment,
                                         const std::string& context = {},
                                         ExecUse use = ExecUse::Refused);

// With the remedy where the server does not know who asks; of a program of the cluster's own.
base::Error with_credentials_remedy(base::Error error);

}  // namespace cdom::kube
