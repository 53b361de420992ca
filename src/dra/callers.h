// Callers: the connections that were accepted, until they end.
//
// A connection costs gRPC 14 KB, much of which the allocator keeps when it is gone; a descriptor
// costs next to nothing. So a connection is served only when its client speaks HTTP/2, as kubelet
// does at once. When there are too many, silent or served, the oldest ends. So no client can shut
// out kubelet, which connects again. And there are no further ones while gRPC is behind with
// closing those that have ended: so none makes this process large while gRPC works. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <utility>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/descriptor.h"
#include "compute_domain/base/result.h"

namespace cdom::dra {

class Callers {
 public:
  using Serve = std::function<void(base::Descriptor)>;  // takes a connection
  // The most silent connections, and the most served ones; kubelet has a handful.
  static constexpr std::size_t kMost = 128;

  static base::Result<Callers> open(const base::Clock& clock);

  // `serve`, which outlives this object, gets it in a later attend() or add(), or never.
  void add(base::Descriptor connection, const Serve& serve);

  // Readable when there is something to attend() to.
  [[nodiscard]] int descriptor() const { return news_.get(); }
  void attend();
  // Who serves them holds many that have ended: add() and attend() better wait a moment. One that
  // is held for longer than that is not waited for: its server may be held up.
  [[nodiscard]] bool is_behind();

  [[nodiscard]] std::size_t silent() const { return silent_.size(); }
  [[nodiscard]] std::size_t served() const { return served_.size(); }

 private:
  using Number = std::uint64_t;  // in the order in which they have come, or been served
  struct Silent {
    base::Descriptor connection;
    const Serve* serve;
  };
  struct Served {
    base::Descriptor second;  // a second descriptor of it
    int first;                // of who serves it, who closes it at some time
  };
  // Not closed yet by who serves it, when last looked at.
  struct Ended {
    int descriptor;
    std::uint64_t cookie;
    base::Duration at;
  };

  Callers(base::Descriptor news, const base::Clock& clock)
      : news_(std::move(news)), clock_(&clock) {}
  // False when its end could not be watched for.
  [[nodiscard]] bool watch(int descriptor, std::uint32_t events, Number number) const;
  void hear(Number number, bool is_at_its_end, bool is_gone);
  void serve(Silent caller);
  void end_the_oldest();
  void forget(std::map<Number, Served>::iterator caller);
  void tell_that_there_are_too_many();

  base::Descriptor news_;  // of epoll
  const base::Clock* clock_;
  Number next_ = 0;
  std::map<Number, Silent> silent_;
  std::map<Number, Served> served_;
  std::deque<Ended> ended_;  // the oldest first
  bool has_warned_ = false;  // that there are too many
};

}  // namespace cdom::dra
