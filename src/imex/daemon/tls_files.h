// TlsFiles: what the IMEX daemons of all nodes know each other by: a key, its certificate, and the
// authority that has issued all of them, in a folder that something mounts and renews (a Secret,
// cert-manager's CSI driver, a podCertificate).
#pragma once

#include <string>

#include "compute_domain/base/result.h"

namespace cdom::imex {

struct TlsFiles {
  std::string key, certificate, authority;  // paths
  // The revision of their contents: it changes when something has renewed them.
  std::string revision;
};

// Reads the files, named as in a Secret of type kubernetes.io/tls. Invalid: names the one that is
// missing or empty, and what has to be mounted.
base::Result<TlsFiles> read_tls_files(const std::string& directory);

}  // namespace cdom::imex
