// Reviews: questions to the API server about who somebody is and what they may do. They are created
// and never stored: what create() gives back has the answer.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compute_domain/api/kind.h"
#include "compute_domain/api/meta.h"

namespace cdom::api {

// The user whom a request comes from (authentication.k8s.io, UserInfo).
struct UserInfo {
  std::string name, uid;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>> extra;

  friend bool operator==(const UserInfo&, const UserInfo&) = default;
};

struct TokenReview {
  ObjectMeta meta;
  std::string token;
  // The answer.
  bool authenticated = false;
  UserInfo user;

  friend bool operator==(const TokenReview&, const TokenReview&) = default;
};

// Asks about a resource in all namespaces (`verb`, `group`, `resource`), or about a path that is
// not a resource's (`path_verb`, `path`).
struct SubjectAccessReview {
  ObjectMeta meta;
  std::string user, uid;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>> extra;
  std::string verb, group, resource;
  std::string path_verb, path;
  bool allowed = false;  // the answer

  friend bool operator==(const SubjectAccessReview&, const SubjectAccessReview&) = default;
};

template <>
const Kind& kind_of<TokenReview>();
template <>
const Kind& kind_of<SubjectAccessReview>();

// A ServiceAccount, with the groups that its tokens have.
UserInfo service_account(const std::string& ns, const std::string& name);

// About `user`; what is asked has to be added.
SubjectAccessReview review_of(UserInfo user);

}  // namespace cdom::api
