#include "bin/agent_loop.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

namespace cdom::bin {

namespace {

// What is due and could not be done is not tried again in a hurry.
constexpr base::Duration kShortestNap = std::chrono::milliseconds(1);
constexpr base::Duration kLongestNap = std::chrono::seconds(1);

}  // namespace

AgentLoop::AgentLoop(Parts parts)
    : parts_(std::move(parts)), thread_([this](const std::stop_token& stop) { run(stop); }) {}

AgentLoop::~AgentLoop() {
  thread_.request_stop();
  parts_.bell.ring();
}

void AgentLoop::run(const std::stop_token& stop) {
  try {
    while (!stop.stop_requested()) {
      // Before anything is looked at: what comes after the look rings again.
      parts_.bell.hush();
      round(stop);
      if (!stop.stop_requested()) sleep();
    }
  } catch (const std::exception& thrown) {
    parts_.broken(thrown.what());
  }
}

void AgentLoop::round(const std::stop_token& stop) {
  do {
    parts_.desk.serve(parts_.agent);
  } while (!stop.stop_requested() && parts_.agent.step());
  parts_.desk.serve(parts_.agent);
  parts_.after_round();
}

void AgentLoop::sleep() {
  base::Duration nap = kLongestNap;
  if (const auto due = parts_.agent.next_due()) {
    nap = std::clamp(*due - parts_.clock.elapsed(), kShortestNap, kLongestNap);
  }
  const auto [first, second] = parts_.descriptors();
  pollfd news[] = {{.fd = parts_.bell.descriptor(), .events = POLLIN, .revents = 0},
                   {.fd = first, .events = POLLIN, .revents = 0},
                   {.fd = second, .events = POLLIN, .revents = 0}};
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(nap);
  poll(news, std::size(news), static_cast<int>(milliseconds.count()));
}

}  // namespace cdom::bin
