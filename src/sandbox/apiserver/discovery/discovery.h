// Discovery: what groups, versions and resources there are, for kubectl and other clients.
//
// The aggregated form (apidiscovery.k8s.io/v2) for those who ask for it, the legacy forms (one
// document per group version) for the rest. Called with the state's mutex held.
#pragma once

#include <optional>

#include "sandbox/apiserver/kinds/kinds.h"
#include "sandbox/apiserver/serving/request_info.h"

namespace cdom::sandbox::server {

// For /api, /apis, /api/v1, /apis/<group>, /apis/<group>/<version>; nullopt for other paths.
std::optional<http::Response> discovery(const Kinds& kinds, const http::Request& request,
                                        const std::string& path);

}  // namespace cdom::sandbox::server
