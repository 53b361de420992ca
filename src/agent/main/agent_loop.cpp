#include "agent/main/agent_loop.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <utility>

namespace cdom::program {

namespace {

// What is due and could not be done is not tried again in a hurry.
constexpr base::Duration kShortestNap = std::chrono::milliseconds(1);
constexpr base::Duration kLongestNap = std::chrono::seconds(5);

}  // namespace

AgentLoop::AgentLoop(Parts parts)
    : parts_(std::move(parts)),
      node_pulse_(parts_.pulses.add("kubelet")),
      server_pulse_(parts_.pulses.add("api-server")),
      node_([this](const std::stop_token& stop) {
        run(stop, parts_.wakeup, node_pulse_, &AgentLoop::node_round, true);
      }),
      server_([this](const std::stop_token& stop) {
        run(stop, parts_.server_wakeup, server_pulse_, &AgentLoop::server_round, false);
      }) {}

AgentLoop::~AgentLoop() {
  node_.request_stop();
  server_.request_stop();
  parts_.wakeup.wake();
  parts_.server_wakeup.wake();
}

void AgentLoop::run(const std::stop_token& stop, const Wakeup& wakeup, base::Pulses::Pulse& pulse,
                    Round round, bool has_ports) {
  try {
    while (!stop.stop_requested()) {
      pulse.beat();
      // Before anything is looked at: what comes after the look wakes again.
      wakeup.clear();
      const base::Duration nap = (this->*round)(stop);
      if (!stop.stop_requested()) sleep(wakeup, has_ports, nap);
    }
  } catch (const std::exception& thrown) {
    parts_.broken(thrown.what());
  }
  pulse.rest();
}

base::Duration AgentLoop::node_round(const std::stop_token& stop) {
  do {
    node_pulse_.beat();
  } while (!stop.stop_requested() && parts_.node.step());
  parts_.after_round();
  const base::Duration look = parts_.node.next_look();
  return std::min(parts_.node.next_due().value_or(look), look) - parts_.clock.elapsed();
}

base::Duration AgentLoop::server_round(const std::stop_token& stop) {
  do {
    server_pulse_.beat();
    // A disk that hangs holds up the other thread, and not kubelet.
    parts_.mailbox.end_overdue();
  } while (!stop.stop_requested() && parts_.server.step());
  return parts_.server.next_due().value_or(base::Duration::max()) - parts_.clock.elapsed();
}

void AgentLoop::sleep(const Wakeup& wakeup, bool has_ports, base::Duration nap) {
  const int ports = has_ports ? parts_.descriptor() : -1;
  pollfd news[] = {{.fd = wakeup.descriptor(), .events = POLLIN, .revents = 0},
                   {.fd = ports, .events = POLLIN, .revents = 0}};
  const auto milliseconds =
      std::chrono::ceil<std::chrono::milliseconds>(std::clamp(nap, kShortestNap, kLongestNap));
  poll(news, std::size(news), static_cast<int>(milliseconds.count()));
}

}  // namespace cdom::program
