#include "sandbox/apiserver/storage/api_state.h"

#include <nlohmann/json.hpp>

#include "sandbox/apiserver/kinds/definitions.h"
#include "sandbox/apiserver/rest/object_path.h"

namespace cdom::sandbox::server {

ApiState::ApiState(const base::Clock& clock_in, const ApiServerOptions& options_in)
    : clock(clock_in),
      options(options_in),
      random(options_in.seed),
      storage(clock_in, options_in.history),
      kinds(options_in.disabled_versions),
      access(storage, options_in.rbac),
      tokens(clock_in, random, options_in.admin_token),
      faults(options_in.seed) {
  storage.keep_for("events", options_in.event_ttl);
}

ApiState::~ApiState() = default;

void ApiState::stored(const Kind& kind, const StoredObject& object) {
  access.note_change(kind);
  if (is_definition(kind)) install_definition(kinds, object.value());
}

void ApiState::removed(const Kind& kind, const StoredObject& object) {
  access.note_change(kind);
  if (is_definition(kind)) uninstall_definition(kinds, object.value());
  if (kind.bucket == "pods") logs.forget(namespace_of(object.value()), name_of(object.value()));
  if (kind.is_custom() && storage.snapshot(kind.bucket).size() == 0) finish_definition(kind);
}

// A definition that was deleted waits for its last object.
void ApiState::finish_definition(const Kind& kind) {
  const KindRef definitions = kinds.find("apiextensions.k8s.io", "v1", "customresourcedefinitions");
  const Object definition = storage.get(definitions->bucket, kind.qualified_resource());
  if (!definition || !is_being_deleted(definition->value())) return;
  json last = definition->value();
  std::erase(last["metadata"]["finalizers"].get_ref<json::array_t&>(), kDefinitionFinalizer);
  if (has_finalizers(last)) return;
  const Object gone = storage.remove(definitions->bucket, kind.qualified_resource(), last);
  removed(*definitions, *gone);
}

}  // namespace cdom::sandbox::server
