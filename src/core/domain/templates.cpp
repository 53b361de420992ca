#include "compute_domain/core/templates.h"

#include <algorithm>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"

namespace cdom::core {

namespace {

bool has_marks(const api::ObjectMeta& meta, const std::string& domain_uid, const char* target) {
  return bears_label_of(meta, domain_uid) && meta.label(api::kTargetLabel) == target &&
         meta.has_finalizer(api::kDomainFinalizer);
}

}  // namespace

bool is_domain(const api::OwnerReference& owner) {
  return owner.kind == "ComputeDomain" &&
         owner.api_version.starts_with(base::cat(api::kGroup, "/"));
}

bool is_owned_by(const api::ObjectMeta& meta, const std::string& domain_uid) {
  return std::ranges::any_of(meta.owners, [&](const api::OwnerReference& owner) {
    return is_domain(owner) && owner.uid == domain_uid;
  });
}

bool bears_label_of(const api::ObjectMeta& meta, const std::string& domain_uid) {
  return meta.label(api::kDomainLabel) == domain_uid;
}

bool is_predecessors_template(const api::ObjectMeta& meta, const std::string& domain_uid) {
  return has_marks(meta, domain_uid, api::kTargetWorkload) && meta.owners.empty();
}

bool is_predecessors_sign(const api::ObjectMeta& meta, const std::string& domain_uid,
                          const Settings& settings) {
  return settings.adopt_from.contains(meta.ns) && meta.name == predecessors_name(domain_uid) &&
         has_marks(meta, domain_uid, api::kTargetDaemon);
}

std::string predecessors_name(const std::string& domain_uid) {
  return base::cat("computedomain-daemon-", domain_uid);
}

}  // namespace cdom::core
