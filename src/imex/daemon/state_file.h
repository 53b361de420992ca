// StateFile: what the next supervisor of the same boot has to know.
//
// It carries the boot id: after a reboot nothing of it is believed, as no earlier daemon can run,
// and its hosts and peers are out of date.
#pragma once

#include <cstdio>
#include <optional>
#include <string>

#include "compute_domain/base/result.h"
#include "compute_domain/imex/protocol.h"

namespace cdom::imex {

struct Saved {
  DaemonStatus last;
  std::optional<Want> wanted;
  std::optional<Hosts> hosts;
  friend bool operator==(const Saved&, const Saved&) = default;
};

class StateFile {
 public:
  StateFile(std::string path, std::string boot_id)
      : path_(std::move(path)), boot_id_(std::move(boot_id)) {}

  // nullopt: there is none, or it is of another boot.
  [[nodiscard]] std::optional<Saved> load() const;
  base::Result<void> save(const Saved& saved) const;
  void remove() const { std::remove(path_.c_str()); }

 private:
  const std::string path_, boot_id_;
};

}  // namespace cdom::imex
