// FaultyStream: a watch or followed log as faults leave it.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "compute_domain/sandbox/faults.h"
#include "sandbox/apiserver/serving/live_stream.h"

namespace cdom::sandbox::server {

class FaultyStream : public LiveStream {
 public:
  // `lag`: how much later than it happened each event comes. `faults` must outlive the stream.
  FaultyStream(std::unique_ptr<LiveStream> inner, std::shared_ptr<ApiState> state, Faults& faults,
               std::string user, std::string resource, base::Duration lag);
  ~FaultyStream() override;

  Piece take() override;
  [[nodiscard]] bool has_news() const override;
  [[nodiscard]] std::condition_variable& waker() const override { return inner_->waker(); }

 private:
  struct Held {
    base::Duration due{};
    Piece piece;
  };
  Piece expire();
  void hold(Piece piece);
  Piece let_go();
  void drop_held();

  const std::unique_ptr<LiveStream> inner_;
  Faults& faults_;
  const std::string user_, resource_;
  const base::Duration lag_;
  std::deque<Held> held_;
  bool is_half_open_ = false;
  bool ended_ = false;
};

}  // namespace cdom::sandbox::server
