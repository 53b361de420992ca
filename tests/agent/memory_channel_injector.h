// MemoryChannelInjector: which claims have which channels, in memory. Outlives agents.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "compute_domain/agent/channel_injector.h"

namespace cdom::agent {

class MemoryChannelInjector : public ChannelInjector {
 public:
  std::map<std::string, core::ChannelRange> channels;  // by claim UID
  std::optional<base::Error> error;                    // of all that is of claims, while it is set
  std::map<std::string, base::Error> errors;           // the same of what is of one claim, by UID
  std::optional<base::Error> lack;                     // of check(), while it is set
  std::optional<std::int64_t> number;                  // that count() tells
  int writes = 0;
  std::function<void()> meanwhile;  // what else happens during the next check()

  base::Result<void> check() override {
    if (meanwhile) std::exchange(meanwhile, nullptr)();
    return lack ? base::Result<void>(*lack) : base::Result<void>();
  }

  std::optional<std::int64_t> count() override { return number; }

  base::Result<void> write(const core::ClaimRef& claim, const core::ChannelRange& range) override {
    if (error) return *error;
    if (const auto it = errors.find(claim.uid); it != errors.end()) return it->second;
    channels[claim.uid] = range;
    ++writes;
    return {};
  }
  bool is_written(const std::string& claim_uid) override { return channels.contains(claim_uid); }
  bool is_up_to_date(const std::string& claim_uid, const core::ChannelRange& range) override {
    const auto it = channels.find(claim_uid);
    return it != channels.end() && it->second == range;
  }
  base::Result<WrittenChannels> written() override {
    if (error) return *error;
    return WrittenChannels{.by_claim = channels};
  }
  base::Result<void> remove(const std::string& claim_uid) override {
    if (error) return *error;
    if (const auto it = errors.find(claim_uid); it != errors.end()) return it->second;
    channels.erase(claim_uid);
    return {};
  }
};

}  // namespace cdom::agent
