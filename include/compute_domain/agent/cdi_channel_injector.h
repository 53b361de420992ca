// CdiChannelInjector: channels by CDI files, one per claim, named and shaped as the reference
// driver's.
//
// A claim's file holds one device, core::cdi_device_id(), with a node per channel. A file appears
// whole or not at all. Files that are not ours stay as they are; those of the reference driver's
// claims are understood. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "compute_domain/agent/channel_injector.h"
#include "compute_domain/nvidia/device_nodes.h"

namespace cdom::agent {

struct CdiOptions {
  std::string directory = "/var/run/cdi";           // CDI_ROOT
  std::string proc_devices = "/proc/devices";       // ALT_PROC_DEVICES_PATH
  std::string proc_driver = "/proc/driver/nvidia";  // beside proc_devices
  // The host's, where device files are made that are missing; "" : none are. A container runtime
  // needs none, as the files here say all of a device; programs on the host may.
  std::string dev = "/dev";
  // Containers see the only channel that they have as channel0 too.
  bool as_zero = false;
};

class CdiChannelInjector : public ChannelInjector {
 public:
  explicit CdiChannelInjector(CdiOptions options,
                              nvidia::MakeNode make_node = nvidia::make_device_node);

  // Unavailable: the kernel has no IMEX channels.
  base::Result<void> check() override;
  std::optional<std::int64_t> count() override;
  // Unavailable: the kernel has no IMEX channels, or the file cannot be written. Invalid: the
  // kernel has fewer channels, or somebody else's file has the claim's name.
  base::Result<void> write(const core::ClaimRef& claim,
                           const core::ChannelRange& channels) override;
  bool is_written(const std::string& claim_uid) override;
  // Reads a file only when it has changed since it was last read, or when what it has to say has.
  bool is_up_to_date(const std::string& claim_uid, const core::ChannelRange& channels) override;
  // Files that cannot be understood are logged and left out.
  base::Result<WrittenChannels> written() override;
  base::Result<void> remove(const std::string& claim_uid) override;

 private:
  // A file and what it had to say, when its text was found to say that.
  struct Right {
    std::uint64_t inode = 0;
    std::int64_t size = 0, modified = 0, changed = 0;  // the times in ns since 1970
    core::ChannelRange channels;
    unsigned major = 0;

    friend bool operator==(const Right&, const Right&) = default;
  };
  [[nodiscard]] std::string path_of(const std::string& claim_uid) const;
  [[nodiscard]] base::Result<unsigned> channel_major() const;
  [[nodiscard]] std::string params() const;
  base::Result<void> check_count(const core::ChannelRange& channels);
  base::Result<void> make_host_nodes(const core::ChannelRange& channels, unsigned major);
  base::Result<void> write_file(const core::ClaimRef& claim, const core::ChannelRange& channels,
                                unsigned major);
  void tell(const std::string& path, const std::string& problem);

  const CdiOptions options_;
  const nvidia::MakeNode make_node_;
  std::set<std::string> logged_;        // paths
  std::map<std::string, Right> right_;  // by claim UID
  std::optional<unsigned> major_;       // of the channels, at the last check()
};

}  // namespace cdom::agent
