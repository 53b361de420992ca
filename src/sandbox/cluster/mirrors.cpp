#include "sandbox/cluster/mirrors.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "compute_domain/base/text.h"
#include "sandbox/cluster/objects.h"

namespace cdom::sandbox {

Mirrors::Mirrors(http::Client& client, const base::Clock& clock, base::Random random,
                 const std::vector<Resource>& resources) {
  for (const Resource& resource : resources) {
    mirrors_.push_back(
        std::make_unique<Mirror>(client, clock, base::Random(random.next()), resource));
  }
}

bool Mirrors::step() {
  for (std::size_t i = 0; i < mirrors_.size(); ++i) {
    turn_ = (turn_ + 1) % mirrors_.size();
    if (mirrors_[turn_]->step()) return true;
  }
  return false;
}

std::optional<base::Duration> Mirrors::next_due() const {
  std::optional<base::Duration> due;
  for (const auto& mirror : mirrors_) due = earlier(due, mirror->next_due());
  return due;
}

bool Mirrors::is_synced() const {
  return std::all_of(mirrors_.begin(), mirrors_.end(),
                     [](const auto& mirror) { return mirror->is_synced(); });
}

Mirror* Mirrors::find(const Resource& resource) const {
  for (const auto& mirror : mirrors_) {
    if (mirror->resource() == resource) return mirror.get();
  }
  return nullptr;
}

Mirror& Mirrors::of(const Resource& resource) const {
  Mirror* mirror = find(resource);
  if (mirror == nullptr) throw std::logic_error(base::cat("no mirror of ", resource.plural));
  return *mirror;
}

void OwnWrites::note(const Mirror& mirror, const json& written) {
  const std::string version = text_at(written, "/metadata/resourceVersion");
  std::uint64_t number = 0;
  std::from_chars(version.data(), version.data() + version.size(), number);
  writes_.push_back({&mirror, number, clock_.elapsed() + std::chrono::seconds(5)});
}

bool OwnWrites::all_seen() {
  std::erase_if(writes_, [&](const Write& write) {
    return write.mirror->resource_version() >= write.resource_version ||
           clock_.elapsed() >= write.given_up_at;
  });
  return writes_.empty();
}

std::optional<base::Duration> OwnWrites::next_due() const {
  if (writes_.empty()) return std::nullopt;
  return writes_.front().given_up_at;
}

}  // namespace cdom::sandbox
