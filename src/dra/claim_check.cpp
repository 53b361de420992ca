#include "dra/claim_check.h"

#include <algorithm>
#include <string_view>

#include "compute_domain/base/text.h"

namespace cdom::dra {

namespace {

constexpr std::size_t kLongestUid = 128;

bool is_alnum(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_uid(std::string_view uid) {
  return !uid.empty() && uid.size() <= kLongestUid && is_alnum(uid.front()) &&
         std::ranges::all_of(
             uid, [](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; });
}

}  // namespace

std::string problem_of(Operation operation, const Claim& claim) {
  const std::string object = base::cat("ResourceClaim \"", claim.ns, "/", claim.name, "\"");
  if (claim.uid.empty()) return object + ": the request gives no UID; restart kubelet";
  if (!is_uid(claim.uid)) {
    return base::cat(object, ": \"", base::shortened(claim.uid, kLongestUid),
                     "\" is not a UID; restart kubelet");
  }
  // What ends is known by its UID alone, and must not be held up.
  if (operation == Operation::Unprepare) return {};
  if (claim.ns.empty() || claim.name.empty()) {
    return base::cat(object, " with UID ", claim.uid,
                     ": the request gives no namespace or no name; restart kubelet");
  }
  // They become a path in the API server.
  if (!base::is_dns_label(claim.ns) || !base::is_dns_subdomain(claim.name)) {
    return base::cat(object, " with UID ", claim.uid,
                     ": no object can have such a namespace or name; restart kubelet");
  }
  return {};
}

}  // namespace cdom::dra
