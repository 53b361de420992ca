// Tokens: the bearer tokens of ServiceAccounts, as the TokenRequest API gives them out.
//
// They look like JWTs and are checked by looking them up: one that this server has not made, that
// has expired, or whose ServiceAccount or pod is gone (or has another uid) authenticates nobody.
// Part of ApiState, under its mutex.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/random.h"
#include "compute_domain/sandbox/api_server.h"
#include "sandbox/apiserver/storage/storage.h"

namespace cdom::sandbox::server {

struct BoundObject {
  std::string name, uid;  // name "": not bound
};

struct TokenClaims {
  std::string namespace_;
  BoundObject service_account, pod, node;
  base::Time expires{};
  std::string id;  // the credential's own, told as extra authentication.kubernetes.io/credential-id
};

class Tokens {
 public:
  // The administrator's token is drawn from `random` when empty.
  Tokens(const base::Clock& clock, base::Random& random, std::string admin_token);

  std::string issue(TokenClaims claims);
  [[nodiscard]] std::optional<User> user_of(std::string_view token, const Storage& storage) const;
  [[nodiscard]] const std::string& admin_token() const { return admin_token_; }

 private:
  void forget_expired();

  const base::Clock& clock_;
  base::Random& random_;
  std::string admin_token_;
  std::map<std::string, TokenClaims, std::less<>> claims_;
};

}  // namespace cdom::sandbox::server
