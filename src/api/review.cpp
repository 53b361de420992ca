#include "compute_domain/api/review.h"

#include "api/fields/fields.h"
#include "api/fields/meta_fields.h"
#include "api/json/document.h"
#include "compute_domain/base/text.h"

namespace cdom::api {

namespace {

// clang-format off
const Kind kTokenReview        {"TokenReview",         "tokenreviews",         "authentication.k8s.io", false, {"v1"}};
const Kind kSubjectAccessReview{"SubjectAccessReview", "subjectaccessreviews", "authorization.k8s.io",  false, {"v1"}};
// clang-format on

}  // namespace

template <>
inline constexpr auto kFields<UserInfo> =
    std::tuple{field("username", &UserInfo::name), field("uid", &UserInfo::uid),
               field("groups", &UserInfo::groups), field("extra", &UserInfo::extra)};

template <>
inline constexpr auto kFields<TokenReview> =
    std::tuple{field("metadata", &TokenReview::meta, Presence::Always),
               field("spec.token", &TokenReview::token, Presence::Always),
               field("status.authenticated", &TokenReview::authenticated),
               field("status.user", &TokenReview::user)};

template <>
inline constexpr auto kFields<SubjectAccessReview> =
    std::tuple{field("metadata", &SubjectAccessReview::meta, Presence::Always),
               field("spec.user", &SubjectAccessReview::user),
               field("spec.uid", &SubjectAccessReview::uid),
               field("spec.groups", &SubjectAccessReview::groups),
               field("spec.extra", &SubjectAccessReview::extra),
               field("spec.resourceAttributes.verb", &SubjectAccessReview::verb),
               field("spec.resourceAttributes.group", &SubjectAccessReview::group),
               field("spec.resourceAttributes.resource", &SubjectAccessReview::resource),
               field("spec.nonResourceAttributes.verb", &SubjectAccessReview::path_verb),
               field("spec.nonResourceAttributes.path", &SubjectAccessReview::path),
               field("status.allowed", &SubjectAccessReview::allowed)};

template <>
const Kind& kind_of<TokenReview>() {
  return kTokenReview;
}
template <>
const Kind& kind_of<SubjectAccessReview>() {
  return kSubjectAccessReview;
}

UserInfo service_account(const std::string& ns, const std::string& name) {
  return {.name = base::cat("system:serviceaccount:", ns, ":", name),
          .groups = {"system:serviceaccounts", base::cat("system:serviceaccounts:", ns),
                     "system:authenticated"}};
}

SubjectAccessReview review_of(UserInfo user) {
  return {.user = std::move(user.name),
          .uid = std::move(user.uid),
          .groups = std::move(user.groups),
          .extra = std::move(user.extra)};
}

CDOM_API_CODEC(TokenReview);
CDOM_API_CODEC(SubjectAccessReview);

}  // namespace cdom::api
