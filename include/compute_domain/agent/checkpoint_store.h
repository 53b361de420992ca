// CheckpointStore: where the checkpoint's text lies. A port.
//
// Two agents of a node may share it, old and new during a rolling update. The defaults here are
// right for a store that a single process has.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "compute_domain/base/result.h"

namespace cdom::agent {

class CheckpointStore {
 public:
  virtual ~CheckpointStore() = default;

  // While one lives nobody else reads or writes. Conflict: another process has it just now.
  class Hold {
   public:
    virtual ~Hold() = default;
  };
  virtual base::Result<std::unique_ptr<Hold>> hold() { return std::make_unique<Hold>(); }
  // The rest is called under a hold, but for looks at the text.

  // This process is an agent of that name from now on, until it ends, however it does.
  virtual base::Result<void> enter(const std::string& /*agent*/) { return {}; }
  // Whether the process of that name still runs.
  virtual bool is_there(const std::string& /*agent*/) { return true; }

  // nullopt: there is none. Without a hold it is what another process may be about to replace.
  virtual base::Result<std::optional<std::string>> load() = 0;
  // Atomic: after a crash of the process either the old text is there or the new one. After a loss
  // of power it may be any text of that boot, or one that cannot be read.
  virtual base::Result<void> save(const std::string& text) = 0;
  // This process was the last agent: removes the checkpoint, and all that was made for it, as far
  // as it is ours. Conflict: another agent is there.
  virtual base::Result<void> clear_away() = 0;
  // Keeps a text that could not be read, beside the checkpoint, for people.
  // Gives the place.
  virtual base::Result<std::string> set_aside(const std::string& text) = 0;
};

}  // namespace cdom::agent
