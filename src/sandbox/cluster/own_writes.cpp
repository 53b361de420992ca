#include "sandbox/cluster/own_writes.h"

#include "compute_domain/kube/store.h"

namespace cdom::sandbox {

void OwnWrites::note(const JsonInformer& informer, const json& written) {
  const auto version = kube::version_number(text_at(written, "/metadata/resourceVersion"));
  writes_.push_back({&informer, version, clock_.elapsed() + std::chrono::seconds(5)});
}

bool OwnWrites::all_seen() {
  if (writes_.empty()) return true;
  std::erase_if(writes_, [&](const Write& write) {
    return write.informer->seen_version() >= write.resource_version ||
           clock_.elapsed() >= write.given_up_at;
  });
  return writes_.empty();
}

std::optional<base::Duration> OwnWrites::next_due() const {
  if (writes_.empty()) return std::nullopt;
  return writes_.front().given_up_at;
}

}  // namespace cdom::sandbox
