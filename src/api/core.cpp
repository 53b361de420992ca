#include "compute_domain/api/core.h"

#include "api/json/document.h"
#include "core_fields.h"

namespace cdom::api {

void AsForeignStatus::read(Decoding& decoding, const JsonView& json, ConditionStatus& out) {
  std::string word;
  api::read(decoding, json, word);
  out = word == word_of(ConditionStatus::True)    ? ConditionStatus::True
        : word == word_of(ConditionStatus::False) ? ConditionStatus::False
                                                  : ConditionStatus::Unknown;
}

void AsForeignStatus::write(Json& json, ConditionStatus value) { api::write(json, value); }

void AsForeignStatus::read(Decoding& decoding, const JsonView& json, bool& out) {
  ConditionStatus status{};
  read(decoding, json, status);
  out = status == ConditionStatus::True;
}

void AsForeignStatus::write(Json& json, bool value) {
  write(json, value ? ConditionStatus::True : ConditionStatus::False);
}

CDOM_API_CODEC(Node);
CDOM_API_CODEC(Pod);
CDOM_API_CODEC(ConfigMap);
CDOM_API_CODEC(Event);
CDOM_API_CODEC(Lease);
CDOM_API_CODEC(Job);
CDOM_API_CODEC(DaemonSet);
CDOM_API_CODEC(Deployment);

}  // namespace cdom::api
