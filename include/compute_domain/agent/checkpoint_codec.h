// The checkpoint's text: JSON with a format number and a checksum. Pure.
//
// What a later version of this format adds to the objects within "checkpoint" is kept
// (core::Checkpoint::later); beside "checkpoint" nothing is, as the checksum is not of it.
#pragma once

#include <string>

#include "compute_domain/base/result.h"
#include "compute_domain/core/checkpoint.h"

namespace cdom::agent {

// Canonical: equal checkpoints give equal texts.
std::string encode_checkpoint(const core::Checkpoint& checkpoint);

// Invalid: the text is torn, of a newer format, or of another driver; the message says which.
base::Result<core::Checkpoint> decode_checkpoint(const std::string& text);

}  // namespace cdom::agent
