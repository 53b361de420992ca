#include "refused_objects.h"

#include <string>
#include <variant>

#include "compute_domain/api/names.h"

namespace cdom::controller {

namespace {

template <class T>
api::ObjectReference reference(const kube::Client& client, const api::ObjectMeta& meta) {
  const api::Kind& kind = api::kind_of<T>();
  return {.api_version = api::api_version_of(kind, client.version_of(kind)),
          .kind = std::string(kind.kind),
          .ns = meta.ns,
          .name = meta.name,
          .uid = meta.uid};
}

}  // namespace

std::optional<api::ObjectReference> object_of(const core::Action& action,
                                              const kube::Client& client) {
  if (const auto* label = std::get_if<core::LabelNode>(&action)) {
    return reference<api::Node>(client, label->node);
  }
  if (const auto* unmark = std::get_if<core::UnmarkNode>(&action)) {
    return reference<api::Node>(client, unmark->node);
  }
  if (const auto* label = std::get_if<core::LabelForAgents>(&action)) {
    return reference<api::Node>(client, label->node);
  }
  if (const auto* removal = std::get_if<core::DeleteReport>(&action)) {
    return reference<api::ComputeDomainNode>(client, removal->report);
  }
  if (const auto* mark = std::get_if<core::MarkReport>(&action)) {
    return reference<api::ComputeDomainNode>(client, mark->report);
  }
  if (const auto* told = std::get_if<core::TellPause>(&action)) {
    return reference<api::ComputeDomainNode>(client, told->report);
  }
  if (const auto* removal = std::get_if<core::RemoveSharedSlice>(&action)) {
    return reference<api::ResourceSlice>(client, removal->slice);
  }
  if (const auto* write = std::get_if<core::WriteSharedSlice>(&action)) {
    if (!write->object.meta.uid.empty()) {
      return reference<api::ResourceSlice>(client, write->object.meta);
    }
    api::ObjectMeta device_class;
    device_class.name = api::kSharedClass;
    return reference<api::DeviceClass>(client, device_class);
  }
  return std::nullopt;
}

}  // namespace cdom::controller
