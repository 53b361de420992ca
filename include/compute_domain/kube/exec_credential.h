// ExecPlugin: a program that gives credentials, as `users[].user.exec` of a kubeconfig names it;
// cloud providers' and single sign-on's kubeconfigs do (Kubernetes documentation, "client-go
// credential plugins": client.authentication.k8s.io/v1 and v1beta1).
//
// It gets the text of exec_info() in $KUBERNETES_EXEC_INFO, and take_exec_credential() reads what
// it prints. Pure: who starts it is not this module.
#pragma once

#include <string>
#include <vector>

#include "compute_domain/base/result.h"
#include "compute_domain/http/client.h"

namespace cdom::kube {

// May it ask the user something on standard input?
enum class Interaction { Never, IfAvailable, Always };

struct ExecPlugin {
  std::string where;        // "/home/me/.kube/config: users[me].user.exec", for errors
  std::string api_version;  // "client.authentication.k8s.io/v1"
  std::string command;      // to be found in $PATH when it has no slash
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  // "NAME=value", beside those of the caller
  std::string install_hint;              // for a user who does not have the command
  Interaction interaction = Interaction::IfAvailable;
  bool wants_cluster = false;
  std::string cluster_config;  // JSON of the cluster's extension for it; "" when there is none
};

// The JSON of the ExecCredential that it is given. Invalid: it wants to know the cluster, and its
// CA file cannot be read.
base::Result<std::string> exec_info(const ExecPlugin& plugin, const http::ClientConfig& cluster,
                                    bool is_interactive);

// Puts the token, and the client certificate with its key, where there are any, into `access`.
// Invalid: `printed` is not an ExecCredential of the plugin's version, or has neither.
base::Result<void> take_exec_credential(const ExecPlugin& plugin, const std::string& printed,
                                        http::ClientConfig& access);

}  // namespace cdom::kube
