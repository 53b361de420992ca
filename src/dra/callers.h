// Callers: the connections that were accepted, until they end.
//
// A connection costs gRPC 14 KB, much of which the allocator keeps when it is gone; a descriptor
// costs next to nothing. So a connection is served only when its client speaks HTTP/2, as kubelet
// does at once. When there are too many, silent or served, the oldest ends. So no client can shut
// out kubelet, which connects again, and none can make this process large. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "compute_domain/base/descriptor.h"
#include "compute_domain/base/result.h"

namespace cdom::dra {

class Callers {
 public:
  using Serve = std::function<void(base::Descriptor)>;  // takes a connection
  // The most silent connections, and the most served ones; kubelet has a handful.
  static constexpr std::size_t kMost = 128;

  static base::Result<Callers> open();

  // `serve`, which outlives this object, gets it in a later attend() or add(), or never.
  void add(base::Descriptor connection, const Serve& serve);

  // Readable when there is something to attend() to.
  [[nodiscard]] int descriptor() const { return news_.get(); }
  void attend();

  [[nodiscard]] std::size_t silent() const { return silent_.size(); }
  [[nodiscard]] std::size_t served() const { return served_.size(); }

 private:
  using Number = std::uint64_t;  // in the order in which they have come
  struct Silent {
    base::Descriptor connection;
    const Serve* serve;
  };

  explicit Callers(base::Descriptor news) : news_(std::move(news)) {}
  // False when its end could not be watched for.
  [[nodiscard]] bool watch(int descriptor, std::uint32_t events, Number number) const;
  void hear(Number number, bool is_at_its_end);
  void serve(Number number, Silent caller);
  void end_the_oldest();
  void tell_that_there_are_too_many();

  base::Descriptor news_;  // of epoll
  Number next_ = 0;
  std::map<Number, Silent> silent_;
  std::map<Number, base::Descriptor> served_;  // a second descriptor of each
  bool has_warned_ = false;                    // that there are too many
};

}  // namespace cdom::dra
