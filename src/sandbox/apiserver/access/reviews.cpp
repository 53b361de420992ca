#include "sandbox/apiserver/access/reviews.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/apiserver/rest/object_path.h"
#include "sandbox/apiserver/serving/body.h"
#include "sandbox/apiserver/serving/status.h"

namespace cdom::sandbox::server {

using base::cat;

namespace {

constexpr std::int64_t kDefaultTokenSeconds = 3600;
constexpr std::int64_t kLeastTokenSeconds = 600;

http::Response created(const json& object) {
  return {.status = 201, .headers = {{"Content-Type", "application/json"}}, .body = object.dump()};
}

json user_info(const User& user) {
  json out = {{"username", user.name}, {"groups", user.groups}};
  if (!user.uid.empty()) out["uid"] = user.uid;
  if (!user.extra.empty()) out["extra"] = user.extra;
  return out;
}

Access access_in(const json& spec, const User& user) {
  Access access{.user = user.name, .groups = user.groups};
  const json& resource = at_path(spec, {"resourceAttributes"});
  if (resource.is_object()) {
    access.verb = text_at(resource, {"verb"});
    access.group = text_at(resource, {"group"});
    access.resource = text_at(resource, {"resource"});
    access.subresource = text_at(resource, {"subresource"});
    access.name = text_at(resource, {"name"});
    access.namespace_ = text_at(resource, {"namespace"});
  } else {
    access.verb = text_at(spec, {"nonResourceAttributes", "verb"});
    access.path = text_at(spec, {"nonResourceAttributes", "path"});
  }
  return access;
}

User user_in(const json& spec) {
  User user{.name = text_at(spec, {"user"}), .uid = text_at(spec, {"uid"})};
  const json& groups = at_path(spec, {"groups"});
  if (groups.is_array()) user.groups = groups.get<std::vector<std::string>>();
  return user;
}

json access_status(Call& call, const json& spec, const User& user) {
  return {{"allowed", call.state.access.allows(user, access_in(spec, user))}};
}

json token_status(Call& call, const json& spec) {
  const auto user = call.state.tokens.user_of(text_at(spec, {"token"}), call.state.storage);
  if (!user) return {{"authenticated", false}, {"error", "the token is not valid"}};
  return {{"authenticated", true}, {"user", user_info(*user)}};
}

BoundObject bound_pod(const Call& call, const json& reference) {
  if (!reference.is_object()) return {};
  const std::string& name = text_at(reference, {"name"});
  const KindRef pods = call.state.kinds.find("", "v1", "pods");
  if (text_at(reference, {"kind"}) != "Pod") {
    throw StatusError(
        invalid(*call.kind, call.info.name,
                {invalid_value("spec.boundObjectRef.kind", in_quotes(text_at(reference, {"kind"})),
                               "this server binds tokens to pods only")}));
  }
  const Object pod = call.state.storage.get("pods", call.key_of(name));
  if (!pod) throw StatusError(not_found(*pods, name));
  const std::string& uid = text_at(reference, {"uid"});
  if (!uid.empty() && uid != uid_of(pod->value())) {
    throw StatusError(conflict(*pods, name,
                               cat("the UID in the bound object reference (", uid,
                                   ") does not match the UID in record. The object might have "
                                   "been deleted and then recreated")));
  }
  return {.name = name, .uid = uid_of(pod->value())};
}

BoundObject node_of_pod(const Call& call, const BoundObject& pod) {
  if (pod.name.empty()) return {};
  const Object found = call.state.storage.get("pods", call.key_of(pod.name));
  const std::string node = text_at(found->value(), {"spec", "nodeName"});
  const Object object = call.state.storage.get("nodes", node);
  return {.name = node, .uid = object ? uid_of(object->value()) : ""};
}

}  // namespace

http::Response answer_review(Call& call) {
  json review = read_object(call);
  const json spec = at_path(review, {"spec"});
  const std::string& kind = call.kind->kind;
  if (kind == "SelfSubjectReview") {
    review["status"] = {{"userInfo", user_info(call.user)}};
  } else if (kind == "TokenReview") {
    review["status"] = token_status(call, spec);
  } else if (kind == "SelfSubjectAccessReview") {
    review["status"] = access_status(call, spec, call.user);
  } else {
    review["status"] = access_status(call, spec, user_in(spec));
  }
  review["metadata"]["creationTimestamp"] = nullptr;
  return created(review);
}

http::Response request_token(Call& call) {
  json request = read_body(call.request);
  if (!request.is_object()) request = json::object();
  const Object account = call.state.storage.get("serviceaccounts", call.key());
  if (!account) throw StatusError(not_found(*call.kind, call.info.name));
  const json& wanted = at_path(request, {"spec", "expirationSeconds"});
  const std::int64_t seconds =
      wanted.is_number_integer() ? wanted.get<std::int64_t>() : kDefaultTokenSeconds;
  if (seconds < kLeastTokenSeconds) {
    throw StatusError(invalid(*call.kind, call.info.name,
                              {invalid_value("spec.expirationSeconds", std::to_string(seconds),
                                             "may not specify a duration less than 10 minutes")}));
  }
  TokenClaims claims{.namespace_ = call.info.namespace_,
                     .service_account = {.name = call.info.name, .uid = uid_of(account->value())},
                     .expires = call.state.clock.now() + std::chrono::seconds(seconds)};
  claims.pod = bound_pod(call, at_path(request, {"spec", "boundObjectRef"}));
  claims.node = node_of_pod(call, claims.pod);
  request["kind"] = "TokenRequest";
  request["apiVersion"] = "authentication.k8s.io/v1";
  request["metadata"] = {{"name", call.info.name}, {"namespace", call.info.namespace_}};
  request["spec"]["expirationSeconds"] = seconds;
  request["status"] = {{"expirationTimestamp", base::to_rfc3339(claims.expires)},
                       {"token", call.state.tokens.issue(std::move(claims))}};
  return created(request);
}

}  // namespace cdom::sandbox::server
