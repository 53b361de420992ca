// Runs the program that a kubeconfig names for credentials, as kubectl does.
#pragma once

#include "compute_domain/base/result.h"
#include "compute_domain/kube/kubeconfig.h"

namespace cdom::program {

// Keeps the environment that this process was started with, for such programs: libraries change it
// for themselves. First in main.
void keep_environment();

// Puts its credentials into `access`; nothing when the kubeconfig names none. It may ask on
// standard input where that is a terminal, and what it says on standard error the user sees.
// Invalid: it cannot be started, fails, or prints something else.
base::Result<void> get_credentials(kube::ClusterAccess& access);

}  // namespace cdom::program
