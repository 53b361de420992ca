// Watch: the events of one resource, as one client selected them, from a resource version on.
//
// How it goes: a watch is a cursor into the events that Storage remembers, and before it (if asked
// for) one into the state at its start, so a client that is slow costs no memory. What it
// guarantees: every change after its start exactly once and in order, as the selection sees it: an
// object that starts to match is ADDED, one that ceases to is DELETED. A cursor older than what is
// remembered ends with an ERROR event, Expired.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <optional>
#include <string>

#include "sandbox/apiserver/printing/representation.h"
#include "sandbox/apiserver/serving/call.h"
#include "sandbox/apiserver/serving/live_stream.h"
#include "sandbox/apiserver/storage/selection.h"

namespace cdom::sandbox::server {

class Watch : public LiveStream {
 public:
  // Called with the mutex held. Throws StatusError for options that do not fit.
  Watch(std::shared_ptr<ApiState> state, const Call& call);

  Piece take() override;
  [[nodiscard]] bool has_news() const override;
  [[nodiscard]] std::condition_variable& waker() const override { return waker_; }

 private:
  // The next of what was there at the start; null when all has been given.
  std::shared_ptr<const std::string> next_initial();
  [[nodiscard]] std::shared_ptr<const std::string> line_of(const Event& event) const;
  [[nodiscard]] bool is_bookmark_due(base::Duration now) const;
  // Not while its own version is yet to come.
  [[nodiscard]] bool takes_bookmark() const;
  Piece bookmark();
  Piece expired();
  // The end: a last bookmark first, when the client takes them.
  Piece end();
  [[nodiscard]] bool is_resource_gone() const;

  const KindRef kind_;
  const std::string prefix_;
  const Selection selection_;
  const Representation representation_;
  // What was there at the start, from the next key on; null once it has been given.
  std::optional<Snapshot> initial_;
  std::string next_key_;
  bool tells_initial_end_ = false;  // by a bookmark, still to come
  std::uint64_t position_ = 0;
  const std::atomic<std::uint64_t>& last_change_;  // of the bucket
  std::condition_variable& waker_;                 // of the bucket
  std::uint64_t removals_;                         // of kinds, as of the last look
  bool wants_bookmarks_ = false;
  base::Duration last_bookmark_{};
  std::optional<base::Duration> deadline_;
  bool ended_ = false;
};

}  // namespace cdom::sandbox::server
