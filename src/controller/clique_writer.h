// CliqueWriter: carries out the plan for the node list of a clique, which serves domains of many.
//
// How it goes: it decides, has each end of a domain proved whose channel is to be taken back, and
// writes the list. A proof that fails withdraws what it was for: that domain keeps its channel for
// a while, and all else is written. Thread-safe.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "compute_domain/controller/apply.h"
#include "compute_domain/controller/gather.h"
#include "compute_domain/controller/memory.h"

namespace cdom::controller {

class CliqueWriter {
 public:
  CliqueWriter(const Sources& from, const Apply& apply, Memory& memory)
      : from_(from), apply_(apply), memory_(memory) {}

  struct Round {
    core::Plan plan;  // that was carried out, or tried
    Applied applied;
  };
  [[nodiscard]] Round run(const std::string& clique, const Apply::Beat& beat) const;

 private:
  std::set<std::string> prove(const core::Plan& plan, core::CliqueWorld& world,
                              const Apply::Beat& beat) const;
  void note_unproved(const std::string& uid, const base::Error& error,
                     core::CliqueWorld& world) const;

  const Sources& from_;
  const Apply& apply_;
  Memory& memory_;
};

}  // namespace cdom::controller
