// ChannelInjector: gives a claim's containers their IMEX channels (CDI files). A port.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "compute_domain/base/result.h"
#include "compute_domain/core/checkpoint.h"

namespace cdom::agent {

// What has been written and not removed.
struct WrittenChannels {
  std::map<std::string, core::ChannelRange> by_claim;  // by claim UID
  bool are_all = true;                                 // false: there is more, which is unreadable
};

class ChannelInjector {
 public:
  virtual ~ChannelInjector() = default;
  // Whether the node has channels at all; an error says what it lacks, and the remedy.
  virtual base::Result<void> check() = 0;
  // How many channels the driver has; nullopt: it does not tell.
  virtual std::optional<std::int64_t> count() = 0;
  // Makes core::cdi_device_id(claim.uid) mean these channels; repeating it is harmless.
  virtual base::Result<void> write(const core::ClaimRef& claim,
                                   const core::ChannelRange& channels) = 0;
  // Whether there is anything of the claim, whatever it is; a look that costs next to nothing.
  virtual bool is_written(const std::string& claim_uid) = 0;
  // Whether what is there of the claim is what write() would write, for the driver that the last
  // check() has found; a look that costs as little while nothing changes. Also where that driver
  // has no channels, as then nothing can be written.
  virtual bool is_up_to_date(const std::string& claim_uid, const core::ChannelRange& channels) = 0;
  virtual base::Result<WrittenChannels> written() = 0;
  // Success also when there is nothing.
  virtual base::Result<void> remove(const std::string& claim_uid) = 0;
};

}  // namespace cdom::agent
