// MemoryChannelInjector: which claims have which channels, in memory. Outlives agents.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "compute_domain/agent/channel_injector.h"

namespace cdom::agent {

class MemoryChannelInjector : public ChannelInjector {
 public:
  std::map<std::string, core::ChannelRange> channels;  // by claim UID
  std::optional<base::Error> error;                    // of every call while it is set

  base::Result<void> write(const core::ClaimRef& claim, const core::ChannelRange& range) override {
    if (error) return *error;
    channels[claim.uid] = range;
    return {};
  }
  base::Result<std::map<std::string, core::ChannelRange>> written() override {
    if (error) return *error;
    return channels;
  }
  base::Result<void> remove(const std::string& claim_uid) override {
    if (error) return *error;
    channels.erase(claim_uid);
    return {};
  }
};

}  // namespace cdom::agent
