// Questions about who one is and what one may do, and tokens: objects that are answered and not
// stored. Called with the state's mutex held; they throw StatusError.
#pragma once

#include "sandbox/apiserver/serving/call.h"

namespace cdom::sandbox::server {

// POST of SelfSubjectReview, TokenReview, SelfSubjectAccessReview, SubjectAccessReview.
http::Response answer_review(Call& call);
// POST serviceaccounts/<name>/token: a TokenRequest.
http::Response request_token(Call& call);

}  // namespace cdom::sandbox::server
