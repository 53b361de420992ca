#include "sandbox/cluster/faults/uplink.h"

#include <deque>

namespace cdom::sandbox {
namespace {

base::Error unavailable(std::string why) { return {base::ErrorKind::Unavailable, std::move(why)}; }

}  // namespace

class Uplink::LinkStream : public http::Stream {
 public:
  LinkStream(std::unique_ptr<http::Stream> inner, std::shared_ptr<State> state,
             const base::Clock& clock, std::uint64_t generation)
      : inner_(std::move(inner)),
        state_(std::move(state)),
        clock_(clock),
        generation_(generation) {}

  base::Result<http::StreamRead> next(base::Duration wait) override {
    base::Duration lag{};
    bool is_cut = false;
    {
      const std::lock_guard lock(state_->mutex);
      if (state_->generation != generation_) return unavailable("the stream broke");
      lag = state_->lag;
      is_cut = state_->is_cut;
    }
    if (!held_.empty() || lag > base::Duration::zero()) return next_late(lag, is_cut);
    auto read = inner_->next(wait);
    if (is_cut && (!read || read->what != http::StreamRead::What::Nothing)) {
      return http::StreamRead{};  // lost on the way
    }
    return read;
  }

  void cancel() override { inner_->cancel(); }

 private:
  struct Held {
    base::Duration due;
    base::Result<http::StreamRead::What> what;
    std::string line;
  };

  base::Result<http::StreamRead> next_late(base::Duration lag, bool is_cut) {
    auto read = inner_->next(base::Duration::zero());
    const bool is_news = !read || read->what != http::StreamRead::What::Nothing;
    const bool has_ended =
        !held_.empty() && (!held_.back().what || *held_.back().what == http::StreamRead::What::End);
    if (is_news && !is_cut && !has_ended) {
      const base::Duration due = clock_.elapsed() + lag;
      if (read) {
        held_.push_back({due, read->what, std::string(read->line)});
      } else {
        held_.push_back({due, read.error(), {}});
      }
    }
    if (held_.empty() || is_cut || held_.front().due > clock_.elapsed()) return http::StreamRead{};
    given_ = std::move(held_.front());
    held_.pop_front();
    if (!given_.what) return given_.what.error();
    return http::StreamRead{*given_.what, given_.line};
  }

  const std::unique_ptr<http::Stream> inner_;
  const std::shared_ptr<State> state_;
  const base::Clock& clock_;
  const std::uint64_t generation_;
  std::deque<Held> held_;
  Held given_{{}, http::StreamRead::What::Nothing, {}};
};

Uplink::Uplink(std::unique_ptr<http::Client> inner, const base::Clock& clock, base::Random random)
    : inner_(std::move(inner)), clock_(clock), random_(random), state_(std::make_shared<State>()) {}

Uplink::~Uplink() = default;

void Uplink::set_cut(bool cut) {
  const std::lock_guard lock(state_->mutex);
  if (state_->is_cut && !cut) ++state_->generation;
  state_->is_cut = cut;
}

void Uplink::set_lag(base::Duration lag) {
  const std::lock_guard lock(state_->mutex);
  state_->lag = lag;
}

void Uplink::break_streams() {
  const std::lock_guard lock(state_->mutex);
  ++state_->generation;
}

bool Uplink::loses_request() {
  const std::lock_guard lock(state_->mutex);
  return state_->is_cut || (state_->lag > base::Duration::zero() && random_.below(3) == 0);
}

base::Result<http::Response> Uplink::send(const http::Request& request) {
  if (loses_request()) return unavailable("the API server does not answer");
  return inner_->send(request);
}

base::Result<http::Opened> Uplink::open(const http::Request& request) {
  if (loses_request()) return unavailable("the API server does not answer");
  auto opened = inner_->open(request);
  if (!opened || !opened->stream) return opened;
  const std::lock_guard lock(state_->mutex);
  opened->stream =
      std::make_unique<LinkStream>(std::move(opened->stream), state_, clock_, state_->generation);
  return opened;
}

}  // namespace cdom::sandbox
