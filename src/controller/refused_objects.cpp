#include "refused_objects.h"

#include <string>
#include <variant>

#include "compute_domain/api/names.h"

namespace cdom::controller {

namespace {

using Reference = std::optional<api::ObjectReference>;

struct Concerned {
  const kube::Client& client;

  Reference operator()(const core::LabelNode& a) const { return of<api::Node>(a.node); }
  Reference operator()(const core::UnmarkNode& a) const { return of<api::Node>(a.node); }
  Reference operator()(const core::LabelForAgents& a) const { return of<api::Node>(a.node); }
  Reference operator()(const core::DeleteReport& a) const {
    return of<api::ComputeDomainNode>(a.object);
  }
  Reference operator()(const core::MarkReport& a) const {
    return of<api::ComputeDomainNode>(a.report);
  }
  Reference operator()(const core::TellPause& a) const {
    return of<api::ComputeDomainNode>(a.report);
  }
  Reference operator()(const core::RemoveSharedSlice& a) const {
    return of<api::ResourceSlice>(a.object);
  }
  Reference operator()(const core::WriteSharedSlice& a) const {
    if (!a.current.uid.empty()) return of<api::ResourceSlice>(a.current);
    api::ObjectMeta device_class;
    device_class.name = api::kSharedClass;
    return of<api::DeviceClass>(device_class);
  }
  Reference operator()(const core::RemoveCliqueObject& a) const {
    return of<api::ComputeDomainClique>(a.object);
  }
  Reference operator()(const core::WriteCliqueObject& a) const {
    if (!a.current.uid.empty()) return of<api::ComputeDomainClique>(a.current);
    api::ObjectMeta owner;
    owner.ns = a.desired.meta.ns;
    owner.name = api::kCliquesOwner;
    return of<api::ConfigMap>(owner);
  }
  // The others are of domains, which say it themselves.
  template <class Other>
  Reference operator()(const Other&) const {
    return std::nullopt;
  }

 private:
  template <class T>
  [[nodiscard]] api::ObjectReference of(const api::ObjectMeta& meta) const {
    const api::Kind& kind = api::kind_of<T>();
    return {.api_version = api::api_version_of(kind, client.version_of(kind)),
            .kind = std::string(kind.kind),
            .ns = meta.ns,
            .name = meta.name,
            .uid = meta.uid};
  }
};

}  // namespace

std::optional<api::ObjectReference> object_of(const core::Action& action,
                                              const kube::Client& client) {
  return std::visit(Concerned{client}, action);
}

}  // namespace cdom::controller
