// A claim's CDI spec: what tells the container runtime which IMEX channels to inject. Pure.
//
// CDI specification 0.3.0, or 0.5.0 when the device's name starts with a digit: runtimes refuse a
// version that they do not know, so it is the lowest that will do.
#pragma once

#include <optional>
#include <string>

#include "compute_domain/base/result.h"
#include "compute_domain/core/checkpoint.h"

namespace cdom::agent {

struct CdiSpec {
  std::string kind;                            // "vendor/class"
  std::optional<core::ChannelRange> channels;  // of the claim's device; nullopt: it has none
  std::optional<unsigned> major;               // the first that a device node of it names
};

// "nvidia-caps-imex-channels/channel3", below /dev.
std::string channel_node(std::int64_t channel);

std::string cdi_kind();
// `as_zero`: containers see an only channel as channel0 too. CUDA makes memory through the first
// channel that it finds, and opens memory of others by the number of theirs: the name has to be
// there as well (seen with driver 580.159.04).
std::string encode_cdi_spec(const std::string& claim_uid, const core::ChannelRange& channels,
                            unsigned major, bool as_zero = false);
// Decodes the file of the claim. Invalid: it is not a CDI spec, or its channels have gaps.
base::Result<CdiSpec> decode_cdi_spec(const std::string& text, const std::string& file_name,
                                      const std::string& claim_uid);

}  // namespace cdom::agent
