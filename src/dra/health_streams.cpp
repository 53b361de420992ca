#include "dra/health_streams.h"

namespace cdom::dra {

void HealthStreams::set(std::vector<DeviceHealth> devices) {
  std::vector<Step> steps;
  {
    const std::lock_guard lock(mutex_);
    if (newest_ && newest_->devices == devices) return;
    newest_ = std::make_shared<HealthMessage>(HealthMessage{std::move(devices), clock_.now()});
    ++revision_;
    steps = all_steps();
  }
  make(steps);
}

void HealthStreams::repeat() {
  std::vector<Step> steps;
  {
    const std::lock_guard lock(mutex_);
    if (!newest_) return;
    newest_ = std::make_shared<HealthMessage>(HealthMessage{newest_->devices, clock_.now()});
    ++revision_;
    steps = all_steps();
  }
  make(steps);
}

void HealthStreams::end() {
  std::vector<Step> steps;
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
    steps = all_steps();
  }
  make(steps);
}

template <class Change>
void HealthStreams::update(HealthStream& stream, const Change& change) {
  std::vector<Step> steps;
  {
    const std::lock_guard lock(mutex_);
    State& state = streams_[&stream];
    change(state);
    add_step(stream, state, steps);
  }
  make(steps);
}

void HealthStreams::open(HealthStream& stream) {
  update(stream, [](State&) {});
}

void HealthStreams::written(HealthStream& stream, bool is_ok) {
  update(stream, [&](State& state) {
    state.is_busy = false;
    state.is_gone = state.is_gone || !is_ok;
  });
}

void HealthStreams::gone(HealthStream& stream) {
  update(stream, [](State& state) { state.is_gone = true; });
}

void HealthStreams::closed(HealthStream& stream) {
  const std::lock_guard lock(mutex_);
  streams_.erase(&stream);
}

std::vector<HealthStreams::Step> HealthStreams::all_steps() {
  std::vector<Step> steps;
  for (auto& [stream, state] : streams_) add_step(*stream, state, steps);
  return steps;
}

void HealthStreams::add_step(HealthStream& stream, State& state, std::vector<Step>& steps) const {
  if (state.is_busy) return;
  if (is_over_ || state.is_gone) {
    state.is_busy = true;  // for ever
    steps.push_back({&stream, nullptr});
  } else if (state.seen != revision_) {
    state.is_busy = true;
    state.seen = revision_;
    steps.push_back({&stream, newest_});
  }
}

void HealthStreams::make(const std::vector<Step>& steps) {
  for (const auto& [stream, message] : steps) {
    if (message) {
      stream->write(*message);
    } else {
      stream->finish();
    }
  }
}

}  // namespace cdom::dra
