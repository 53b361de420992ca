// EventServer: a child process that answers watches as fast as its socket takes, so that the CPU
// time of this process is the client's alone.
#pragma once

#include <string>

namespace cdom::bench {

struct EventServerOptions {
  std::string line;  // one event, with its newline
  int events = 20'000;
};

// The base URL. "GET /N…": that many events in each chunk, 1 when there is no number; without
// "watch" in the target: an empty list of ResourceClaims. Before any thread: it forks.
std::string start_event_server(const EventServerOptions& options);

}  // namespace cdom::bench
