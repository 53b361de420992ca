#include "sandbox/server/api_state.h"

#include <nlohmann/json.hpp>

namespace cdom::sandbox::server {

ApiState::ApiState(const base::Clock& clock_in, const ApiServerOptions& options_in)
    : clock(clock_in),
      options(options_in),
      random(options_in.seed),
      storage(clock_in, options_in.history),
      kinds(options_in.disabled_versions) {}

ApiState::~ApiState() = default;

void ApiState::stored(const Kind& /*kind*/, const StoredObject& /*object*/) {}

void ApiState::removed(const Kind& /*kind*/, const StoredObject& /*object*/) {}

}  // namespace cdom::sandbox::server
