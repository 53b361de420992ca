// The subresources that are no plain view of their object: a pod's binding and eviction, a
// namespace's finalize, a ServiceAccount's token. Called with the state's mutex held; they throw
// StatusError.
#pragma once

#include "sandbox/apiserver/serving/call.h"

namespace cdom::sandbox::server {

// POST pods/<name>/binding: the scheduler's decision.
http::Response bind_pod(Call& call);
// POST pods/<name>/eviction: a delete. There are no disruption budgets here.
http::Response evict_pod(Call& call);
// PUT namespaces/<name>/finalize: the namespace controller is done with it.
http::Response finalize_namespace(Call& call);

}  // namespace cdom::sandbox::server
