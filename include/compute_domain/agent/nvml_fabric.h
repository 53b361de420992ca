// NvmlFabric: the fabric as NVML, the GPU driver's own library, tells it.
//
// A thread of its own asks; read() starts that when it is due and gives the last answer. So a call
// into the driver that does not return is told as a fault and holds up nobody. The library is
// opened anew each time and closed again: a driver that is unloaded or replaced is not held back,
// and seen. One thread calls read(), about once a second.
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "compute_domain/agent/fabric.h"
#include "compute_domain/agent/fabric_facts.h"
#include "compute_domain/base/clock.h"

namespace cdom::agent {

struct NvmlOptions {
  std::string driver_root = "/";  // below which libnvidia-ml.so.1 is looked for
  std::string library;            // instead, when not ""
  FabricMode mode = FabricMode::Strict;
  base::Duration refresh = std::chrono::minutes(1);
  base::Duration retry = std::chrono::seconds(5);      // after an answer with an error
  base::Duration patience = std::chrono::seconds(10);  // with one that does not come
};

// Asks once, in this thread.
FabricFacts read_nvml(const NvmlOptions& options);

// Asks once, in a thread of its own, and waits for it until the patience is over or `stop` is
// requested: the facts then say in which call of which GPU it hangs, and the thread is left behind,
// so that the process should end by std::quick_exit().
struct NvmlAnswer {
  FabricFacts facts;
  bool is_left_behind = false;
};
NvmlAnswer read_nvml_within_patience(const NvmlOptions& options, const std::stop_token& stop);

class NvmlFabric : public Fabric {
 public:
  NvmlFabric(NvmlOptions options, const base::Clock& clock);
  // As finish().
  ~NvmlFabric() override;
  NvmlFabric(const NvmlFabric&) = delete;
  NvmlFabric& operator=(const NvmlFabric&) = delete;

  // Neither clique nor error until the first answer. A node that had a clique does not lose it by
  // an answer without one: that is an error until the agent starts again.
  core::FabricReading read() override;

  // Asks no more. A question that is not answered within a second is left behind, with its thread:
  // then this is false, and the process should end by std::quick_exit().
  bool finish();

  // The last answer, for people.
  [[nodiscard]] FabricFacts facts() const;
  // Readable when there is an answer that read() has not seen.
  [[nodiscard]] int descriptor() const;

 private:
  struct Exchange;
  void take_answer();

  const NvmlOptions options_;
  const base::Clock& clock_;
  const std::shared_ptr<Exchange> exchange_;  // with the thread
  std::uint64_t answers_seen_ = 0;
  base::Duration due_{}, asked_{};
  std::string clique_;  // the last one that was one
  core::FabricReading last_;
};

}  // namespace cdom::agent
