// Every number of the simulated IMEX and of the stand-in processes of tests/imex, each with its
// source. "assumed": nothing public says it.
#pragma once

#include <array>
#include <chrono>

#include "compute_domain/base/clock.h"

namespace cdom::sandbox::imex_constants {

// "Normally READY immediately after start" (IMEX guide, quorum). --imex-delay changes it.
inline constexpr base::Duration kReadyDelay{0};
// assumed: answers and installs its signal handlers as soon as it runs. A real daemon needs some
// time, in which SIGUSR1 ends it (seen with the reference driver: signal(7), default action).
inline constexpr base::Duration kHandlerDelay{0};
// Seen in NVIDIA's mock project (k8s-test-infra): reconnects after about these times.
inline constexpr std::array<base::Duration, 4> kBackOff{
    std::chrono::seconds(15), std::chrono::seconds(31), std::chrono::seconds(62),
    std::chrono::seconds(125)};
// "SIGUSR1 … at most once per 5 seconds" (IMEX guide, signals).
inline constexpr base::Duration kSignalInterval = std::chrono::seconds(5);
// assumed: a peer behind a dead link is noticed by gRPC's keepalive.
inline constexpr base::Duration kSilenceNotice = std::chrono::seconds(20);
// assumed: the kernel resets the connections of a process that ends.
inline constexpr base::Duration kResetNotice{0};
// assumed: a handshake that comes in makes both sides connected.
inline constexpr bool kIncomingHandshakeConnects = true;
// "-1: wait forever" (IMEX guide, IMEX_NODE_DISCONNECTED_GRACE_TIME).
inline constexpr int kGraceSeconds = -1;
// assumed: a clean shutdown takes no time.
inline constexpr base::Duration kShutdownDelay{0};
// Ports of daemons and of their command services (IMEX guide, configuration).
inline constexpr int kServerPort = 50000;
inline constexpr int kCommandPort = 50005;
// Importers for recovery lie there, and not across a reboot (IMEX guide).
inline constexpr char kPersistDirectory[] = "/var/run/nvidia-imex";

}  // namespace cdom::sandbox::imex_constants
