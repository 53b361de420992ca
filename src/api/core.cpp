#include "compute_domain/api/core.h"

#include "core_fields.h"
#include "document.h"

namespace cdom::api {

void AsConditionWord::read(Decoding& decoding, const Json& json, bool& out) {
  ConditionStatus status{};
  api::read(decoding, json, status);
  out = status == ConditionStatus::True;
}

void AsConditionWord::write(Json& json, bool value) {
  api::write(json, value ? ConditionStatus::True : ConditionStatus::False);
}

CDOM_API_CODEC(Node);
CDOM_API_CODEC(Pod);
CDOM_API_CODEC(ConfigMap);
CDOM_API_CODEC(Event);
CDOM_API_CODEC(Lease);

}  // namespace cdom::api
