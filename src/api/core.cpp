#include "compute_domain/api/core.h"

#include "api/fields/core_fields.h"
#include "api/json/document.h"
#include "compute_domain/api/names.h"
#include "compute_domain/api/node_labels.h"

namespace cdom::api {

bool is_read_of_nodes(std::string_view label) {
  return label == kNodeCliqueLabel || label == kAgentNodeLabel || label == kDriverUpgradeLabel ||
         label == kGpuPresentLabel || label == kCpuVendorLabel ||
         label.starts_with(kGpuDeployPrefix) || label.starts_with(kPciLabelPrefix);
}

void AsLabelsOfNode::read(Decoding& decoding, const JsonView& json, Labels& out) {
  out.clear();
  std::string unread;
  visit_members(decoding, json, [&](std::string_view name, const JsonView& value) {
    if (is_read_of_nodes(name)) {
      api::read(decoding, value, out[std::string(name)]);
    } else if (value.type() != JsonView::Type::String) {
      api::read(decoding, value, unread);
    }
  });
}

void AsMetaOfNode::read(Decoding& decoding, const JsonView& json, ObjectMeta& out) {
  if (!expect_object(decoding, json)) return;
  const auto read_one = [&]<class Member>(const Field<AsIs, ObjectMeta, Member>& field) {
    if constexpr (std::is_same_v<Member, Labels>) {
      if (field.member == &ObjectMeta::labels) {
        return read_field(
            decoding, json,
            Field<AsLabelsOfNode, ObjectMeta, Labels>{field.path, field.member, field.presence},
            out);
      }
    }
    read_field(decoding, json, field, out);
  };
  std::apply([&](const auto&... field) { (read_one(field), ...); }, kFields<ObjectMeta>);
}

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
