#include "sandbox/apiserver/serving/faulty_stream.h"

#include "compute_domain/base/text.h"
#include "sandbox/apiserver/serving/status.h"

namespace cdom::sandbox::server {

FaultyStream::FaultyStream(std::unique_ptr<LiveStream> inner, std::shared_ptr<ApiState> state,
                           Faults& faults, std::string user, std::string resource,
                           base::Duration lag)
    : LiveStream(std::move(state)),
      inner_(std::move(inner)),
      faults_(faults),
      user_(std::move(user)),
      resource_(std::move(resource)),
      lag_(lag) {}

FaultyStream::~FaultyStream() { drop_held(); }

Piece FaultyStream::take() {
  if (ended_) return {.what = Piece::What::End};
  if (is_half_open_) return {};
  const auto rule =
      faults_.meet_watch({.user = user_, .verb = "watch", .resource = resource_, .name = ""});
  if (rule) {
    if (rule->kind == FaultKind::CutWatch) return {.what = Piece::What::Broken};
    if (rule->kind == FaultKind::ExpireWatch) return expire();
    is_half_open_ = true;
    drop_held();
    return {};
  }
  if (lag_ == base::Duration::zero()) return inner_->take();
  for (Piece piece = inner_->take(); piece.what != Piece::What::Nothing; piece = inner_->take()) {
    const bool is_last = piece.what != Piece::What::Text;
    hold(std::move(piece));
    if (is_last) break;
  }
  if (held_.empty() || held_.front().due > state().clock.elapsed()) return {};
  return let_go();
}

bool FaultyStream::has_news() const {
  return faults_.has_rules() || ended_ || !held_.empty() || inner_->has_news();
}

void FaultyStream::hold(Piece piece) {
  const base::Duration due = state().clock.elapsed() + lag_;
  faults_.hold(due);
  held_.push_back({.due = due, .piece = std::move(piece)});
}

Piece FaultyStream::let_go() {
  faults_.let_go(held_.front().due);
  Piece piece = std::move(held_.front().piece);
  held_.pop_front();
  return piece;
}

void FaultyStream::drop_held() {
  while (!held_.empty()) let_go();
}

Piece FaultyStream::expire() {
  ended_ = true;
  const Status status = expired("too old resource version");
  return {.what = Piece::What::Text,
          .text = std::make_shared<const std::string>(
              base::cat("{\"type\":\"ERROR\",\"object\":", status.to_json(), "}\n"))};
}

}  // namespace cdom::sandbox::server
