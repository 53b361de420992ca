#include "sandbox/apiserver/access/tokens.h"

#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/apiserver/rest/object_path.h"
#include "sandbox/apiserver/serving/base64.h"

namespace cdom::sandbox::server {

using base::cat;

namespace {

std::int64_t unix_seconds(base::Time time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

json payload_of(const TokenClaims& claims) {
  json bound = {{"namespace", claims.namespace_},
                {"serviceaccount",
                 {{"name", claims.service_account.name}, {"uid", claims.service_account.uid}}}};
  const auto add = [&](const char* what, const BoundObject& object) {
    if (!object.name.empty()) bound[what] = {{"name", object.name}, {"uid", object.uid}};
  };
  add("pod", claims.pod);
  add("node", claims.node);
  return {
      {"exp", unix_seconds(claims.expires)},
      {"jti", claims.id},
      {"kubernetes.io", std::move(bound)},
      {"sub", cat("system:serviceaccount:", claims.namespace_, ":", claims.service_account.name)}};
}

bool is_there(const Storage& storage, const char* bucket, const std::string& key,
              const BoundObject& wanted) {
  if (wanted.name.empty()) return true;
  const Object found = storage.get(bucket, key);
  return found && uid_of(found->value()) == wanted.uid;
}

}  // namespace

Tokens::Tokens(const base::Clock& clock, base::Random& random, std::string admin_token)
    : clock_(clock), random_(random), admin_token_(std::move(admin_token)) {
  if (admin_token_.empty()) admin_token_ = base::hex64(random.next()) + base::hex64(random.next());
}

std::string Tokens::issue(TokenClaims claims) {
  forget_expired();
  claims.id = random_.uuid();
  std::string token =
      cat(base64url(R"({"alg":"none","typ":"JWT"})"), ".", base64url(payload_of(claims).dump()),
          ".", base::hex64(random_.next()), base::hex64(random_.next()));
  claims_[token] = std::move(claims);
  return token;
}

std::optional<User> Tokens::user_of(std::string_view token, const Storage& storage) const {
  if (token == admin_token_) return admin_user();
  const auto found = claims_.find(token);
  if (found == claims_.end()) return std::nullopt;
  const TokenClaims& claims = found->second;
  const std::string& ns = claims.namespace_;
  if (claims.expires <= clock_.now() ||
      !is_there(storage, "serviceaccounts", cat(ns, "/", claims.service_account.name),
                claims.service_account) ||
      !is_there(storage, "pods", cat(ns, "/", claims.pod.name), claims.pod)) {
    return std::nullopt;
  }
  User user = service_account_user(ns, claims.service_account.name);
  user.uid = claims.service_account.uid;
  const auto tell = [&](const char* key, const std::string& value) {
    if (!value.empty()) user.extra[cat("authentication.kubernetes.io/", key)] = {value};
  };
  tell("credential-id", cat("JTI=", claims.id));
  tell("pod-name", claims.pod.name);
  tell("pod-uid", claims.pod.uid);
  tell("node-name", claims.node.name);
  tell("node-uid", claims.node.uid);
  return user;
}

void Tokens::forget_expired() {
  std::erase_if(claims_, [&](const auto& entry) { return entry.second.expires <= clock_.now(); });
}

}  // namespace cdom::sandbox::server
